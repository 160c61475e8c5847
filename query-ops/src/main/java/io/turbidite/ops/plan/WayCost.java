package io.turbidite.ops.plan;

import io.turbidite.core.scan.ReadView;
import io.turbidite.ops.search.IndexRange;

/**
 * What ways in cost a query. <em>Immutable.</em>
 *
 * @param resultRows about how many records match
 * @param scanRows records that a scan would read
 * @param hasHidden whether the filter passes over layers
 */
record WayCost(CheckedQuery query, long resultRows, long scanRows, boolean hasHidden) {
    /** How probable it is that a limit is not reached. */
    private static final double LIMIT_RISK = 0.05;

    /**
     * The part of the records that is fetched where the newest of each key are wanted: 5 of 25
     * (PERS24 §5.2.3), as nobody knows how many a key has.
     */
    private static final double OF_EACH = 0.2;

    /** The cost of a way in that reads some records or entries. */
    AccessChoice.Costed of(Access access, long rows) {
        boolean stops = stopsByOrder(access);
        // of all entries, which are what was counted, those that are expected to do
        long read = stops
                ? Math.min(rows, Math.max(query.limit(), Math.round(rows * part(access))))
                : rows;
        return new AccessChoice.Costed(access, read, cost(access, rows));
    }

    /** The cost of going through an index in key order. */
    AccessChoice.Costed of(Access.InOrder access, long rows, ReadView view) {
        IndexRange range = access.range();
        double read = rows * Math.min(1, (double) query.limit() / Math.max(1, resultRows));
        if (!isRowEach(access)) {
            read += LIMIT_RISK * (rows - read);
        }
        read += IndexOrder.ties(query, view, range, access.walk(), rows);
        read = Math.min((double) rows, Math.max(read, (double) query.limit()));
        double cost = AccessCost.OPEN
                + AccessCost.entries(range, read)
                + AccessCost.fetches(read, (double) scanRows);
        return new AccessChoice.Costed(access, Math.round(read), cost);
    }

    private double cost(Access access, long rows) {
        double ofRows = switch (access) {
            case Access.Fetch(var range, var ofEach) ->
                AccessCost.entries(range, (double) rows)
                        + AccessCost.fetches(rows * (ofEach ? OF_EACH : 1), (double) scanRows);
            case Access.Entries(var range) ->
                AccessCost.entries(range, (double) rows) + validations(range, (double) rows);
            case Access.Scan _,
                    Access.Get _,
                    Access.Nothing _,
                    Access.InOrder _,
                    Access.JoinedFetch _,
                    Access.JoinedEntries _,
                    Access.Either _ -> rows;
        };
        return AccessCost.OPEN + ofRows * part(access);
    }

    /** Entries of an always valid index are doubtful behind layers that the filter passes over. */
    private double validations(IndexRange range, double rows) {
        return range.index().alwaysValid()
                ? hasHidden ? AccessCost.fetches(rows, (double) scanRows) : 0
                : AccessCost.validations(rows);
    }

    /**
     * How much of the rows is read before there are enough. Where some are read in vain there may
     * be fewer in the end than are wanted, or they may come last: that risk counts, or a scan would
     * look cheap by a limit that it never reaches.
     */
    double part(Access access) {
        boolean stops = stopsByOrder(access);
        boolean inOrder = stops
                || (query.order().isEmpty() && query.near() == null)
                || (access instanceof Access.Scan scan && scan.order().isOrdered());
        boolean stopsEarly = query.kind() == CheckedQuery.Kind.ROWS && query.hasLimit() && inOrder;
        if (!stopsEarly) {
            return 1;
        }
        double part = Math.min(1, (double) query.limit() / Math.max(1, resultRows));
        return stops || isRowEach(access) ? part : part + LIMIT_RISK * (1 - part);
    }

    /** Whether it gives records in the order of the query, as far as they are wanted. */
    private static boolean stopsByOrder(Access access) {
        return access instanceof Access.Fetch fetch && fetch.looksAtRecords();
    }

    /** Whether each record or entry that is read is a row. */
    private boolean isRowEach(Access access) {
        return switch (access) {
            case Access.Fetch(var range, var _) ->
                range.index().alwaysValid()
                        && range.isExact()
                        && query.conditions().isDecidedBy(range.narrowed());
            case Access.InOrder(var range, var _) ->
                range.index().alwaysValid()
                        && range.isExact()
                        && query.conditions().isDecidedBy(range.narrowed());
            case Access.Scan scan -> query.conditions().isDecidedBy(scan.decided());
            case Access.Get _, Access.Nothing _ -> true;
            case Access.Entries _, Access.JoinedFetch _, Access.JoinedEntries _, Access.Either _ ->
                false;
        };
    }
}
