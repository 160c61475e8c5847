package io.turbidite.ops.plan;

import io.turbidite.core.scan.IndexDescription;
import io.turbidite.ops.intersect.JoinedRanges;
import io.turbidite.ops.search.IndexRange;

/**
 * What the steps of a query cost, in records that a scan reads: CPU time with all pages in the
 * cache, as {@code PlannerCosts} of the benchmarks measures it.
 */
final class AccessCost {
    /** Opening cursors on the components of an index or of the primary index. */
    static final double OPEN = 10;

    private static final double BTREE_ENTRY = 0.25;
    private static final double RTREE_ENTRY = 0.25;
    private static final double TERM_ENTRY = 0.25;
    private static final double FETCH = 4;

    /** A look at the key trees for an entry that may be obsolete. */
    private static final double VALIDATION = 0.75;

    /** Looking a primary key up among those that another index has. */
    private static final double PROBE = 0.1;

    /** Keeping a candidate and sorting it. */
    private static final double SORT = 0.5;

    /** Leaping to a primary key behind one secondary key. */
    private static final double SEEK = 4;

    private AccessCost() {}

    static double entries(IndexRange range, double count) {
        IndexDescription.Kind kind = range.index().kind();
        return count
                * switch (kind) {
                    case BTREE -> BTREE_ENTRY;
                    case RTREE -> RTREE_ENTRY;
                    case INVERTED -> TERM_ENTRY;
                };
    }

    static double fetches(double count) {
        return count * FETCH;
    }

    static double validations(double count) {
        return count * VALIDATION;
    }

    /** Reading all candidates of the first of several indexes. */
    static double first(IndexRange range, double count) {
        return OPEN + entries(range, count) + count * SORT;
    }

    /**
     * Asking one more index.
     *
     * @param count entries that it has
     * @param candidates that are left of those before
     * @param common of both
     */
    static double next(IndexRange range, double count, double candidates, double common) {
        double read = entries(range, count);
        return OPEN
                + (JoinedRanges.isInKeyOrder(range)
                        ? Math.min(read, candidates * SEEK)
                        : read + count * PROBE + common * SORT);
    }
}
