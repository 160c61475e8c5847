package io.turbidite.ops.plan;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeyForm;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.ops.expr.FieldRange;
import io.turbidite.ops.expr.Predicate;
import io.turbidite.ops.scan.PrimaryRange;
import io.turbidite.ops.search.IndexRange;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The ways in to the answer of a query, and the rule that picks one: the cheapest, by these steps.
 *
 * <ol>
 *   <li>Predicates that leave no value of some field, or a limit of 0: nothing is read.
 *   <li>Equalities on all of the primary key: a get.
 *   <li>Else each B+-tree index of which the first field (or first few) has an equality or range, with
 *       fetch; without fetch, and then whatever it has predicates on, where entries hold all fields that
 *       a count needs and are always valid; and the primary scan, narrowed by predicates on the first
 *       primary key fields and by the filter.
 * </ol>
 *
 * <p>Costs are in records read by a scan. The weights say that an entry of an index costs a quarter of a
 * record, and a fetched record four (LUO19 Figure 12 has a secondary index win up to 10 to 20 % of the
 * records with batched lookups). Where rows are wanted up to a limit and in no order, only the part that
 * fills it counts. <em>Immutable.</em>
 *
 * @param chosen the way in
 * @param resultRows matching records, as far as can be told
 * @param choices all ways in with their costs, cheapest first
 */
record AccessChoice(Access chosen, long resultRows, List<Costed> choices) {
    private static final double ENTRY_COST = 0.25;
    private static final double FETCH_COST = 4;

    /** A look at the key trees for an entry that may be obsolete. */
    private static final double VALIDATION_COST = 0.75;

    /** Opening cursors on the components of an index or of the primary index. */
    private static final double OPEN_COST = 10;

    /** A way in and its cost. */
    record Costed(Access access, double cost) {}

    static AccessChoice of(CheckedQuery query, ReadView view, @Nullable String wanted) {
        if (query.conditions().contradictory()) {
            return only(new Access.Nothing("the predicates leave no value"), 0);
        }
        if (query.limit() == 0) {
            return only(new Access.Nothing("no row is wanted"), 0);
        }
        Narrowed key = narrow(query, query.source().primaryKey(), query.source().keyForm());
        if (key.whole() && !QueryRequest.SCAN.equals(wanted)) {
            return gets(query, view, wanted, key);
        }
        return cheapest(query, view, wanted, key);
    }

    private static AccessChoice gets(
            CheckedQuery query, ReadView view, @Nullable String wanted, Narrowed key) {
        if (wanted != null) {
            return cheapest(query, view, wanted, key);
        }
        Slice low = key.range().low();
        if (low == null || low.length() > Limits.KEY_BYTES_MAX) {
            return only(new Access.Nothing("no primary key is so long"), 0);
        }
        return only(new Access.Get(low), 1);
    }

    private static AccessChoice only(Access access, long rows) {
        return new AccessChoice(access, rows, List.of(new Costed(access, rows)));
    }

    private static AccessChoice cheapest(
            CheckedQuery query, ReadView view, @Nullable String wanted, Narrowed key) {
        FilterPredicate filter = filter(query);
        PrimaryRange range = new PrimaryRange(key.range(), filter);
        long scanRows = view.estimateScan(range.keys(), filter);
        List<Access> ways = new ArrayList<>();
        ways.add(new Access.Scan(range, query.primaryKeyOrder(), scanRows));
        Set<String> known = new LinkedHashSet<>(query.source().primaryKey());
        known.addAll(query.source().filterFields());
        Estimate result = Estimate.of(query, scanRows, known);
        List<IndexDescription> indexes = view.indexes();
        for (IndexDescription index : indexes) {
            Narrowed narrowed = narrow(query, index.fields(), index.keyForm());
            boolean entriesDo = entriesSuffice(query, index);
            if (index.kind() == IndexDescription.Kind.BTREE
                    && (narrowed.fieldCount() > 0 || entriesDo)) {
                long rows = view.estimateSearch(index.name(), narrowed.range(), filter);
                IndexRange searched = new IndexRange(index, narrowed.range(), filter);
                ways.add(
                        entriesDo
                                ? new Access.Entries(searched, rows)
                                : new Access.Fetch(searched, rows));
                Set<String> used =
                        new LinkedHashSet<>(index.fields().subList(0, narrowed.fieldCount()));
                result = result.better(Estimate.of(query, rows, used));
            }
        }
        return choose(query, wanted, ways, result.rows(), indexes);
    }

    private static AccessChoice choose(
            CheckedQuery query,
            @Nullable String wanted,
            List<Access> ways,
            long resultRows,
            List<IndexDescription> indexes) {
        List<Costed> costed = new ArrayList<>();
        for (Access access : ways) {
            costed.add(new Costed(access, cost(query, access, resultRows)));
        }
        costed.sort(Comparator.comparingDouble(Costed::cost));
        Access chosen =
                wanted == null ? costed.getFirst().access() : find(query, wanted, costed, indexes);
        return new AccessChoice(chosen, resultRows, List.copyOf(costed));
    }

    private static double cost(CheckedQuery query, Access access, long resultRows) {
        double perRow = switch (access) {
            case Access.Fetch _ -> ENTRY_COST + FETCH_COST;
            case Access.Entries(var range, var _) ->
                range.index().alwaysValid() ? ENTRY_COST : ENTRY_COST + VALIDATION_COST;
            case Access.Scan _, Access.Get _, Access.Nothing _ -> 1;
        };
        boolean inOrder = query.order().isEmpty()
                || (access instanceof Access.Scan scan && scan.order().isOrdered());
        boolean stopsEarly = query.kind() == CheckedQuery.Kind.ROWS && query.hasLimit() && inOrder;
        double part =
                stopsEarly ? Math.min(1, (double) query.limit() / Math.max(1, resultRows)) : 1;
        return OPEN_COST + access.estimatedRows() * perRow * part;
    }

