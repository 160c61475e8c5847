package io.turbidite.lsm.read;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.geo.WindowSearch;
import io.turbidite.core.geo.Zone;
import io.turbidite.core.scan.CandidateBatch;
import io.turbidite.core.scan.FetchOptions;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.IndexSearch;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.core.scan.RecordSample;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.core.scan.TermSearch;
import io.turbidite.lsm.component.DiskComponent;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.memory.MemoryComponent;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.ViewState;
import io.turbidite.lsm.rtree.SkippingCursor;
import io.turbidite.lsm.rtree.WindowWork;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.strategy.validation.TimestampValidation;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.MemoryLayer;
import io.turbidite.lsm.version.RegionHandle;
import io.turbidite.lsm.version.RegionLayer;
import io.turbidite.lsm.version.Version;

import java.util.ArrayList;
import java.util.List;

/** The ways to read a partition at a snapshot. Stateless. */
public final class PartitionReads {
    /** An estimate counts memory entries one by one up to here, then takes all of them. */
    private static final int COUNTED_MAX = 256;

    /** As {@link #COUNTED_MAX}, in a window, which mostly has few of very many. */
    private static final int WINDOW_COUNTED_MAX = 4_096;

    private PartitionReads() {}

    /** The live records in a range of primary keys. */
    public static RecordCursor scan(
            Partition partition, ViewState view, KeyRange range, FilterPredicate filter) {
        return new PartitionScan(partition, view, range, filter);
    }

    /** The same in no order; with live bitmaps no layer is then compared with another. */
    public static RecordStream scanUnordered(
            Partition partition, ViewState view, KeyRange range, FilterPredicate filter) {
        return partition.hasLiveBitmaps()
                ? new ComponentScan(partition, view, range, filter)
                : scan(partition, view, range, filter);
    }

    /**
     * How many live records there are; -1 if only a scan can tell.
     *
     * @param checkNotStopped throws if the reader is to stop
     */
    public static long count(Partition partition, ViewState view, Runnable checkNotStopped) {
        return RecordCount.of(partition, view, checkNotStopped);
    }

    /** Whether {@link #count} would tell now; reads nothing. */
    public static boolean isCountTold(Partition partition, ViewState view) {
        return RecordCount.isTold(partition, view);
    }

    /**
     * The live entries of a secondary index that a search asks for.
     *
     * @throws io.turbidite.core.InvalidRequestException here or from the cursor, if it is dropped
     */
    public static IndexCursor search(
            Partition partition,
            IndexSchema index,
            ViewState view,
            IndexSearch search,
            FilterPredicate filter) {
        return PartitionSearch.open(partition, index, view, search, filter);
    }

    /** Marks the candidates that are valid at the view's moment. */
    public static void validate(Partition partition, ViewState view, CandidateBatch candidates) {
        TimestampValidation.run(partition, view, candidates);
    }

    /** The live records of sorted keys. */
    public static RecordStream fetch(
            Partition partition, ViewState view, KeyBatch sortedKeys, FetchOptions options) {
        partition.work().fetched(sortedKeys.size());
        return new PartitionFetch(partition, view, sortedKeys, options);
    }

    /**
     * About how many entries of an index a search would meet, invalid ones included; 0 if it is
     * dropped.
     */
    public static long estimateSearch(
            Partition partition, IndexSchema index, IndexSearch search, FilterPredicate filter) {
        return switch (search) {
            case KeyRange range -> estimate(partition, index.tree(), range, filter);
            case IndexSearch.Nearest _ -> estimate(partition, index.tree(), KeyRange.all(), filter);
            case IndexSearch.Spatial spatial -> estimate(partition, index.tree(), spatial, filter);
            case IndexSearch.Newest newest ->
                estimate(partition, index.tree(), newest.entries(), filter);
            case TermSearch terms -> {
                long[] entries = new long[terms.terms().size()];
                for (int i = 0; i < entries.length; i++) {
                    entries[i] = estimate(partition, index.tree(), terms.entries(i), filter);
                }
                long all = estimate(partition, TreeId.PRIMARY, KeyRange.all(), filter);
                yield TermEstimate.records(entries, terms.least(), all);
            }
        };
    }

