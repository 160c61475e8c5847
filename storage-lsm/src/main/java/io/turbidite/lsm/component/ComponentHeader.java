package io.turbidite.lsm.component;

/**
 * Whose a component file is. All of it is checked when the file is opened, so that a stale file, or
 * one of another store or index, is damage and not an answer. <em>Immutable.</em>
 *
 * @param storeId the store's random number
 * @param fileId the file's number in its store, never reused
 * @param datasetId the dataset's number in its store
 * @param partition the partition of the dataset, from 0
 * @param indexId the index's number in its dataset; negative in its deleted-key tree's files
 */
public record ComponentHeader(
        long storeId, long fileId, int datasetId, int partition, int indexId) {
    public ComponentHeader {
        if (fileId < 0 || datasetId < 0 || partition < 0) {
            throw new IllegalArgumentException(
                    "file %d, dataset %d, partition %d".formatted(fileId, datasetId, partition));
        }
    }

    /** Whether it is of a primary, whose entries are the records. */
    boolean isPrimary() {
        return indexId == 0;
    }
}
