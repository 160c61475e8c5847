package io.turbidite.lsm.read;

import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.index.EntryKeys;
import io.turbidite.lsm.component.DiskComponent;
import io.turbidite.lsm.entry.EntryBatch;
import io.turbidite.lsm.partition.LiveBits;
import io.turbidite.lsm.partition.LiveVersions;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.ViewState;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.strategy.validation.ValidationMeter;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.MemoryLayer;
import io.turbidite.lsm.version.Version;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * Decides which entries of an index are valid by what is known of live versions, as far as that
 * goes (design §4 rules 1 and 3). An entry has the timestamp of its version, so a bit tells:
 *
 * <ol>
 *   <li>Set: nothing superseded the version up to the known timestamp. Newer layers are asked
 *       whether they may have its key; if none may, the entry is valid. They need not be asked by
 *       a reader who sees nothing above the known timestamp.
 *   <li>Cleared: the entry is not valid, for a reader who sees everything that may have cleared it.
 * </ol>
 *
 * Only timestamps count that a component covers of which all is known: a merge of newer ones may
 * have dropped a delete with its anti-matter. The rest stays to be validated.
 *
 * <p>What is decided is told to the view and to the dataset's counts, as what others validate is:
 * nobody else hears of it, and advice and repairs go by these counts.
 *
 * <p><em>Confined to one thread.</em> Holds nothing between calls.
 */
final class LiveCheck {
    private final Partition partition;
    private final EntryKeys entryKeys;
    private final ViewState view;
    private final long snapshot;
    private final long ownFrom;
    private final ValidationMeter meter;
    private final Slice key = new Slice();
    private final Slice primaryKey = new Slice();

    /** Of entries in their order: their places in the batch. */
    private final int[] places = new int[EntryBatch.ENTRIES_MAX];

    /** Of each place: as {@link EntryBatch#checkedUntil}. */
    private final long[] checkedUntil = new long[EntryBatch.ENTRIES_MAX];

    private int count;

    /** Of those that are left: how many are certainly valid. */
    private int certainCount;

    /** The layers that may have what is not known; those on disk. */
    private DiskComponent[] newer = {};

    private int newerCount;

    /** The timestamps that components cover of which all is known. */
    private long coveredFrom;

    private long coveredTo;

    LiveCheck(Partition partition, EntryKeys entryKeys, ViewState view) {
        this.partition = partition;
        this.entryKeys = entryKeys;
        this.view = view;
        this.snapshot = view.timestamp();
        this.ownFrom = partition.core().manifest().ownFrom();
        this.meter = ValidationMeter.of(partition.core().meters());
    }

    /** How many entries are left. */
    int count() {
        return count;
    }

    /** The place in the batch of one of them. */
    int place(int entry) {
        return places[entry];
    }

    /** As {@link EntryBatch#checkedUntil}, of a place. */
    long checkedUntil(int place) {
        return checkedUntil[place];
    }

    /**
     * Decides on neighbouring entries of a batch; those are left that may be valid.
     *
     * @param mayDrop otherwise all are left if none may be valid, to be validated
     */
    void run(EntryBatch batch, int first, int entryCount, boolean mayDrop) {
        LiveVersions versions = partition.liveVersions();
        LiveBits bits = versions.bits();
        long known = bits == null ? 0 : bits.known();
        // after what is known was loaded, and after the snapshot was taken: whatever is in neither
        // is not seen
        Version pinned = partition.pin();
        long unknown;
        try {
            look(pinned.tree(TreeId.PRIMARY), known);
            count = 0;
            certainCount = 0;
            unknown = bits == null
                    ? keepAll(batch, first, entryCount)
                    : decide(batch, first, entryCount, bits, known, pinned);
        } finally {
            pinned.unpin();
        }
        if (count == 0 && !mayDrop) {
            var _ = keepAll(batch, first, entryCount);
        }
        if (unknown > 0) {
            versions.asked(unknown);
        }
        int obsolete = entryCount - count;
        view.decided(partition.work(), (long) certainCount + obsolete, obsolete);
    }

    private void look(List<ComponentHandle> components, long known) {
        newerCount = 0;
        coveredFrom = Long.MAX_VALUE;
        coveredTo = 0;
        int size = components.size();
        if (newer.length < size) {
            newer = new DiskComponent[size];
        }
        for (int i = 0; i < size; i++) {
            ComponentHandle handle = components.get(i);
            if (handle.state().maxTimestamp() > known) {
                newer[newerCount++] = handle.component();
            } else {
                coveredTo = Math.max(coveredTo, handle.state().maxTimestamp());
                coveredFrom = Math.min(coveredFrom, handle.state().minTimestamp());
            }
        }
        coveredFrom = Math.max(coveredFrom, ownFrom);
    }

    /** Nothing is known: how many of them might have been decided otherwise. */
    private long keepAll(EntryBatch batch, int first, int entryCount) {
        long onDisk = 0;
        for (int place = first; place < first + entryCount; place++) {
            keep(place, batch.checkedUntil(place));
            onDisk += isDecided(batch, place) ? 0 : 1;
        }
        return newerCount == 0 ? 0 : onDisk;
    }

    private static boolean isDecided(EntryBatch batch, int place) {
        return batch.checkedUntil(place) == Long.MAX_VALUE;
    }

    private void keep(int place, long until) {
        places[count++] = place;
        checkedUntil[place] = until;
        certainCount += until == Long.MAX_VALUE ? 1 : 0;
    }

    private long decide(
            EntryBatch batch,
            int first,
            int entryCount,
            LiveBits bits,
            long known,
            Version pinned) {
        boolean mayBeNewer = snapshot > known
                && (newerCount > 0 || pinned.current().hasKeys() || hasKeys(pinned.frozen()));
        long decided = 0;
        long unknown = 0;
        for (int place = first; place < first + entryCount; place++) {
            long timestamp = batch.timestamp(place);
            long until = batch.checkedUntil(place);
            if (until == Long.MAX_VALUE) {
                keep(place, until);
            } else if (timestamp < coveredFrom || timestamp > coveredTo) {
                keep(place, until);
                unknown += newerCount == 0 ? 0 : 1;
            } else if (bits.isLive(timestamp)) {
                boolean isValid = !mayBeNewer || !mayHave(pinned, batch, place);
                keep(place, isValid ? Long.MAX_VALUE : Math.max(until, known));
                decided += isValid ? 1 : 0;
                unknown += isValid || newerCount == 0 ? 0 : 1;
            } else if (bits.target() <= snapshot) {
                decided++;
            } else {
                keep(place, until);
            }
        }
        meter.decided().add(decided);
        return unknown;
    }

    private static boolean hasKeys(@Nullable MemoryLayer layer) {
        return layer != null && layer.hasKeys();
    }

    /** Whether a layer may have a version of an entry's record that is not known. */
    private boolean mayHave(Version pinned, EntryBatch batch, int place) {
        long hash = BloomFilter.hash(entryKeys.primaryKey(batch.key(place, key), primaryKey));
        MemoryLayer frozen = pinned.frozen();
        if (pinned.current().mayContainKey(hash)
                || (frozen != null && frozen.mayContainKey(hash))) {
            return true;
        }
        for (int i = 0; i < newerCount; i++) {
            if (newer[i].mayContain(hash)) {
                return true;
            }
        }
        return false;
    }
}
