package io.turbidite.lsm.read;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.index.EntryKeys;
import io.turbidite.core.index.IndexRegion;
import io.turbidite.core.index.IndexRegion.Moment;
import io.turbidite.core.index.RegionEntries;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.version.RegionHandle;
import io.turbidite.lsm.version.RegionLayer;

import org.jspecify.annotations.Nullable;

/**
 * The entries of a region as one more layer, the oldest of its index: by secondary key, then by
 * primary key, then newest first.
 *
 * <p>A region gives all entries of one secondary key at once, newest first; they are put into order
 * here. Where the next secondary key is, the region is asked by key. So nothing of it is held
 * between two steps, and whatever was absorbed meanwhile is passed over by timestamp.
 *
 * <p><em>Confined to one thread.</em>
 */
final class RegionCursor implements EntryCursor {
    private static final Slice NOTHING = Slice.of(new byte[0]);

    private enum Place {
        START,
        /** Before the first entry at or above {@link #target}. */
        GAP,
        /** In the loaded list: on entry {@link #index}, or in the gap before it. */
        LIST,
        END
    }

    private final RegionHandle handle;
    private final EntryKeys entryKeys;
    private final IndexRegion.Reader reader;
    private final Moment moment;

    /** Beyond it nobody looks: the list of the next key may be long. Null for no bound. */
    private final @Nullable Slice high;

    private final RegionEntries list = new RegionEntries();
    private int[] order = new int[0];
    private int index;
    private boolean isOnEntry;
    private Place place = Place.START;
    private final ByteSink target = new ByteSink(64, 64 * Limits.KEY_BYTES_MAX);
    private final Slice targetKey = new Slice();
    private final ByteSink key = new ByteSink(64, 64 * Limits.KEY_BYTES_MAX);
    private final Slice keySlice = new Slice();
    private final Slice first = new Slice();
    private final Slice second = new Slice();

    private RegionCursor(
            RegionHandle handle,
            EntryKeys entryKeys,
            IndexRegion.Reader reader,
            Moment moment,
            @Nullable Slice high) {
        this.handle = handle;
        this.high = high;
        this.entryKeys = entryKeys;
        this.reader = reader;
        this.moment = moment;
    }

    /**
     * What a snapshot sees of a region.
     *
     * @param range that its user looks at
     * @throws InvalidRequestException if the region failed, so that its index is about to be
     *     disabled
     */
    static RegionCursor open(RegionLayer region, IndexSchema index, KeyRange range, long snapshot) {
        requireSound(region, index);
        return new RegionCursor(
                region.handle(),
                index.entryKeys(),
                region.handle().region().reader(),
                new Moment(snapshot, region.through()),
                range.high());
    }

    /**
     * Checks that a region can be read.
     *
     * @throws InvalidRequestException as {@link #open}
     */
    static void requireSound(RegionLayer region, IndexSchema index) {
        StorageException failure = region.handle().failure();
        if (failure != null) {
            throw new InvalidRequestException(
                    "index %s can't be searched: its region failed (%s); it is disabled, so that the same query takes another way when it is run again"
                            .formatted(index.name(), failure.getMessage()),
                    failure);
        }
    }

    @Override
    public void seek(Slice key) {
        target.clear().putBytes(key);
        place = Place.GAP;
        isOnEntry = false;
    }

    @Override
    public void seekEnd() {
        place = Place.END;
        isOnEntry = false;
    }

    @Override
    public boolean next() {
        switch (place) {
            case END -> {
                return false;
            }
            case START -> loadAbove(null, true);
            case GAP -> goToTarget();
            case LIST -> index += isOnEntry ? 1 : 0;
        }
        isOnEntry = false;
        while (place == Place.LIST && index >= list.count()) {
            loadAbove(list.secondaryKey(), false);
        }
        return stand();
    }

    @Override
    public boolean previous() {
        switch (place) {
            case START -> {
                return false;
            }
            case END -> loadBelow(high);
            case GAP -> {
                goToTarget();
                if (place == Place.END) {
                    loadBelow(high);
                }
            }
            case LIST -> {}
        }
        isOnEntry = false;
        while (place == Place.LIST && index == 0) {
            loadBelow(list.secondaryKey());
        }
        index--;
        return stand();
    }

    private boolean stand() {
        isOnEntry = place == Place.LIST;
        if (isOnEntry) {
            key.clear()
                    .putBytes(list.secondaryKey())
                    .putBytes(list.primaryKey(order[index], first));
        }
        return isOnEntry;
    }

    /** Goes into a list, or to the end, before the first entry at or above the target. */
    private void goToTarget() {
        Slice wanted = target.asSlice(targetKey);
        int secondaryBytes = secondaryBytes(wanted);
        if (secondaryBytes < 0) {
            loadAbove(wanted, true);
            return;
        }
        Slice secondary = second.set(wanted.segment(), wanted.offset(), secondaryBytes);
        loadAbove(secondary, true);
        if (place == Place.LIST
                && list.secondaryKey()
                        .contentEquals(
                                second.set(wanted.segment(), wanted.offset(), secondaryBytes))) {
            Slice primary = new Slice();
            primary.set(
                    wanted.segment(),
                    wanted.offset() + secondaryBytes,
                    wanted.length() - secondaryBytes);
            index = firstAtOrAbove(primary);
        }
    }

    private int firstAtOrAbove(Slice primaryKey) {
        int low = 0;
        int high = list.count();
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (list.primaryKey(order[middle], first).compareBytes(primaryKey) < 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** Bytes of the secondary key that a target begins with; -1 if it is a part of one. */
    private int secondaryBytes(Slice wanted) {
        try {
            int bytes = entryKeys.secondaryBytes(wanted);
            return bytes <= wanted.length() ? bytes : -1;
        } catch (CorruptionException part) {
            return -1; // a bound that is shorter than a key, which is no damage
        }
    }

    private void loadAbove(@Nullable Slice from, boolean inclusive) {
        boolean found;
        try {
            found = reader.above(from, inclusive, high, moment, list);
        } catch (CorruptionException | StorageIoException | InternalError damage) {
            throw handle.failSearch(damage);
        }
        if (found) {
            loaded();
            index = 0;
        } else {
            place = Place.END;
        }
    }

    private void loadBelow(@Nullable Slice from) {
        boolean found;
        try {
            found = reader.below(from, moment, list);
        } catch (CorruptionException | StorageIoException | InternalError damage) {
            throw handle.failSearch(damage);
        }
        if (found) {
            loaded();
            index = list.count();
        } else {
            place = Place.START;
        }
    }

    private void loaded() {
        place = Place.LIST;
        order = list.byPrimaryKey(); // of one primary key the newest comes first, as in the list
    }

    @Override
    public Slice key() {
        return key.asSlice(keySlice);
    }

    @Override
    public long timestamp() {
        return list.timestamp(order[index]);
    }

    @Override
    public long checkedUntil() {
        return list.isChecked(order[index]) ? moment.through() : 0;
    }

    @Override
    public boolean isAntimatter() {
        return false;
    }

    @Override
    public Slice value() {
        return NOTHING;
    }

    @Override
    public void close() {
        reader.close();
    }
}
