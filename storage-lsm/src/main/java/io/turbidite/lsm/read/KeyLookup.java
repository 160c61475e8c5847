package io.turbidite.lsm.read;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.FetchOptions;
import io.turbidite.core.scan.FetchOptions.Pruning;
import io.turbidite.core.scan.FetchWork;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.lsm.btree.ComingKeys;
import io.turbidite.lsm.entry.Found;
import io.turbidite.lsm.version.Version;

import org.jspecify.annotations.Nullable;

/**
 * Looks sorted keys up in the primary of a version (the batched point lookup of LUO19 §3.2). For
 * each batch:
 *
 * <ol>
 *   <li>all its keys are pending;
 *   <li>layer by layer, from the newest to the oldest: pending keys that the layer can't hold, by
 *       timestamp or Bloom filter, are passed over; the others are searched, in key order, so that
 *       the layer's pages are read once and from left to right;
 *   <li>a key that the layer decides, by a record or by anti-matter, is pending no longer;
 *   <li>the batch ends with the last layer or the last pending key.
 * </ol>
 *
 * <p>Records are handed out as they are found. So they come in no order, and a batch costs memory
 * for its keys alone; {@link OrderedLookup} puts them in order.
 *
 * <p><b>Which layers the candidate's timestamp rules out</b> ({@link Pruning}). A candidate (k, t)
 * is an index entry that a snapshot S shows, so t ≤ S and the operation with number t wrote k.
 * Layers cover disjoint ranges of timestamps, and a merge's output covers what its inputs covered;
 * flush and merge keep the newest version at or below each registered snapshot, S among them. Let v
 * be the timestamp of the newest version of k at or below S.
 *
 * <ul>
 *   <li>{@code OLDER}: v ≥ t, since t is such a version's timestamp. If that version is a record,
 *       it is in a layer that covers v, so in one whose last timestamp is at or above t. If it is a
 *       delete, no older version may come out, and none does when older layers are left out. This
 *       needs nothing but t ≤ v: it holds under eager maintenance, where an upsert that leaves an
 *       index key as it was writes no entry, so that v may be above t, and under all others. Newer
 *       layers must be visited: they may hold the version that counts. Under eager they always hold
 *       it or the covering layer does, so nothing is saved there; what is saved is the search of
 *       all older layers for a candidate that is out of date and was deleted.
 *   <li>{@code CHECKED}: where every version has an entry with its own timestamp (all strategies
 *       but eager), and the entry is known to have no successor up to c (its component was written
 *       or repaired as of c), v = t or v > c. So the version is in the layer that covers t, or in
 *       one whose last timestamp is above c; of the layers between, nothing is asked. With merge
 *       repair that is next to all of them.
 *   <li>{@code EXACT}: where every version has an entry with its own timestamp (all strategies but
 *       eager), a valid candidate has v = t, so its record is in the one layer that covers t: no
 *       other is visited, and that one's Bloom filter need not be asked (PERS24 §4.4.1). An invalid
 *       one can't be told from it without the newer layers: it would pass a second look at its
 *       record as well, since that is the record which the entry was made of. So this is for
 *       candidates whose validity is known, from timestamp validation, and must not be combined
 *       with direct validation. For an index maintained eagerly it is wrong wherever v is above t.
 * </ul>
 *
 * <p><em>Confined to one thread.</em> Reusable; makes no garbage for a key. It may be moved to a
 * newer version in the middle of a batch ({@link #moveTo}): what is still pending is then sought in
 * all of its layers.
 */
public final class KeyLookup implements AutoCloseable {
    private static final KeyBatch NO_KEYS = new KeyBatch(Limits.KEY_BYTES_MAX);
    private static final long[] NO_HASHES = {};
    private static final int[] NO_PLACES = {};

    private final Found found = new Found(Limits.RECORD_BYTES_MAX);
    private final Slice key = new Slice();
    private final LookupLayers layers = new LookupLayers(new Coming());
    private KeyBatch keys = NO_KEYS;
    private FetchOptions options = FetchOptions.defaults();
    private long snapshot;

    /** Taken with the first batch; null before it, and when this is closed. */
    private @Nullable LookupRoom room;

    /** Those of the room, or of none. */
    private long[] hashes = NO_HASHES;

    private int[] pending = NO_PLACES;

    private int pendingCount;

    /** The first key of the batch; and the first behind it. */
    private int batchStart;

    private int batchEnd;

    /**
     * The next of the pending keys to look at in this layer, and how many before it are left to
     * older ones.
     */
    private int next;

