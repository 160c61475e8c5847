package io.turbidite.feeds.manage;

import io.turbidite.feeds.FeedReport;
import io.turbidite.feeds.FeedTurns;

import org.jspecify.annotations.Nullable;

import java.util.OptionalLong;

/**
 * What a managed feed counts: of the run that it has, and of all before it. <em>Thread-safe by its
 * lock.</em>
 */
final class FeedCounts {
    // guarded by this
    private Counts before = Counts.NONE;
    private Counts current = Counts.NONE;

    /**
     * Of one run, or of all.
     *
     * @param spillBytes that wait in files
     * @param lagBytes of the source, that were not read
     */
    record Counts(
            long records,
            long rejected,
            long dropped,
            long spilled,
            long spillBytes,
            long bytes,
            OptionalLong lagBytes,
            int workers) {
        private static final Counts NONE = of(OptionalLong.empty(), 0);

        /** Of a run that has not begun: what the one before has left. */
        private static Counts of(OptionalLong lagBytes, long spillBytes) {
            return new Counts(0, 0, 0, 0, spillBytes, 0, lagBytes, 0);
        }

        /** With what a run says of itself. */
        private Counts with(FeedReport report, long waiting) {
            return new Counts(
                    report.records(),
                    report.rejected(),
                    report.dropped(),
                    report.spilled(),
                    waiting,
                    bytes,
                    lagBytes,
                    workers);
        }

        private Counts by(int newWorkers) {
            return new Counts(
                    records, rejected, dropped, spilled, spillBytes, bytes, lagBytes, newWorkers);
        }

        private Counts plus(Counts more) {
            return new Counts(
                    records + more.records,
                    rejected + more.rejected,
                    dropped + more.dropped,
                    spilled + more.spilled,
                    more.spillBytes,
                    bytes + more.bytes,
                    more.lagBytes,
                    more.workers);
        }
    }

    /** All of it. */
    synchronized Counts all() {
        return before.plus(current);
    }

    /** A run begins: what else there is of it is counted a little later. */
    synchronized void begin(FeedTurns run) {
        current = current.by(run.workers());
    }

    /**
     * How far a run is.
     *
     * @param running null while it is being opened
     */
    void count(
            @Nullable FeedTurns running,
            long records,
            long rejected,
            long sourceBytes,
            long sourceBytesTotal) {
        OptionalLong lagBytes = sourceBytesTotal == 0
                ? OptionalLong.empty()
                : OptionalLong.of(Math.max(0, sourceBytesTotal - sourceBytes));
        Counts now = new Counts(
                records,
                rejected,
                running == null ? 0 : running.dropped(),
                running == null ? 0 : running.spilled(),
                running == null ? 0 : running.spillBytes(),
                sourceBytes,
                lagBytes,
                running == null ? 0 : running.workers());
        synchronized (this) {
            current = now;
        }
    }

    /** The run has delivered all that it has read. */
    synchronized void rest(FeedReport report) {
        current = current.with(report, 0);
    }

    /**
     * The run is over.
     *
     * @param ended null if it never came to be
     * @param isOfLetters whether it was one of dead letters: it has no spill, and leaves the feed's
     */
    synchronized void end(@Nullable FeedTurns ended, boolean isOfLetters) {
        if (ended != null) {
            long waiting = isOfLetters ? before.spillBytes : ended.spillBytes();
            before = before.plus(current.with(ended.report(), waiting));
        }
        current = Counts.of(before.lagBytes, before.spillBytes);
    }
}