    /**
     * About how many entries of a tree lie in a range, invalid ones included; 0 if it is dropped.
     */
    public static long estimate(
            Partition partition, TreeId tree, KeyRange range, FilterPredicate filter) {
        Version pinned = partition.pin();
        try {
            long entries = estimate(pinned.current(), tree, range, filter);
            MemoryLayer frozen = pinned.frozen();
            if (frozen != null) {
                entries += estimate(frozen, tree, range, filter);
            }
            RegionLayer region = pinned.region(tree);
            if (region != null) {
                return entries + estimate(region.handle(), range);
            }
            List<ComponentHandle> components = pinned.hasTree(tree) ? pinned.tree(tree) : List.of();
            for (ComponentHandle handle : components) {
                if (handle.component().filter().mayMatch(filter)) {
                    if (handle.isQuarantined() && !tree.isPrimary()) {
                        return ReadView.UNREADABLE;
                    }
                    entries += range.isAll() || handle.isQuarantined()
                            ? handle.component().entryCount()
                            : handle.component().estimateEntries(range);
                }
            }
            return entries;
        } finally {
            pinned.unpin();
        }
    }

    /**
     * A sample of a dataset's records; none if its components have none that stands for all.
     *
     * @param known where it is kept
     */
    public static RecordSample sample(List<Partition> partitions, DatasetSample known) {
        List<Version> pinned = new ArrayList<>(partitions.size());
        try {
            List<List<DiskComponent>> components = new ArrayList<>(partitions.size());
            for (Partition partition : partitions) {
                Version version = partition.pin();
                pinned.add(version);
                components.add(version.tree(TreeId.PRIMARY).stream()
                        .map(ComponentHandle::component)
                        .toList());
            }
            return known.of(components);
        } finally {
            pinned.forEach(Version::unpin);
        }
    }

    /** What can't be read is noted: its index is disabled, and built anew. */
    private static long estimate(RegionHandle handle, KeyRange range) {
        if (handle.failure() != null) {
            return ReadView.UNREADABLE;
        }
        try {
            return handle.region().estimate(range.low(), range.high());
        } catch (CorruptionException | StorageIoException | InternalError damage) {
            var _ = handle.fail(damage);
            return ReadView.UNREADABLE;
        }
    }

    private static long estimate(
            Partition partition, TreeId tree, IndexSearch.Spatial spatial, FilterPredicate filter) {
        Version pinned = partition.pin();
        try {
            long entries = estimate(pinned.current(), tree, spatial, filter);
            MemoryLayer frozen = pinned.frozen();
            if (frozen != null) {
                entries += estimate(frozen, tree, spatial, filter);
            }
            List<ComponentHandle> components = pinned.hasTree(tree) ? pinned.tree(tree) : List.of();
            for (ComponentHandle handle : components) {
                if (handle.component().filter().mayMatch(filter)) {
                    if (handle.isQuarantined()) {
                        return ReadView.UNREADABLE;
                    }
                    for (Zone zone : spatial.zones()) {
                        entries += handle.component().estimateEntries(zone);
                    }
                }
            }
            return entries;
        } finally {
            pinned.unpin();
        }
    }

    private static long estimate(
            MemoryLayer layer, TreeId tree, IndexSearch.Spatial spatial, FilterPredicate filter) {
        if (!layer.hasTree(tree) || !layer.mayMatch(filter)) {
            return 0;
        }
        MemoryComponent memory = layer.tree(tree);
        long counted = 0;
        for (Zone zone : spatial.zones()) {
            WindowSearch search = new WindowSearch(spatial.kind(), zone);
            try (EntryCursor cursor =
                    new SkippingCursor(memory.cursor(), search, new WindowWork())) {
                while (cursor.next()) {
                    if (++counted == WINDOW_COUNTED_MAX) {
                        return memory.entryCount();
                    }
                }
            }
        }
        return counted;
    }

    private static long estimate(
            MemoryLayer layer, TreeId tree, KeyRange range, FilterPredicate filter) {
        if (!layer.hasTree(tree)) {
            return 0;
        }
        MemoryComponent memory = layer.tree(tree);
        if (memory.entryCount() == 0 || !layer.mayMatch(filter)) {
            return 0;
        }
        if (range.isAll()) {
            return memory.entryCount();
        }
        long counted = 0;
        try (EntryCursor cursor = memory.cursor()) {
            if (range.low() != null) {
                cursor.seek(range.low());
            }
            while (cursor.next() && range.contains(cursor.key())) {
                if (++counted == COUNTED_MAX) {
                    // a wide range: how wide is not worth a walk
                    return memory.entryCount();
                }
            }
        }
        return counted;
    }
}
