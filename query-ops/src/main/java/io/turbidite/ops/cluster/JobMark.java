package io.turbidite.ops.cluster;

/**
 * For which cluster a job was made, and as of when, for one of its nodes. What the numbers mean is
 * the business of whoever keeps the cluster's log of changes. <em>Immutable.</em>
 *
 * @param clusterId the cluster's
 * @param epoch of the controller; the later is the greater
 * @param process of the controller, a random number
 * @param registration of the node, in the epoch
 * @param number of the last change that the controller had
 */
public record JobMark(long clusterId, long epoch, long process, long registration, long number) {
    private static final int COUNT = 5;

    /** As it travels. */
    long[] toNumbers() {
        return new long[] {clusterId, epoch, process, registration, number};
    }

    /** Reads {@link #toNumbers}. */
    static JobMark ofNumbers(long[] numbers) {
        if (numbers.length != COUNT) {
            throw new IllegalArgumentException(
                    "a mark has %d numbers, and these are %d".formatted(COUNT, numbers.length));
        }
        return new JobMark(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]);
    }
}