    private static Access find(
            CheckedQuery query,
            String wanted,
            List<Costed> costed,
            List<IndexDescription> indexes) {
        for (Costed way : costed) {
            boolean found = switch (way.access()) {
                case Access.Scan _ -> wanted.equals(QueryRequest.SCAN);
                case Access.Fetch(var range, var _) ->
                    wanted.equals(range.index().name());
                case Access.Entries(var range, var _) ->
                    wanted.equals(range.index().name());
                case Access.Get _, Access.Nothing _ -> false;
            };
            if (found) {
                return way.access();
            }
        }
        List<String> names = indexes.stream().map(IndexDescription::name).toList();
        throw new InvalidRequestException(
                names.contains(wanted)
                        ? "index '%s' has no equality or range on its first field in this query"
                                .formatted(wanted)
                        : "there is no index '%s' on %s; there are %s"
                                .formatted(wanted, query.source().name(), names));
    }

    /**
     * What equalities and ranges leave of a composite key.
     *
     * @param fieldCount how many of the first fields took part
     * @param whole whether all fields have one value each
     */
    private record Narrowed(KeyRange range, int fieldCount, boolean whole) {}

    private static Narrowed narrow(CheckedQuery query, List<String> fields, KeyForm form) {
        ByteSink prefix = new ByteSink(64, Integer.MAX_VALUE - 8);
        for (int i = 0; i < fields.size(); i++) {
            FieldRange wanted = query.conditions().range(query.type().indexOf(fields.get(i)));
            if (wanted == null) {
                return new Narrowed(startingWith(prefix), i, false);
            }
            FieldRange range = wanted.in(form);
            byte[] single = range.single();
            if (single == null) {
                return new Narrowed(behind(prefix, range.range()), i + 1, false);
            }
            prefix.putBytes(single);
        }
        return new Narrowed(startingWith(prefix), fields.size(), true);
    }

    private static KeyRange startingWith(ByteSink prefix) {
        return prefix.length() == 0 ? KeyRange.all() : KeyRange.startingWith(bytes(prefix));
    }

    /** The range of a last field, behind the values of those before it. */
    private static KeyRange behind(ByteSink prefix, KeyRange range) {
        byte[] before = bytes(prefix);
        int length = prefix.length();
        Slice low = range.low();
        Slice high = range.high();
        byte[] from = before;
        if (low != null) {
            from = bytes(prefix.putBytes(low));
            prefix.truncate(length);
        }
        byte[] to = length == 0 ? null : KeyRange.successor(before);
        if (high != null) {
            to = bytes(prefix.putBytes(high));
            prefix.truncate(length);
        }
        return KeyRange.of(from, to);
    }

    private static byte[] bytes(ByteSink sink) {
        return sink.asSlice(new Slice()).toByteArray();
    }

    /** What the query knows of the filter fields. */
    private static FilterPredicate filter(CheckedQuery query) {
        List<KeyRange> ranges = new ArrayList<>();
        for (String name : query.source().filterFields()) {
            FieldRange range = query.conditions().range(query.type().indexOf(name));
            // minimum and maximum say nothing of absent values
            ranges.add(
                    range == null || range.absent()
                            ? KeyRange.all()
                            : range.in(query.source().keyForm()).range());
        }
        FilterPredicate filter = new FilterPredicate(ranges);
        return filter.isNone() ? FilterPredicate.none() : filter;
    }

    /** Whether entries of the index can answer the query without the records. */
    private static boolean entriesSuffice(CheckedQuery query, IndexDescription index) {
        boolean counts =
                query.kind() == CheckedQuery.Kind.COUNT || query.kind() == CheckedQuery.Kind.GROUPS;
        if (!counts || !query.conditions().onlyRanges()) {
            return false;
        }
        for (int field : query.fieldsNeeded()) {
            String name = query.type().field(field).name();
            if (!index.fields().contains(name) && !query.source().primaryKey().contains(name)) {
                return false;
            }
        }
        return true;
    }

    /**
     * How many records match: what a way in counted for the fields it goes by, times a guess for each predicate on
     * another field, since there are no statistics yet.
     */
    private record Estimate(long rows, int guessCount) {
        static Estimate of(CheckedQuery query, long counted, Set<String> accountedFor) {
            double part = 1;
            int guessCount = 0;
            for (Predicate predicate : query.conditions().predicates()) {
                boolean ranged =
                        predicate instanceof Predicate.Eq || predicate instanceof Predicate.Range;
                if (!ranged || !accountedFor.contains(predicate.field())) {
                    guessCount++;
                    part *= switch (predicate) {
                        case Predicate.Eq _ -> 0.05;
                        case Predicate.Range _ -> 0.3;
                        case Predicate.Within _, Predicate.Contains _ -> 0.1;
                    };
                }
            }
            return new Estimate(Math.round(counted * part), guessCount);
        }

        /** Who guesses less knows more; among equals the smaller one, since all conditions hold. */
        Estimate better(Estimate other) {
            if (other.guessCount != guessCount) {
                return other.guessCount < guessCount ? other : this;
            }
            return other.rows < rows ? other : this;
        }
    }
}
