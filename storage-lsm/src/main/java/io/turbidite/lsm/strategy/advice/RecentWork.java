package io.turbidite.lsm.strategy.advice;

/**
 * What was done lately with an index under auto: each count loses half of its weight in {@value
 * #HALF_LIFE_SECONDS} s, so that a decision follows a workload within minutes and forgets a burst
 * as fast. It is fed from totals that go up, at whatever moments; the first ones are where counting
 * begins.
 *
 * <p><em>Confined to one thread at a time.</em>
 */
public final class RecentWork {
    static final long HALF_LIFE_SECONDS = 60;
    private static final double HALF_LIFE_NANOS = HALF_LIFE_SECONDS * 1e9;

    /**
     * What has been counted until now.
     *
     * @param writes that were flushed
     * @param updates of these that took the place of something; an estimate, which may go back: it
     *     is taken to stand still then
     * @param paidPages that queries read for obsolete entries
     */
    public record Totals(long writes, long updates, long paidPages) {}

    private Totals seen;
    private long seenNanos;
    private double writes;
    private double updates;
    private double paidPages;
    private double mergePages;

    /** Nothing was done yet. */
    public RecentWork(Totals start, long nowNanos) {
        this.seen = start;
        this.seenNanos = nowNanos;
    }

    /**
     * Goes on to other totals.
     *
     * @param mergePagesPerWrite that merges read to check the entries of a write, over its whole
     *     life
     * @return pages that queries have paid since the last look
     */
    public long advance(Totals now, double mergePagesPerWrite, long nowNanos) {
        double left = Math.pow(0.5, (nowNanos - seenNanos) / HALF_LIFE_NANOS);
        long written = now.writes() - seen.writes();
        long updated = Math.max(0, now.updates() - seen.updates());
        long paid = now.paidPages() - seen.paidPages();
        writes = writes * left + written;
        updates = updates * left + updated;
        paidPages = paidPages * left + paid;
        mergePages = mergePages * left + written * mergePagesPerWrite;
        seen = new Totals(now.writes(), seen.updates() + updated, now.paidPages());
        seenNanos = nowNanos;
        return paid;
    }

    /** What that comes to. */
    public RepairEvidence.Recent evidence() {
        return new RepairEvidence.Recent(writes, updates, paidPages, mergePages);
    }
}
