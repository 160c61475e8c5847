package io.turbidite.ops.plan;

import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.ReadView;
import io.turbidite.ops.expr.Alternatives;
import io.turbidite.ops.expr.Conditions;
import io.turbidite.ops.scan.KeyOrder;
import io.turbidite.ops.scan.PrimaryRange;
import io.turbidite.ops.search.IndexRange;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/**
 * The ways in by conditions with {@code or}, each term by the way that costs least for it: a range
 * of the primary key, or a search of an index and a fetch. There is none where one of the terms has
 * neither. Static.
 */
final class EitherWays {
    /** A way in, about how many records it reads, and what it costs but for opening. */
    record Counted(Access.Either access, long rows, double cost) {}

    private EitherWays() {}

    /**
     * All that the conditions of a query give.
     *
     * @param alternatives those of the query
     * @param scanRows records that a scan reads
     */
    static List<Counted> of(
            CheckedQuery query,
            List<Alternatives> alternatives,
            ReadView view,
            List<IndexDescription> indexes,
            double scanRows) {
        List<Counted> ways = new ArrayList<>(alternatives.size());
        for (Alternatives terms : alternatives) {
            Counted way = way(query, terms, view, indexes, scanRows);
            if (way != null) {
                ways.add(way);
            }
        }
        return ways;
    }

    private static @Nullable Counted way(
            CheckedQuery query,
            Alternatives terms,
            ReadView view,
            List<IndexDescription> indexes,
            double scanRows) {
        List<Access> ways = new ArrayList<>(terms.count());
        long rows = 0;
        double cost = 0;
        for (int i = 0; i < terms.count(); i++) {
            Part part = cheapest(query.with(terms.conditions(i)), view, indexes, scanRows);
            if (part == null) {
                return null;
            }
            ways.add(part.access());
            rows += part.rows();
            cost += part.cost();
        }
        return new Counted(new Access.Either(terms, ways), rows, cost);
    }

    private record Part(Access access, long rows, double cost) {}

    private static @Nullable Part cheapest(
            CheckedQuery query, ReadView view, List<IndexDescription> indexes, double scanRows) {
        Conditions conditions = query.conditions();
        if (conditions.contradictory() || conditions.places().areDisjoint()) {
            return new Part(new Access.Nothing("one of the terms leaves no value"), 0, 0);
        }
        FilterPredicate filter = KnownFilter.of(query);
        Part best = null;
        byte[] whole = NarrowedKey.wholeKey(query);
        // what is got by its key has no timestamp to order by
        boolean isInTime = query.order().stream().anyMatch(CheckedQuery.Order::isNewest);
        if (whole != null && !isInTime) {
            return AccessChoice.isTooLong(whole)
                    ? new Part(new Access.Nothing(AccessChoice.TOO_LONG), 0, 0)
                    : new Part(
                            new Access.Get(whole, query.source().primaryKey()),
                            1,
                            AccessCost.fetches(1, scanRows));
        }
        NarrowedKey key = NarrowedKey.of(
                query, query.source().primaryKey(), query.source().keyForm());
        if (key.fieldCount() > 0) {
            PrimaryRange range = new PrimaryRange(key.range(), filter);
            long rows = view.estimateScan(range.keys(), filter);
            best = new Part(
                    new Access.Scan(range, KeyOrder.NONE, List.of()), rows, AccessCost.OPEN + rows);
        }
        for (Access way : IndexWays.of(query, indexes, filter)) {
            if (way instanceof Access.Fetch fetch && !fetch.looksAtRecords()) {
                IndexRange range = fetch.range();
                long rows = view.estimateSearch(range.index().name(), range.search(), filter);
                double cost = AccessCost.OPEN
                        + AccessCost.entries(range, (double) rows)
                        + AccessCost.fetches((double) rows, scanRows);
                if (rows < ReadView.UNREADABLE && (best == null || cost < best.cost())) {
                    best = new Part(fetch, rows, cost);
                }
            }
        }
        return best;
    }
}
