package io.turbidite.feeds.flow;

/**
 * How many parse workers a run has. A decision alone: it knows neither clocks nor threads.
 * <em>Confined to the thread of the run.</em>
 */
public interface WorkerPolicy {
    /** What becomes of the workers. */
    enum Change {
        /** There is one more. */
        ADD,
        KEEP,
        /** There is one less. */
        TAKE
    }

    /** With how many a run begins, and the fewest that it has; at least 1. */
    int workersMin();

    /** The most that it has. */
    int workersMax();

    /** How often it is to be asked. */
    long everyNanos();

    /**
     * Decides. What it says is done.
     *
     * @param busyNanos of each worker that there is, how long it was at work since it was last
     *     asked about
     * @param mayAdd whether there are partitions for one more
     * @param nanos the time, by a clock that never goes back
     */
    Change decide(long[] busyNanos, boolean mayAdd, long nanos);

    /** So many at any time. */
    static WorkerPolicy fixed(int count) {
        return new WorkerPolicy() {
            @Override
            public int workersMin() {
                return count;
            }

            @Override
            public int workersMax() {
                return count;
            }

            @Override
            public long everyNanos() {
                return Long.MAX_VALUE;
            }

            @Override
            public Change decide(long[] busyNanos, boolean mayAdd, long nanos) {
                return Change.KEEP;
            }
        };
    }
}
