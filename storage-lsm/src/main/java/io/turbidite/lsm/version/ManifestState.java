package io.turbidite.lsm.version;

import io.turbidite.core.Limits;
import io.turbidite.lsm.component.ComponentId;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.TreeId;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * All that a store must know to open: what the manifest file holds. <em>Immutable.</em>
 *
 * @param storeId random; every file of the store carries it
 * @param nextFileId file ids at or above it are unused
 * @param nextDatasetId dataset ids at or above it are unused
 * @param session random, of the opening for writing that changed it last; see {@link
 *     io.turbidite.core.index.RegionSessions}. 0 if no release that has sessions changed it
 * @param progress how far operations and log have come
 * @param datasets in order of creation
 */
public record ManifestState(
        long storeId,
        long nextFileId,
        int nextDatasetId,
        long session,
        Progress progress,
        List<DatasetState> datasets) {
    public ManifestState {
        datasets = List.copyOf(datasets);
    }

    /**
     * How far a store's operations and its log have come.
     *
     * @param lastTimestamp no timestamp at or below it will be drawn again
     * @param logPosition the log is replayed from here
     * @param hasLog the log has held records: one without segments was lost, whatever the position
     * @param ownFrom each timestamp from this one on is of one operation; those below may be of a
     *     batch
     */
    public record Progress(long lastTimestamp, long logPosition, boolean hasLog, long ownFrom) {
        private Progress upTo(long timestamp) {
            return new Progress(Math.max(timestamp, lastTimestamp), logPosition, hasLog, ownFrom);
        }

        private Progress replayedFrom(long position) {
            return new Progress(lastTimestamp, Math.max(position, logPosition), hasLog, ownFrom);
        }
    }

    /** As {@link Progress#ownFrom}, of a store in which no such timestamp is known. */
    public static final long NONE_OWN = Limits.TIMESTAMP_MAX;

    /** A new store. */
    public static ManifestState empty(long storeId) {
        return new ManifestState(storeId, 1, 1, 0, new Progress(0, 0, false, 0), List.of());
    }

    public long lastTimestamp() {
        return progress.lastTimestamp();
    }

    public long logPosition() {
        return progress.logPosition();
    }

    public boolean hasLog() {
        return progress.hasLog();
    }

    /** Each timestamp from this one on is of one operation; {@link #NONE_OWN} if none is known. */
    public long ownFrom() {
        return progress.ownFrom();
    }

    /** The same for a store in which that becomes known, if it was not. */
    public ManifestState withOwnFrom(long timestamp) {
        return ownFrom() <= timestamp
                ? this
                : withProgress(new Progress(lastTimestamp(), logPosition(), hasLog(), timestamp));
    }

    /** The same with a higher next file id. */
    public ManifestState withNextFileId(long fileId) {
        return new ManifestState(storeId, fileId, nextDatasetId, session, progress, datasets);
    }

    /** The same of another session. */
    public ManifestState withSession(long changed) {
        return new ManifestState(storeId, nextFileId, nextDatasetId, changed, progress, datasets);
    }

    /** The same with a dataset more; its id is the next. */
    public ManifestState withDataset(DatasetState dataset) {
        List<DatasetState> more = new ArrayList<>(datasets);
        more.add(dataset);
        return new ManifestState(
                storeId, nextFileId, dataset.schema().id() + 1, session, progress, more);
    }

    /** The same with new highest timestamp and log position. */
    public ManifestState withProgress(long timestamp, long position) {
        return withProgress(progress.upTo(timestamp).replayedFrom(position));
    }

    /**
     * The same for a store of its own that has no log: everything up to {@code timestamp} is in its
     * components.
     */
    public ManifestState withoutLog(long timestamp) {
        return withProgress(
                new Progress(progress.upTo(timestamp).lastTimestamp, 0, false, ownFrom()));
    }

    /** The same for a store whose log holds records. */
    public ManifestState withLog() {
        return hasLog()
                ? this
                : withProgress(new Progress(lastTimestamp(), logPosition(), true, ownFrom()));
    }

    /** The same with a partition replaced; as it is if the dataset is gone. */
    public ManifestState withPartition(int datasetId, int partition, PartitionState replacement) {
        DatasetState dataset = find(datasetId);
        if (dataset == null) {
            return this;
        }
        List<PartitionState> partitions = new ArrayList<>(dataset.partitions());
        partitions.set(partition, replacement);
        return withReplaced(new DatasetState(dataset.schema(), partitions, dataset.counts()));
    }

    /** The same with other counts of a dataset; as it is if the dataset is gone. */
    public ManifestState withCounts(int datasetId, UnaryOperator<DatasetCounts> change) {
        DatasetState dataset = find(datasetId);
        return dataset == null
                ? this
                : withReplaced(new DatasetState(
                        dataset.schema(), dataset.partitions(), change.apply(dataset.counts())));
    }

    /** The same with another state of a dataset that is there. */
    public ManifestState withReplaced(DatasetState replacement) {
        List<DatasetState> changed = new ArrayList<>(datasets);
        changed.replaceAll(dataset ->
                dataset.schema().id() == replacement.schema().id() ? replacement : dataset);
        return withDatasets(changed);
    }

    /** The same without a dataset; its id stays used. */
    public ManifestState withoutDataset(int datasetId) {
        List<DatasetState> fewer = new ArrayList<>(datasets);
        fewer.removeIf(dataset -> dataset.schema().id() == datasetId);
        return withDatasets(fewer);
    }

    private ManifestState withProgress(Progress changed) {
        return new ManifestState(storeId, nextFileId, nextDatasetId, session, changed, datasets);
    }

    private ManifestState withDatasets(List<DatasetState> changed) {
        return new ManifestState(storeId, nextFileId, nextDatasetId, session, progress, changed);
    }

    /** The state of a dataset; null if there is none with that id. */
    public @Nullable DatasetState find(int datasetId) {
        for (DatasetState dataset : datasets) {
            if (dataset.schema().id() == datasetId) {
                return dataset;
            }
        }
        return null;
    }

    /** The state of a partition. */
    public PartitionState partition(int datasetId, int partition) {
        DatasetState dataset = find(datasetId);
        if (dataset == null) {
            throw new IllegalArgumentException("no dataset " + datasetId);
        }
        return dataset.partitions().get(partition);
    }

    /**
     * A dataset and its partitions.
     *
     * @param partitions as many as the schema says
     * @param counts what was done with it
     */
    public record DatasetState(
            DatasetSchema schema, List<PartitionState> partitions, DatasetCounts counts) {
        public DatasetState {
            partitions = List.copyOf(partitions);
        }

        /** A dataset without records. */
        public static DatasetState empty(DatasetSchema schema) {
            List<PartitionState> partitions = new ArrayList<>();
            for (int i = 0; i < schema.partitions(); i++) {
                partitions.add(PartitionState.empty(schema));
            }
            return new DatasetState(schema, partitions, DatasetCounts.NONE);
        }
    }

    /**
     * The disk part of a partition.
     *
     * @param flushedTimestamp operations at or below it are in the components: replay passes them
     *     over
     * @param trees one for each tree of the schema
     * @param regions of secondaries that have one in place of components; one of a disabled index
     *     says that it is to be built anew
     */
    public record PartitionState(
            long flushedTimestamp, List<TreeState> trees, List<RegionState> regions) {
        public PartitionState {
            trees = List.copyOf(trees);
            regions = List.copyOf(regions);
        }

        /** A partition without components. */
        public static PartitionState empty(DatasetSchema schema) {
            return new PartitionState(
                    0,
                    schema.treeIds().stream()
                            .map(id -> new TreeState(id, List.of()))
                            .toList(),
                    List.of());
        }

        /** The components of a tree, newest first. */
        public List<ComponentState> tree(TreeId tree) {
            for (TreeState state : trees) {
                if (state.tree().equals(tree)) {
                    return state.components();
                }
            }
            throw new IllegalArgumentException("no tree " + tree);
        }

        /**
         * The same with a component more on top of each tree; those of other trees are left out.
         */
        public PartitionState withFlushed(long timestamp, Map<TreeId, ComponentState> flushed) {
            return new PartitionState(
                    timestamp,
                    trees.stream()
                            .map(tree -> tree.withNewest(flushed.get(tree.tree())))
                            .toList(),
                    regions);
        }

        /**
         * The same with neighbours of a tree replaced by one; as it is if the tree is not there.
         */
        public PartitionState withMerged(
                TreeId tree, List<ComponentState> inputs, ComponentState merged) {
            return new PartitionState(
                    flushedTimestamp,
                    trees.stream()
                            .map(state -> state.tree().equals(tree)
                                    ? state.withMerged(inputs, merged)
                                    : state)
                            .toList(),
                    regions);
        }

        /** The same with other invalid entries of components of a tree, by their files. */
        public PartitionState withBitmaps(TreeId tree, Map<Long, BitmapState> invalidEntries) {
            return new PartitionState(
                    flushedTimestamp,
                    trees.stream()
                            .map(state -> state.tree().equals(tree)
                                    ? state.withBitmaps(invalidEntries)
                                    : state)
                            .toList(),
                    regions);
        }

        /** The same with a component of a tree changed; as it is if it is not there. */
        public PartitionState withComponent(
                TreeId tree, long fileId, UnaryOperator<ComponentState> change) {
            return new PartitionState(
                    flushedTimestamp,
                    trees.stream()
                            .map(state -> state.tree().equals(tree)
                                    ? state.withComponent(fileId, change)
                                    : state)
                            .toList(),
                    regions);
        }

        /** The same without some components. */
        public PartitionState withoutFiles(Set<Long> fileIds) {
            return new PartitionState(
                    flushedTimestamp,
                    trees.stream()
                            .map(tree -> new TreeState(
                                    tree.tree(),
                                    tree.components().stream()
                                            .filter(c -> !fileIds.contains(c.fileId()))
                                            .toList()))
                            .toList(),
                    regions);
        }

        /** The same with a tree more. */
        public PartitionState with(TreeState tree) {
            List<TreeState> more = new ArrayList<>(trees);
            more.add(tree);
            return new PartitionState(flushedTimestamp, more, regions);
        }

        /** The same without what an index has. */
        public PartitionState without(IndexSchema index) {
            List<TreeId> gone = index.treeIds();
            return new PartitionState(
                    flushedTimestamp,
                    trees.stream().filter(tree -> !gone.contains(tree.tree())).toList(),
                    regions.stream()
                            .filter(region -> !region.tree().equals(index.tree()))
                            .toList());
        }

        /** The same with other regions. */
        public PartitionState withRegions(List<RegionState> replacement) {
            return new PartitionState(flushedTimestamp, trees, replacement);
        }

        /** The same with a region more, or in another state. */
        public PartitionState with(RegionState region) {
            List<RegionState> changed = new ArrayList<>(regions);
            changed.removeIf(other -> other.tree().equals(region.tree()));
            changed.add(region);
            return withRegions(changed);
        }

        /** The region of a tree; null if there is none. */
        public @Nullable RegionState region(TreeId tree) {
            for (RegionState region : regions) {
                if (region.tree().equals(tree)) {
                    return region;
                }
            }
            return null;
        }
    }

    /**
     * A region of a secondary.
     *
     * @param tree of the index in memory layers
     * @param regionId its number, random; in its header, too
     * @param absorbedThrough operations at or below it are in the region; if that is less than the
     *     partition's flushed timestamp, the region is to be built anew
     */
    public record RegionState(TreeId tree, long regionId, long absorbedThrough) {
        public RegionState {
            if (regionId <= 0 || absorbedThrough < 0) {
                throw new IllegalArgumentException(
                        "region %d, absorbed through %d".formatted(regionId, absorbedThrough));
            }
        }

        /** The same with more in it. */
        public RegionState through(long timestamp) {
            return new RegionState(tree, regionId, timestamp);
        }
    }

    /**
     * A tree of a partition.
     *
     * @param tree which it is
     * @param components newest first
     */
    public record TreeState(TreeId tree, List<ComponentState> components) {
        public TreeState {
            components = List.copyOf(components);
        }

        private TreeState withNewest(@Nullable ComponentState newest) {
            if (newest == null) {
                return this;
            }
            List<ComponentState> more = new ArrayList<>();
            more.add(newest);
            more.addAll(components);
            return new TreeState(tree, more);
        }

        private TreeState withComponent(long fileId, UnaryOperator<ComponentState> change) {
            return new TreeState(
                    tree,
                    components.stream()
                            .map(c -> c.fileId() == fileId ? change.apply(c) : c)
                            .toList());
        }

        private TreeState withBitmaps(Map<Long, BitmapState> invalidEntries) {
            return new TreeState(
                    tree,
                    components.stream()
                            .map(c -> c.withRepaired(
                                    c.repairedTimestamp(),
                                    invalidEntries.getOrDefault(c.fileId(), c.invalidEntries())))
                            .toList());
        }

        private TreeState withMerged(List<ComponentState> inputs, ComponentState merged) {
            List<ComponentState> changed = new ArrayList<>(components);
            int first = 0;
            while (changed.get(first).fileId() != inputs.get(0).fileId()) {
                first++;
            }
            ComponentState before = changed.get(first);
            changed.subList(first, first + inputs.size()).clear();
            // the same file with another bitmap is no better than it was
            changed.add(
                    first,
                    before.fileId() == merged.fileId() ? merged.withQuarantineOf(before) : merged);
            return new TreeState(tree, changed);
        }
    }

    /**
     * A component file.
     *
     * @param fileId names the file and stands in its header
     * @param minTimestamp the component ID's first half
     * @param maxTimestamp its second half
     * @param bytes the file's size
     * @param generation 0 as flushed or loaded; a merged component has one more than the highest of
     *     its inputs. So no byte of it was merged more often
     * @param repairedTimestamp up to where its entries were checked against the key trees: one that
     *     was superseded at or below it is invalid. As flushed or loaded it is
     *     {@code maxTimestamp}: within one memory component what is superseded got anti-matter
     * @param invalidEntries which entries are invalid
     * @param quarantine what it was found damaged by, since when it is set aside; empty if it is
     *     sound
     * @param isUntold it is set aside since replay could not tell what the log supersedes of it:
     *     then it stays aside though its file is whole
     */
    public record ComponentState(
            long fileId,
            long minTimestamp,
            long maxTimestamp,
            long bytes,
            int generation,
            long repairedTimestamp,
            BitmapState invalidEntries,
            String quarantine,
            boolean isUntold) {
        public ComponentState {
            // of a manifest too that no writer made: what is wrong is told before a component is
            // opened
            var _ = new ComponentId(minTimestamp, maxTimestamp);
            if (fileId < 0 || bytes < 0 || generation < 0 || repairedTimestamp < 0) {
                throw new IllegalArgumentException(
                        "component %x of %d bytes, generation %d, repaired up to %d"
                                .formatted(fileId, bytes, generation, repairedTimestamp));
            }
            if (isUntold && quarantine.isEmpty()) {
                throw new IllegalArgumentException(
                        "component %x is not set aside, and untold".formatted(fileId));
            }
        }

        /** As flushed or loaded: no entry is invalid, none superseded within it. */
        public static ComponentState fresh(
                long fileId, long minTimestamp, long maxTimestamp, long bytes, int generation) {
            return new ComponentState(
                    fileId,
                    minTimestamp,
                    maxTimestamp,
                    bytes,
                    generation,
                    maxTimestamp,
                    BitmapState.NONE,
                    "",
                    false);
        }

        /** The same, checked up to another timestamp, with other invalid entries. */
        public ComponentState withRepaired(long timestamp, BitmapState changed) {
            return new ComponentState(
                    fileId,
                    minTimestamp,
                    maxTimestamp,
                    bytes,
                    generation,
                    timestamp,
                    changed,
                    quarantine,
                    isUntold);
        }

        /** The same, set aside for {@code cause}; what was untold before stays so. */
        public ComponentState withQuarantine(String cause) {
            return withQuarantine(cause, isUntold);
        }

        /**
         * The same, set aside for {@code cause}, since it was not told what the log supersedes of
         * it.
         */
        public ComponentState withUntold(String cause) {
            return withQuarantine(cause, true);
        }

        /** The same, sound. */
        public ComponentState withoutQuarantine() {
            return withQuarantine("", false);
        }

        /** The same, set aside as another state of its file is. */
        public ComponentState withQuarantineOf(ComponentState other) {
            return withQuarantine(other.quarantine, other.isUntold);
        }

        private ComponentState withQuarantine(String cause, boolean untold) {
            return new ComponentState(
                    fileId,
                    minTimestamp,
                    maxTimestamp,
                    bytes,
                    generation,
                    repairedTimestamp,
                    invalidEntries,
                    cause,
                    untold);
        }

        /** Whether the component covers operations of this timestamp. */
        public boolean covers(long timestamp) {
            return minTimestamp <= timestamp && timestamp <= maxTimestamp;
        }

        /** The file of its invalid entries; 0 if there is none. */
        public long bitmapFileId() {
            return invalidEntries.fileId();
        }
    }

    /**
     * The file of a component's invalid entries.
     *
     * @param fileId names it; 0 if no entry is invalid
     * @param bytes its size
     * @param count invalid entries
     */
    public record BitmapState(long fileId, long bytes, long count) {
        /** No entry is invalid. */
        public static final BitmapState NONE = new BitmapState(0, 0, 0);

        public boolean isNone() {
            return fileId == 0;
        }
    }
}
