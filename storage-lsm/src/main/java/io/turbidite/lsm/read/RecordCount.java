package io.turbidite.lsm.read;

import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.component.DiskComponent;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.entry.Found;
import io.turbidite.lsm.entry.KeyCopy;
import io.turbidite.lsm.merge.MergeCursor;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.ViewState;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.MemoryLayer;
import io.turbidite.lsm.version.Version;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Counts the records of a partition without reading most of them. A component knows how many
 * entries, deletions and distinct keys it has. Where it is older than the snapshot and each key has
 * one version, that is how many records it shows. Such components are <em>counted</em>, as far as
 * their key ranges do not overlap, the largest first. The other layers together must be
 * <em>small</em>: each of their keys is looked up in the counted component that may have it, and
 * adds one, takes one away, or neither.
 *
 * <p><em>Confined to one thread.</em> Used once. The version must stay pinned.
 */
final class RecordCount {
    /** What can't be told so. */
    static final long UNKNOWN = -1;

    /** A lookup costs about as much as a scan of so many records. */
    private static final int LOOKUP_ROWS = 16;

    /** Most lookups: the version is held, and what it has alone, until all are done. */
    private static final int LOOKUPS_MAX = 1 << 16;

    /** Keys of the small layers between two looks whether the reader was stopped. */
    private static final int STOP_INTERVAL = 256;

    private final ViewState view;
    private final long snapshot;
    private final Runnable checkNotStopped;
    private final List<ComponentHandle> counted = new ArrayList<>();

    /** Newest first. */
    private final List<ComponentHandle> small = new ArrayList<>();

    private final List<MemoryLayer> memory = new ArrayList<>();
    private final Found found = new Found(new ByteSink(0, 0));

    private RecordCount(ViewState view, Runnable checkNotStopped) {
        this.view = view;
        this.snapshot = view.timestamp();
        this.checkNotStopped = checkNotStopped;
    }

    /**
     * The live records of a partition that a view shows.
     *
     * @param checkNotStopped throws if the reader is to stop
     * @return {@link #UNKNOWN} if only a scan can tell
     * @throws io.turbidite.core.ClosedException if the view, or the store, is closed
     */
    static long of(Partition partition, ViewState view, Runnable checkNotStopped) {
        Version pinned = partition.pin();
        try {
            // behind the pin: of a view that was closed before it, a merge may have dropped records
            view.checkOpen();
            return new RecordCount(view, checkNotStopped).of(pinned);
        } finally {
            pinned.unpin();
        }
    }

    /**
     * Whether {@link #of} would tell, from metadata alone.
     *
     * @throws io.turbidite.core.ClosedException as {@link #of}
     */
    static boolean isTold(Partition partition, ViewState view) {
        Version pinned = partition.pin();
        try {
            view.checkOpen();
            return new RecordCount(view, () -> {}).choose(pinned) != UNKNOWN;
        } finally {
            pinned.unpin();
        }
    }

    private long of(Version version) {
        long records = choose(version);
        return records == UNKNOWN || (small.isEmpty() && memory.isEmpty())
                ? records
                : records + difference();
    }

    /** The records of the counted components; {@link #UNKNOWN} if the others are not small. */
    private long choose(Version version) {
        List<ComponentHandle> components = version.tree(TreeId.PRIMARY);
        for (ComponentHandle handle : components) {
            if (!isReadable(handle)) {
                return UNKNOWN;
            }
        }
        choose(components);
        long records = 0;
        for (ComponentHandle handle : counted) {
            records += handle.component().matterCount();
        }
        long others = addMemory(version);
        for (ComponentHandle handle : small) {
            others += handle.component().entryCount();
        }
        // a lookup goes through the counted components to the one that may have its key
        long rowsOfLookup = (long) LOOKUP_ROWS + counted.size();
        boolean areSmall =
                others == 0 || (others <= LOOKUPS_MAX && others * rowsOfLookup <= records);
        return areSmall ? records : UNKNOWN;
    }

    /** A scan says what is wrong; and marks, set for whoever reads later, are for it to tell. */
    private static boolean isReadable(ComponentHandle handle) {
        var live = handle.live();
        return !handle.isQuarantined() && (live == null || live.invalidCount() == 0);
    }

    private void choose(List<ComponentHandle> newestFirst) {
        List<ComponentHandle> largestFirst = new ArrayList<>(newestFirst);
        largestFirst.sort(Comparator.comparingLong(
                        (ComponentHandle handle) -> handle.component().entryCount())
                .reversed());
        for (ComponentHandle handle : largestFirst) {
            if (knowsItsRecords(handle)
                    && counted.stream().noneMatch(one -> overlap(one, handle))) {
                counted.add(handle);
            }
        }
        for (ComponentHandle handle : newestFirst) {
            if (!counted.contains(handle) && handle.component().entryCount() > 0) {
                small.add(handle);
            }
        }
    }

    private boolean knowsItsRecords(ComponentHandle handle) {
        DiskComponent component = handle.component();
        return component.entryCount() > 0
                && component.keyCount() == component.entryCount()
                && component.id().maxTimestamp() <= snapshot
                && handle.invalidEntries() == null;
    }

    private static boolean overlap(ComponentHandle one, ComponentHandle other) {
        return one.component().minKey().compareBytes(other.component().maxKey()) <= 0
                && other.component().minKey().compareBytes(one.component().maxKey()) <= 0;
    }

    private long addMemory(Version version) {
        long entries = addMemory(version.current());
        MemoryLayer frozen = version.frozen();
        return frozen == null ? entries : entries + addMemory(frozen);
    }

    private long addMemory(MemoryLayer layer) {
        long entries = layer.tree(TreeId.PRIMARY).entryCount();
        if (entries > 0) {
            memory.add(layer);
        }
        return entries;
    }

    /** How many more records there are than in the counted components, with the small layers. */
    private long difference() {
        List<EntryCursor> newestFirst = new ArrayList<>();
        memory.forEach(layer -> newestFirst.add(layer.tree(TreeId.PRIMARY).cursor()));
        small.forEach(handle -> newestFirst.add(handle.keyCursor()));
        long difference = 0;
        long steps = 0;
        KeyCopy decided = new KeyCopy();
        try (EntryCursor entries = MergeCursor.of(newestFirst)) {
            while (entries.next()) {
                if (++steps % STOP_INTERVAL == 0) {
                    checkNotStopped.run();
                    view.checkOpen();
                }
                if (entries.timestamp() <= snapshot && !decided.matches(entries)) {
                    decided.set(entries);
                    difference += difference(entries);
                }
            }
        } finally {
            decided.release();
        }
        return difference;
    }

    /** What the newest version in the small layers changes; 1, 0 or -1. */
    private int difference(EntryCursor entry) {
        Slice key = entry.key();
        int code = inCounted(key);
        boolean wasThere = code == Found.MATTER;
        boolean isNewer = code == Found.ABSENT || entry.timestamp() > found.timestamp;
        boolean isThere = isNewer ? !entry.isAntimatter() : wasThere;
        return (isThere ? 1 : 0) - (wasThere ? 1 : 0);
    }

    private int inCounted(Slice key) {
        for (ComponentHandle handle : counted) {
            DiskComponent component = handle.component();
            if (component.minKey().compareBytes(key) <= 0
                    && key.compareBytes(component.maxKey()) <= 0) {
                return component.mayContain(BloomFilter.hash(key))
                        ? component.findKey(key, snapshot, found)
                        : Found.ABSENT;
            }
        }
        return Found.ABSENT;
    }
}
