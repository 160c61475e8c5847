package io.turbidite.feeds.flow;

import io.turbidite.core.InvalidRequestException;

/**
 * As many parse workers as there is work for. The <em>load</em> is the sum of the shares of time in
 * which the workers were busy: 1.5 is the work of one and a half.
 *
 * <ol>
 *   <li>One comes when the workers were busy for {@value #HIGH_SHARE} of their time, in each of
 *       three seconds.
 *   <li>One goes when the others would be busy for {@value #LOW_SHARE} of theirs, in each of ten
 *       seconds.
 *   <li>For five seconds behind a change nothing counts: partitions move, and what waited meanwhile
 *       is caught up with.
 *   <li>There are at most two changes in any sixty seconds.
 * </ol>
 *
 * <p>A constant load leads to a number that stays. A worker that came at {@code n} of them has
 * found a load of at least {@code 0.9 n}, and would go at {@code 0.7 n}; one that went has left at
 * most {@code 0.7 n} to {@code n}, and another would come at {@code 0.9 n}. Where more workers do
 * not get more done, as where the processors are all in use, those that there are stay busy, and
 * none goes.
 */
public final class ElasticPolicy implements WorkerPolicy {
    static final double HIGH_SHARE = 0.9;
    static final double LOW_SHARE = 0.7;

    private static final long SECOND = 1_000_000_000;
    private static final long ADD_NANOS = 3 * SECOND;
    private static final long TAKE_NANOS = 10 * SECOND;
    private static final long SETTLE_NANOS = 5 * SECOND;
    private static final long WINDOW_NANOS = 60 * SECOND;

    private final int workersMin;
    private final int workersMax;
    private boolean hasBegun;
    private long askedNanos;
    private int changeCount;

    /** Of the last change, and of the one before. */
    private long changedNanos;

    private long changedBeforeNanos;

    /** For how long the load has been so high, or so low. */
    private long highNanos;

    private long lowNanos;

    /**
     * A policy between bounds.
     *
     * @param workersMin at least 1
     * @param workersMax more than that
     */
    public ElasticPolicy(int workersMin, int workersMax) {
        if (workersMin < 1 || workersMax <= workersMin) {
            throw new InvalidRequestException(
                    "%d to %d are no bounds of workers: the first is at least 1, the second above it"
                            .formatted(workersMin, workersMax));
        }
        this.workersMin = workersMin;
        this.workersMax = workersMax;
    }

    @Override
    public int workersMin() {
        return workersMin;
    }

    @Override
    public int workersMax() {
        return workersMax;
    }

    @Override
    public long everyNanos() {
        return SECOND;
    }

    @Override
    public Change decide(long[] busyNanos, boolean mayAdd, long nanos) {
        long elapsed = nanos - askedNanos;
        askedNanos = nanos;
        if (!hasBegun || elapsed <= 0) {
            hasBegun = true;
            return Change.KEEP;
        }
        int count = busyNanos.length;
        double load = 0;
        for (long busy : busyNanos) {
            load += (double) Math.min(busy, elapsed) / elapsed;
        }
        boolean isSettled = changeCount == 0 || nanos - changedNanos > SETTLE_NANOS;
        highNanos = isSettled && load >= HIGH_SHARE * count ? highNanos + elapsed : 0;
        lowNanos = isSettled && load <= LOW_SHARE * (count - 1) ? lowNanos + elapsed : 0;
        if (highNanos >= ADD_NANOS && mayAdd && count < workersMax && mayChange(nanos)) {
            return changes(Change.ADD, nanos);
        }
        if (lowNanos >= TAKE_NANOS && count > workersMin && mayChange(nanos)) {
            return changes(Change.TAKE, nanos);
        }
        return Change.KEEP;
    }

    private boolean mayChange(long nanos) {
        return changeCount < 2 || nanos - changedBeforeNanos > WINDOW_NANOS;
    }

    private Change changes(Change change, long nanos) {
        changeCount++;
        changedBeforeNanos = changedNanos;
        changedNanos = nanos;
        highNanos = 0;
        lowNanos = 0;
        return change;
    }
}
