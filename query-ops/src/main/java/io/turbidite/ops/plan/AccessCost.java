package io.turbidite.ops.plan;

import io.turbidite.core.scan.IndexDescription;
import io.turbidite.ops.intersect.JoinedRanges;
import io.turbidite.ops.search.IndexRange;

/**
 * What the steps of a query cost, in records that a scan reads and a range refuses: CPU time with
 * all pages in the cache. What each step costs is calibrated ({@link CostStep}); how many steps a
 * way takes is here. Decision 0087 has the ground.
 */
final class AccessCost {
    static final double OPEN = CostStep.OPEN.units();

    private static final double BTREE_ENTRY = CostStep.BTREE_ENTRY.units();
    private static final double RTREE_ENTRY = CostStep.RTREE_ENTRY.units();
    private static final double TERM_ENTRY = CostStep.WORD_ENTRY.units();

    private static final double VALIDATION = CostStep.VALIDATION.units();

    private static final double FETCH = CostStep.FETCH.units();

    private static final double FETCH_RECORDS = 10_000;

    private static final double FETCH_OF_TEN_TIMES = CostStep.FETCH_TENFOLD.units();

    /** The least that a fetch costs. */
    static final double FETCH_MIN = CostStep.FETCH_LEAST.units();

    /** Of as many records as this, or more, two are often on one page. */
    private static final double SHARE_DENSE = 0.1;

    /** The part that this saves, of a fetch among a hundred thousand records. */
    private static final double DENSE_SAVES =
            Math.clamp(1 - CostStep.FETCH_DENSE.units() / (FETCH + FETCH_OF_TEN_TIMES), 0, 0.9);

    private static final double PROBE = CostStep.PROBED.units();

    private static final double KEEP = CostStep.KEPT.units();

    private static final double BUILT_ROW = CostStep.JOIN_HELD.units();

    private static final double PROBED_ROW = CostStep.JOIN_PROBED.units();

    private static final double JOINED_ROW = CostStep.JOIN_PAIR.units();

    private AccessCost() {}

    static double entries(IndexRange range, double count) {
        IndexDescription.Kind kind = range.index().kind();
        return count
                * switch (kind) {
                    case BTREE, PM -> BTREE_ENTRY;
                    case RTREE -> RTREE_ENTRY;
                    case INVERTED -> TERM_ENTRY;
                };
    }

    /**
     * Fetching records by their keys, sorted.
     *
     * @param of about how many there are
     */
    static double fetches(double count, double of) {
        double each = Math.max(
                FETCH_MIN,
                FETCH + FETCH_OF_TEN_TIMES * Math.log10(Math.max(1, of) / FETCH_RECORDS));
        double share = Math.min(1, count / Math.max(1, of) / SHARE_DENSE);
        return count * each * (1 - DENSE_SAVES * share);
    }

    /**
     * Reading records by an index of some values.
     *
     * @param values that are searched for
     * @param count records that have one
     * @param of about how many there are
     */
    static double byKeys(double values, double count, double of) {
        return values * OPEN + count * BTREE_ENTRY + fetches(count, of);
    }

    /**
     * A hash join, beside its sides.
     *
     * @param held rows that are put into the table
     * @param tried rows that are looked up in it, or pairs where nothing must be equal
     * @param given pairs that it makes rows of
     */
    static double join(double held, double tried, double given) {
        return held * BUILT_ROW + tried * PROBED_ROW + given * JOINED_ROW;
    }

    static double validations(double count) {
        return count * VALIDATION;
    }

    /** Reading all candidates of the first of several indexes. */
    static double first(IndexRange range, double count) {
        return OPEN + entries(range, count) + count * KEEP;
    }

    /**
     * Asking one more index.
     *
     * @param count entries that it has
     * @param candidates that are left of those before
     * @param common of both
     * @param of about how many records there are
     */
    static double next(
            IndexRange range, double count, double candidates, double common, double of) {
        double read = entries(range, count);
        // a leap is a search, as a fetch is
        return OPEN
                + (JoinedRanges.isInKeyOrder(range)
                        ? Math.min(read, fetches(candidates, of))
                        : read + count * PROBE + common * KEEP);
    }
}
