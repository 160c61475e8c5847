package io.turbidite.lsm.version;

import io.turbidite.lsm.schema.DatasetSchema;

import java.util.ArrayList;
import java.util.List;

/**
 * All that a store must know to open: what the manifest file holds. <em>Immutable.</em>
 *
 * @param storeId random; every file of the store carries it
 * @param nextFileId file ids at or above it are unused
 * @param nextDatasetId dataset ids at or above it are unused
 * @param lastTimestamp no timestamp at or below it will be drawn again
 * @param logPosition the log is replayed from here
 * @param datasets in order of creation
 */
public record ManifestState(
        long storeId,
        long nextFileId,
        int nextDatasetId,
        long lastTimestamp,
        long logPosition,
        List<DatasetState> datasets) {
    public ManifestState {
        datasets = List.copyOf(datasets);
    }

    /** A new store. */
    public static ManifestState empty(long storeId) {
        return new ManifestState(storeId, 1, 1, 0, 0, List.of());
    }

    /** The same with a higher next file id. */
    public ManifestState withNextFileId(long fileId) {
        return new ManifestState(
                storeId, fileId, nextDatasetId, lastTimestamp, logPosition, datasets);
    }

    /** The same with a dataset more; its id is the next. */
    public ManifestState withDataset(DatasetState dataset) {
        List<DatasetState> more = new ArrayList<>(datasets);
        more.add(dataset);
        return new ManifestState(
                storeId, nextFileId, dataset.schema().id() + 1, lastTimestamp, logPosition, more);
    }

    /** The same with new highest timestamp and log position. */
    public ManifestState withProgress(long timestamp, long position) {
        return new ManifestState(
                storeId,
                nextFileId,
                nextDatasetId,
                Math.max(timestamp, lastTimestamp),
                Math.max(position, logPosition),
                datasets);
    }

    /**
     * The same for a store of its own that has no log: everything up to {@code timestamp} is in its
     * components.
     */
    public ManifestState withoutLog(long timestamp) {
        return new ManifestState(
                storeId,
                nextFileId,
                nextDatasetId,
                Math.max(timestamp, lastTimestamp),
                0,
                datasets);
    }

    /** The same with a partition replaced. */
    public ManifestState withPartition(int datasetId, int partition, PartitionState replacement) {
        List<DatasetState> changed = new ArrayList<>(datasets);
        for (int i = 0; i < changed.size(); i++) {
            DatasetState dataset = changed.get(i);
            if (dataset.schema().id() == datasetId) {
                List<PartitionState> partitions = new ArrayList<>(dataset.partitions());
                partitions.set(partition, replacement);
                changed.set(i, new DatasetState(dataset.schema(), partitions));
            }
        }
        return new ManifestState(
                storeId, nextFileId, nextDatasetId, lastTimestamp, logPosition, changed);
    }

    /** The state of a partition. */
    public PartitionState partition(int datasetId, int partition) {
        for (DatasetState dataset : datasets) {
            if (dataset.schema().id() == datasetId) {
                return dataset.partitions().get(partition);
            }
        }
        throw new IllegalArgumentException("no dataset " + datasetId);
    }

    /**
     * A dataset and its partitions.
     *
     * @param partitions as many as the schema says
     */
    public record DatasetState(DatasetSchema schema, List<PartitionState> partitions) {
        public DatasetState {
            partitions = List.copyOf(partitions);
        }

        /** A dataset without records. */
        public static DatasetState empty(DatasetSchema schema) {
            List<PartitionState> partitions = new ArrayList<>();
            for (int i = 0; i < schema.partitions(); i++) {
                List<List<ComponentState>> trees = new ArrayList<>();
                for (int tree = 0; tree < schema.treeCount(); tree++) {
                    trees.add(List.of());
                }
                partitions.add(new PartitionState(0, trees));
            }
            return new DatasetState(schema, partitions);
        }
    }

    /**
     * The disk part of a partition.
     *
     * @param flushedTimestamp operations at or below it are in the components: replay passes them over
     * @param trees the components of the primary, then of each secondary in schema order, newest first
     */
    public record PartitionState(long flushedTimestamp, List<List<ComponentState>> trees) {
        public PartitionState {
            trees = trees.stream().map(List::copyOf).toList();
        }
    }

    /**
     * A component file.
     *
     * @param fileId names the file and stands in its header
     * @param minTimestamp the component ID's first half
     * @param maxTimestamp its second half
     * @param bytes the file's size
     * @param generation 0 as flushed or loaded; a merged component has one more than the highest of its
     *     inputs. So no byte of it was merged more often
     */
    public record ComponentState(
            long fileId, long minTimestamp, long maxTimestamp, long bytes, int generation) {}
}
