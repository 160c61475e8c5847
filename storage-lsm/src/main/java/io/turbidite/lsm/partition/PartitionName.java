package io.turbidite.lsm.partition;

/** How events call a partition. <em>Immutable.</em> */
public record PartitionName(String dataset, int number) {
    @Override
    public String toString() {
        return "partition %d of %s".formatted(number, dataset);
    }
}