    private int left;

    /** The layer in hand; -1 before the first. */
    private int layer = -1;

    /** The key whose record was handed out. */
    private int foundIndex;

    private long keyCount;
    private long bloomTestCount;

    /**
     * Begins anew; {@link #moveTo} and {@link #nextBatch} come next.
     *
     * @param sortedKeys ascending; may repeat
     * @param newOptions but for the order, which is none
     * @throws InvalidRequestException if layers are to be left out by timestamps that the keys
     *     don't have
     */
    public void begin(KeyBatch sortedKeys, long newSnapshot, FetchOptions newOptions) {
        if (newOptions.pruning() != Pruning.NONE
                && sortedKeys.size() > 0
                && !sortedKeys.hasTimestamps()) {
            throw new InvalidRequestException(
                    "layers can't be left out by timestamp (%s): the keys were added without"
                            .formatted(newOptions.pruning()));
        }
        keys = sortedKeys;
        snapshot = newSnapshot;
        options = newOptions;
        batchStart = 0;
        batchEnd = 0;
        pendingCount = 0;
        next = 0;
        left = 0;
    }

    /** Searches in the layers of {@code version} from now on; the caller keeps it pinned. */
    public void moveTo(Version version) {
        layers.open(version, options, keys.size(), snapshot);
        // what was passed over in this layer, and what was not looked at
        while (next < pendingCount) {
            int place = pending[next++];
            pending[left++] = Math.max(place, ~place);
        }
        pendingCount = left;
        restart();
    }

    /** Lets go of what it has open on the version. */
    public void leaveVersion() {
        layers.close();
    }

    /**
     * Begins the next batch.
     *
     * @param countMax most keys, at least 1
     * @return false if there are no more keys
     */
    public boolean nextBatch(int countMax) {
        batchStart = batchEnd;
        return fillBatch(countMax);
    }

    /** Begins the batch in hand again, with at most so many of its keys. */
    void repeatBatch(int countMax) {
        keyCount -= batchEnd - batchStart;
        fillBatch(countMax);
    }

    private boolean fillBatch(int countMax) {
        long byteCount = 0;
        int index = batchStart;
        int end = (int) Math.min(keys.size(), (long) batchStart + countMax);
        for (; index < end; index++) {
            keys.key(index, key);
            byteCount += key.length();
            int place = index - batchStart;
            if (place > 0 && byteCount > options.batchBytes()) {
                break;
            }
            if (place == hashes.length) {
                makeRoom(place + 1);
            }
            hashes[place] = BloomFilter.hash(key);
            pending[place] = place;
        }
        return begun(index);
    }

    /**
     * Begins a batch of chosen keys, whatever {@code batchBytes} say.
     *
     * @param chosen ascending indexes of keys
     * @param hashOf of every key, by index
     */
    public void batchOf(int[] chosen, int count, long[] hashOf) {
        makeRoom(keys.size());
        System.arraycopy(chosen, 0, pending, 0, count);
        System.arraycopy(hashOf, 0, hashes, 0, keys.size());
        batchStart = 0;
        batchEnd = keys.size();
        pendingCount = count;
        keyCount += count;
        restart();
    }

    private void makeRoom(int count) {
        LookupRoom notes = room;
        if (notes == null) {
            notes = LookupRoom.take();
            room = notes;
        }
        notes.grow(count);
        hashes = notes.hashes;
        pending = notes.pending;
    }

    private boolean begun(int end) {
        batchEnd = end;
        pendingCount = end - batchStart;
        keyCount += pendingCount;
        restart();
        return pendingCount > 0;
    }

    private void restart() {
        layer = -1;
        next = pendingCount;
        left = pendingCount;
    }

    /** Moves to the next record of the batch; false at its end. */
    public boolean next() {
        while (true) {
            while (next < pendingCount) {
                int place = pending[next];
                if (place >= 0) {
                    pending[left++] = place;
                    next++;
                    continue;
                }
                int code = search(~place);
                next++; // not before: a search that throws can be repeated
                if (code == Found.MATTER) {
                    foundIndex = batchStart + ~place;
                    return true;
                }
                if (code == Found.ABSENT) {
                    pending[left++] = ~place;
                }
            }
            if (!nextLayer()) {
                return false;
            }
        }
    }

