package io.turbidite.ops.plan;

import io.turbidite.core.scan.IndexDescription;
import io.turbidite.ops.intersect.JoinedRanges;
import io.turbidite.ops.search.IndexRange;

/**
 * What the steps of a query cost, in records that a scan reads and a range refuses: CPU time with
 * all pages in the cache, as {@code ./turbidite bench plans} measures it. Decision 0087 has the
 * figures.
 */
final class AccessCost {
    /** Opening cursors on the components of an index or of the primary index. */
    static final double OPEN = 10;

    private static final double BTREE_ENTRY = 0.5;
    private static final double RTREE_ENTRY = 0.7;
    private static final double TERM_ENTRY = 0.4;

    /** A look at the key trees for an entry that may be obsolete. */
    private static final double VALIDATION = 2;

    /** Fetching one of ten thousand records. */
    private static final double FETCH = 6;

    private static final double FETCH_RECORDS = 10_000;

    /** How much more it is of ten times as many: fewer of them are in the processor's caches. */
    private static final double FETCH_OF_TEN_TIMES = 5;

    private static final double FETCH_MIN = 4;

    /** Of as many records as this, or more, two are often on one page: that saves a third. */
    private static final double SHARE_DENSE = 0.1;

    private static final double DENSE_SAVES = 0.35;

    /** Looking a primary key up among those that another index has. */
    private static final double PROBE = 0.5;

    /** Keeping a candidate until other indexes were asked. */
    private static final double KEEP = 1.3;

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
