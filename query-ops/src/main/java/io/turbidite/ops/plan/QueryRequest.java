package io.turbidite.ops.plan;

import io.turbidite.core.expr.Expression;
import io.turbidite.core.geo.Metric;
import io.turbidite.core.geo.Place;
import io.turbidite.core.text.TextQuery;
import io.turbidite.ops.aggregate.Aggregate;
import io.turbidite.ops.expr.Predicate;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/**
 * A query as it was asked, not yet checked against a source. <em>Immutable.</em>
 *
 * @param predicates all must hold
 * @param where conditions; all of them must hold too
 * @param select fields to return; empty: the whole record
 * @param count whether only the number of records is wanted
 * @param groupBy fields to count by; empty: none
 * @param cells grid to count by, if any
 * @param aggregates what rows have of each group, or of all records; empty: counts
 * @param order what to order rows by, first decides
 * @param near place to order rows from, the nearest first, if any
 * @param limit most rows to return
 * @param access the way in that was asked for: {@link #SCAN}, the name of an index, or those of
 *     several with {@link #AND} between them; null: the cheapest
 */
public record QueryRequest(
        List<Predicate> predicates,
        List<Expression> where,
        List<String> select,
        boolean count,
        List<String> groupBy,
        @Nullable Cells cells,
        List<Aggregate> aggregates,
        List<OrderBy> order,
        @Nullable Near near,
        long limit,
        @Nullable String access) {
    /** The {@link #access} that reads the primary index; no index has this name. */
    public static final String SCAN = "*scan*";

    private static final String NEWEST_FIELD = "";

    /** Stands between names of indexes; no index has it in its name. */
    public static final String AND = " and ";

    /** As {@link #AND}, where each of them, or the primary index, reads a part of the records. */
    public static final String OR = " or ";

    /** The {@link #limit} of a query without one. */
    public static final long NO_LIMIT = Long.MAX_VALUE;

    /**
     * One thing to order by.
     *
     * @param field empty: by the timestamp of the record's version
     * @param nullsAbove whether null is above all values, and not below them
     * @param tokens counts how many of its tokens the field's text has; null: by the field's value
     * @param each of the newest first: most records that are equal in what is ordered by before; 0:
     *     all of them
     */
    public record OrderBy(
            String field,
            boolean descending,
            boolean nullsAbove,
            @Nullable TextQuery tokens,
            int each) {
        /** By the field's value. */
        public OrderBy(String field, boolean descending) {
            this(field, descending, null);
        }

        /** With null below all values. */
        public OrderBy(String field, boolean descending, @Nullable TextQuery tokens) {
            this(field, descending, false, tokens, 0);
        }

        /** By the timestamp of the record's version, descending. */
        public static OrderBy newest() {
            return new OrderBy(NEWEST_FIELD, true, null);
        }

        /** The same, of which the first few of each group alone are wanted. */
        public static OrderBy newestOfEach(int each) {
            return new OrderBy(NEWEST_FIELD, true, false, null, each);
        }

        /** Whether it is {@link #newest}. */
        public boolean isNewest() {
            return field.isEmpty();
        }
    }

    /** A grid over a point field. */
    public record Cells(String field, double dx, double dy) {}

    /** A place to order by the distance from, in the measure of the field's type. */
    public record Near(String field, double x, double y) {
        public Near {
            var _ = new Place(Metric.PLANE, x, y);
        }
    }

    /** A request that orders by fields, or not at all, and has no aggregates. */
    public QueryRequest(
            List<Predicate> predicates,
            List<Expression> where,
            List<String> select,
            boolean count,
            List<String> groupBy,
            @Nullable Cells cells,
            List<OrderBy> order,
            long limit,
            @Nullable String access) {
        this(
                predicates,
                where,
                select,
                count,
                groupBy,
                cells,
                List.of(),
                order,
                null,
                limit,
                access);
    }

    public QueryRequest {
        predicates = List.copyOf(predicates);
        where = List.copyOf(where);
        select = List.copyOf(select);
        groupBy = List.copyOf(groupBy);
        aggregates = List.copyOf(aggregates);
        order = List.copyOf(order);
    }

    /** Whether rows are groups, and their counts or aggregates. */
    public boolean grouped() {
        return !groupBy.isEmpty() || cells != null;
    }

    /** The aggregates, with the count before them where it is asked for too. */
    List<Aggregate> allAggregates() {
        if (!count || aggregates.isEmpty()) {
            return aggregates;
        }
        List<Aggregate> all = new ArrayList<>(List.of(Aggregate.count()));
        all.addAll(aggregates);
        return all;
    }
}