    /** A code of {@link Found}; anti-matter too if the one version that is wanted is not there. */
    private int search(int place) {
        int index = batchStart + place;
        keys.key(index, key);
        if (options.pruning() != Pruning.EXACT) {
            return layers.find(layer, key, snapshot, found);
        }
        long timestamp = keys.timestamp(index);
        return timestamp <= snapshot
                        && layers.find(layer, key, timestamp, found) == Found.MATTER
                        && found.timestamp == timestamp
                ? Found.MATTER
                : Found.ANTIMATTER;
    }

    /** Goes to the next older layer that may hold a pending key. */
    private boolean nextLayer() {
        pendingCount = left;
        next = 0;
        left = 0;
        int marked;
        do {
            if (pendingCount == 0 || layer + 1 >= layers.count()) {
                layers.leave();
                pendingCount = 0;
                return false;
            }
            layer++;
            marked = options.pruning() == Pruning.NONE ? markAll() : markByTimestamp();
        } while (marked == 0);
        layers.enter(layer, marked);
        return true;
    }

    /** Marks the pending keys that the layer may hold, by its Bloom filter; returns how many. */
    private int markAll() {
        int marked = 0;
        for (int i = 0; i < pendingCount; i++) {
            int place = pending[i];
            if (mayContain(place)) {
                pending[i] = ~place;
                marked++;
            }
        }
        return marked;
    }

    /** As {@link #markAll}, and drops those that neither this layer nor an older one can hold. */
    private int markByTimestamp() {
        Pruning pruning = options.pruning();
        long min = layers.minTimestamp(layer);
        long max = layers.maxTimestamp(layer);
        int marked = 0;
        int kept = 0;
        for (int i = 0; i < pendingCount; i++) {
            int place = pending[i];
            long timestamp = keys.timestamp(batchStart + place);
            if (timestamp > max) {
                continue; // this layer and all behind it are older
            }
            boolean may = switch (pruning) {
                case EXACT -> timestamp >= min;
                case CHECKED ->
                    timestamp >= min
                            || (max > keys.checkedUntil(batchStart + place) && mayContain(place));
                case OLDER, NONE -> mayContain(place);
            };
            pending[kept++] = may ? ~place : place;
            marked += may ? 1 : 0;
        }
        pendingCount = kept;
        return marked;
    }

    private boolean mayContain(int place) {
        if (!layers.isTested(layer)) {
            return true;
        }
        bloomTestCount += layers.isOnDisk(layer) ? 1 : 0;
        return layers.mayContain(layer, hashes[place]);
    }

    /** The marked keys behind the one in hand, so that the layer can read their pages ahead. */
    private final class Coming implements ComingKeys {
        private int at;

        @Override
        public void restart() {
            at = next + 1;
        }

        @Override
        public boolean next(Slice coming) {
            while (at < pendingCount) {
                int place = pending[at++];
                if (place < 0) {
                    keys.key(batchStart + ~place, coming);
                    return true;
                }
            }
            return false;
        }
    }

    /** The index of the key whose record was found. */
    public int index() {
        return foundIndex;
    }

    /** Its key; valid until the next move. */
    public Slice key(Slice slice) {
        return keys.key(foundIndex, slice);
    }

    public long timestamp() {
        return found.timestamp;
    }

    /** Moves {@code slice} to the record, a copy; valid until the next move. */
    public Slice record(Slice slice) {
        return found.value.asSlice(slice);
    }

    /** The first key of the batch in hand, and how many there are. */
    int batchStart() {
        return batchStart;
    }

    int batchCount() {
        return batchEnd - batchStart;
    }

    /** Keys behind the batch in hand. */
    int keysLeft() {
        return keys.size() - batchEnd;
    }

    /** The components considered by a fetch with a filter. */
    LayerCount considered() {
        return layers.considered();
    }

    /** What it took since it was made. */
    public FetchWork work() {
        return new FetchWork(
                keyCount,
                layers.visitCount(),
                layers.statefulVisitCount(),
                bloomTestCount,
                layers.searchCount(),
                layers.pageCount(),
                layers.missCount());
    }

    /** It may begin anew then. */
    @Override
    public void close() {
        leaveVersion();
        pendingCount = 0;
        restart();
        LookupRoom used = room;
        if (used != null) {
            room = null;
            hashes = NO_HASHES;
            pending = NO_PLACES;
            LookupRoom.give(used);
        }
    }

    @Override
    public String toString() {
        String where = layer < 0 ? "before the first layer" : "in layer " + layer;
        return "keys %d to %d of %d, %s, %d pending"
                .formatted(batchStart, batchEnd, keys.size(), where, pendingCount - next + left);
    }
}
