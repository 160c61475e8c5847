package io.turbidite.feeds.flow;

/**
 * How long a thread has been at work, told also while it is. <em>Written by that thread, read by
 * any</em>: a reader may miss what was just ended, and finds it the next time.
 */
final class BusyTime {
    private static final long AT_REST = Long.MIN_VALUE;

    /** Of the thread. */
    private long totalNanos;

    private volatile long endedNanos;
    private volatile long sinceNanos = AT_REST;

    void begins(long now) {
        sinceNanos = now;
    }

    void ends(long now) {
        totalNanos += nanosSince(sinceNanos, now);
        sinceNanos = AT_REST; // first: nothing is to be counted twice
        endedNanos = totalNanos;
    }

    /** What was begun turns out to have been waiting. */
    void forget() {
        sinceNanos = AT_REST;
    }

    /** In all. */
    long nanos(long now) {
        long ended = endedNanos; // first, for the same reason
        return ended + nanosSince(sinceNanos, now);
    }

    /** Of what is under way alone. */
    long underWayNanos(long now) {
        return nanosSince(sinceNanos, now);
    }

    private static long nanosSince(long since, long now) {
        return since == AT_REST ? 0 : Math.max(0, now - since);
    }
}
