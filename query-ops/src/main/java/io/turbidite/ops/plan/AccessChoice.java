package io.turbidite.ops.plan;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.NearestName;
import io.turbidite.core.StorageException;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.ops.expr.Alternatives;
import io.turbidite.ops.scan.PrimaryRange;
import io.turbidite.ops.search.IndexRange;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;

/**
 * The ways in to the answer of a query, and the rule that picks one: the cheapest, by these steps.
 *
 * <ol>
 *   <li>Predicates that leave no value of some field, or a limit of 0: nothing is read.
 *   <li>Equalities on all of the primary key: a get.
 *   <li>Else, by cost:
 *       <ul>
 *         <li>with fetch, each R-tree whose field has a window, each inverted index whose field is
 *             asked for its tokens, and each B+-tree whose first field (or first few) has an
 *             equality or range;
 *         <li>with fetch, for the first few rows of an order, the entries of a B+-tree that has it
 *             in key order ({@link IndexOrder});
 *         <li>with fetch, several of these together ({@link JoinChoice}); without, where their
 *             entries say all;
 *         <li>for a condition with {@code or}, each term by its own way ({@link EitherWays});
 *         <li>without fetch, whatever it has predicates on, an index whose entries hold all fields
 *             that a count needs and are always valid;
 *         <li>the primary scan, narrowed by predicates on the first primary key fields and by the
 *             filter.
 *       </ul>
 * </ol>
 *
 * <p>Costs are in records read by a scan ({@link AccessCost}). Where rows are wanted up to a limit
 * and in no order, only the part that fills it counts.
 *
 * <p>Where there is one way in alone nothing is estimated until somebody asks what it was thought
 * to cost, or joins its rows: an estimate goes down the trees of every component, which costs more
 * than a short query. <em>Confined to one thread.</em>
 */
final class AccessChoice {
    /** What a source tells that was closed, dropped or failed since. */
    static final long UNKNOWN_ROWS = -1;

    /** Why nothing is read where {@link #isTooLong}. */
    static final String TOO_LONG = "no primary key is so long";

    /**
     * A way in and its cost.
     *
     * @param rows records or entries that it is expected to read; {@link #UNKNOWN_ROWS}
     */
    record Costed(Access access, long rows, double cost) {}

    /**
     * What was estimated. <em>Immutable.</em>
     *
     * @param chosenRows records or entries that the chosen way in is expected to read
     * @param resultRows matching records, as far as can be told
     * @param choices all ways in with their costs, cheapest first
     */
    record Estimates(long chosenRows, long resultRows, List<Costed> choices) {}

    private final CheckedQuery query;
    private final Access chosen;
    private @Nullable Estimates estimates;

    /** What the matching rows are told from, as long as {@link #estimates} has guesses of them. */
    private @Nullable MatchingRows guessed;

    private AccessChoice(
            CheckedQuery query,
            Access chosen,
            @Nullable Estimates estimates,
            @Nullable MatchingRows guessed) {
        this.query = query;
        this.chosen = chosen;
        this.estimates = estimates;
        this.guessed = guessed;
    }

    /**
     * Chooses.
     *
     * @param wanted see {@link QueryRequest#access}
     * @param maySpill whether what does not fit the memory has somewhere to go
     */
    static AccessChoice of(
            CheckedQuery query, ReadView view, @Nullable String wanted, boolean maySpill) {
        if (query.conditions().contradictory()) {
            return only(query, new Access.Nothing("the predicates leave no value"));
        }
        if (query.conditions().places().areDisjoint()) {
            return only(query, new Access.Nothing("the windows have no place in common"));
        }
        if (query.limit() == 0) {
            return only(query, new Access.Nothing("no row is wanted"));
        }
        byte[] whole = wanted == null ? NarrowedKey.wholeKey(query) : null;
        if (whole != null) {
            return gets(query, whole);
        }
        NarrowedKey key = NarrowedKey.of(
                query, query.source().primaryKey(), query.source().keyForm());
        return cheapest(query, view, wanted, key, maySpill);
    }

    /** The way in. */
    Access chosen() {
        return chosen;
    }

    /** What the ways in were thought to cost; where that did not matter, as it is now. */
    Estimates estimates() {
        Estimates known = estimates;
        if (known == null) {
            known = switch (chosen) {
                case Access.Nothing _ -> exactly(0);
                case Access.Get _ -> exactly(1);
                case Access.Scan scan -> ofScan(scan);
                case Access.Fetch _,
                        Access.InOrder _,
                        Access.Entries _,
                        Access.JoinedFetch _,
                        Access.JoinedEntries _,
                        Access.Either _ ->
                    throw new IllegalStateException(chosen + " was chosen without estimates");
            };
            estimates = known;
        }
        MatchingRows told = guessed;
        if (told != null) {
            guessed = null;
            known = new Estimates(known.chosenRows(), rowsNow(told), known.choices());
            estimates = known;
        }
        return known;
    }

    /** About how many records match, by this view of the source and nothing that is opened. */
    long resultRows(ReadView now) {
        MatchingRows told = guessed;
        Estimates known = estimates;
        if (told != null) {
            return told.told(now).rows();
        }
        if (known == null && chosen instanceof Access.Scan(PrimaryRange range, var _, var _)) {
            long scanRows = now.estimateScan(range.keys(), range.filter());
            return MatchingRows.ofScan(query, scanRows).told(now).rows();
        }
        return estimates().resultRows();
    }

    /** About how many records or entries are read, by this view of the source. */
    long rowsToRead(ReadView now) {
        if (chosen instanceof Access.Scan(PrimaryRange range, var _, var _)) {
            return now.estimateScan(range.keys(), range.filter());
        }
        Estimates known = estimates;
        return (known == null ? estimates() : known).chosenRows();
    }

    private Estimates exactly(long rows) {
        return new Estimates(rows, rows, List.of(new Costed(chosen, rows, rows)));
    }

    /** Of the only way in, a scan: what it would visit now, as its own moment may be over. */
    private Estimates ofScan(Access.Scan scan) {
        long scanRows = UNKNOWN_ROWS;
        long resultRows = UNKNOWN_ROWS;
        try (ReadView now = query.source().openView()) {
            scanRows = now.estimateScan(scan.range().keys(), scan.range().filter());
            resultRows = MatchingRows.ofScan(query, scanRows).told(now).rows();
        } catch (StorageException e) {
            // closed, dropped or failed since: the answer is there, its estimate is not
        }
        WayCost cost = new WayCost(query, Math.max(0, resultRows), scanRows, false);
        return new Estimates(scanRows, resultRows, List.of(cost.of(scan, Math.max(0, scanRows))));
    }

    /** By a look at the source as it is now. */
    private long rowsNow(MatchingRows told) {
        try (ReadView now = query.source().openView()) {
            return told.told(now).rows();
        } catch (StorageException e) {
            return told.guessed().rows();
        }
    }

    /** Whether no record has such a primary key. */
    static boolean isTooLong(byte[] key) {
        return key.length == 0 || key.length > Limits.KEY_BYTES_MAX;
    }

    private static AccessChoice gets(CheckedQuery query, byte[] whole) {
        if (isTooLong(whole)) {
            return only(query, new Access.Nothing(TOO_LONG));
        }
        return only(query, new Access.Get(whole, query.source().primaryKey()));
    }

    /** A way in that nothing is set against. */
    private static AccessChoice only(CheckedQuery query, Access access) {
        return new AccessChoice(query, access, null, null);
    }

    private static AccessChoice cheapest(
            CheckedQuery query,
            ReadView view,
            @Nullable String wanted,
            NarrowedKey key,
            boolean maySpill) {
        FilterPredicate filter = KnownFilter.of(query);
        Access.Scan scan = new Access.Scan(
                new PrimaryRange(key.range(), filter), query.primaryKeyOrder(), key.decided());
        List<IndexDescription> indexes = view.indexes();
        List<Access> others = IndexWays.of(query, indexes, filter);
        List<EitherWays.Counted> eithers = eithers(query, view, wanted, scan, indexes);
        boolean isScan = wanted == null || wanted.equals(QueryRequest.SCAN);
        if (others.isEmpty() && eithers.isEmpty() && isScan) {
            return only(query, scan);
        }
        return choose(query, view, wanted, scan, others, eithers, indexes, maySpill);
    }

    /** None where a scan of all costs less than a fetch for each term, unless one is asked for. */
    private static List<EitherWays.Counted> eithers(
            CheckedQuery query,
            ReadView view,
            @Nullable String wanted,
            Access.Scan scan,
            List<IndexDescription> indexes) {
        // the rows of a query have neither keys nor indexes
        List<Alternatives> alternatives =
                view instanceof PlannedRows ? List.of() : query.conditions().alternatives();
        if (alternatives.isEmpty()) {
            return List.of();
        }
        double scanRows =
                (double) view.estimateScan(scan.range().keys(), scan.range().filter());
        List<Alternatives> cheap = wanted != null
                ? alternatives
                : alternatives.stream()
                        .filter(terms -> terms.count() * AccessCost.FETCH_MIN < scanRows)
                        .toList();
        return EitherWays.of(query, cheap, view, indexes, scanRows);
    }

    private static AccessChoice choose(
            CheckedQuery query,
            ReadView view,
            @Nullable String wanted,
            Access.Scan scan,
            List<Access> others,
            List<EitherWays.Counted> eithers,
            List<IndexDescription> indexes,
            boolean maySpill) {
        FilterPredicate filter = scan.range().filter();
        long scanRows = view.estimateScan(scan.range().keys(), filter);
        List<ResultRows.Counting> countings = new ArrayList<>();
        countings.add(ResultRows.Counting.ofScan(query, scanRows));
        long[] rows = new long[others.size()];
        List<JoinChoice.Counted> joinable = new ArrayList<>(rows.length);
        for (int i = 0; i < rows.length; i++) {
            IndexRange range = range(others.get(i));
            rows[i] = view.estimateSearch(range.index().name(), range.search(), filter);
            Set<String> used = Set.copyOf(range.narrowed());
            countings.add(new ResultRows.Counting(rows[i], used, List.of(range)));
            if (!(others.get(i) instanceof Access.InOrder) && JoinChoice.isJoinable(range)) {
                joinable.add(new JoinChoice.Counted(range, rows[i]));
            }
        }
        List<JoinChoice.Joined> joins = List.of();
        if (joinable.size() > 1) {
            long all = scan.range().keys().isAll()
                    ? scanRows
                    : view.estimateScan(KeyRange.all(), filter);
            JoinChoice join = new JoinChoice(query, joinable, all, maySpill);
            joins = join.joins(wanted);
            for (JoinChoice.Joined joined : joins) {
                countings.add(new ResultRows.Counting(
                        joined.rows(), joined.narrowed(), joined.ranges().ranges()));
            }
        }
        MatchingRows matching = new MatchingRows(query, countings);
        ResultRows result = matching.deciding(view, scan, scanRows);
        boolean hasHidden = others.stream().anyMatch(AccessChoice::isEntriesOfValid)
                && hidesLayers(view, filter);
        WayCost cost = new WayCost(query, result.rows(), scanRows, hasHidden);
        List<Costed> costed = new ArrayList<>();
        costed.add(cost.of(scan, scanRows));
        for (int i = 0; i < rows.length; i++) {
            // a way that stops early is cheap whatever it is over: unreadable ones are none
            if (wanted != null || rows[i] < ReadView.UNREADABLE) {
                costed.add(
                        others.get(i) instanceof Access.InOrder walked
                                ? cost.of(walked, rows[i], view)
                                : cost.of(others.get(i), rows[i]));
            }
        }
        for (JoinChoice.Joined joined : joins) {
            costed.add(new Costed(
                    joined.access(), joined.rows(), joined.cost(cost.part(joined.access()))));
        }
        for (EitherWays.Counted either : eithers) {
            costed.add(new Costed(
                    either.access(),
                    either.rows(),
                    AccessCost.OPEN + either.cost() * cost.part(either.access())));
        }
        costed.sort(Comparator.comparingDouble(Costed::cost));
        Costed chosen = wanted == null ? costed.getFirst() : find(query, wanted, costed, indexes);
        return new AccessChoice(
                query,
                chosen.access(),
                new Estimates(chosen.rows(), result.rows(), List.copyOf(costed)),
                result.guessCount() == 0 ? null : matching);
    }

    private static boolean isEntriesOfValid(Access access) {
        return access instanceof Access.Entries(var range) && range.index().alwaysValid();
    }

    /** Whether the filter passes over some layer, with what it would say of those below. */
    private static boolean hidesLayers(ReadView view, FilterPredicate filter) {
        return !filter.isNone()
                && view.estimateScan(KeyRange.all(), filter)
                        < view.estimateScan(KeyRange.all(), FilterPredicate.none());
    }

    private static IndexRange range(Access access) {
        return switch (access) {
            case Access.Fetch(IndexRange range, boolean _) -> range;
            case Access.InOrder(IndexRange range, var _) -> range;
            case Access.Entries(IndexRange range) -> range;
            case Access.Scan _,
                    Access.Get _,
                    Access.Nothing _,
                    Access.JoinedFetch _,
                    Access.JoinedEntries _,
                    Access.Either _ ->
                throw new IllegalStateException(access + " is no search of one index");
        };
    }

    private static Costed find(
            CheckedQuery query,
            String wanted,
            List<Costed> costed,
            List<IndexDescription> indexes) {
        for (Costed way : costed) {
            boolean found = switch (way.access()) {
                case Access.Scan _ -> wanted.equals(QueryRequest.SCAN);
                case Access.Fetch(var range, var _) ->
                    wanted.equals(range.index().name());
                case Access.InOrder(var range, var _) ->
                    wanted.equals(range.index().name());
                case Access.Entries(var range) -> wanted.equals(range.index().name());
                case Access.JoinedFetch(var ranges) -> JoinChoice.isNamed(ranges, wanted);
                case Access.JoinedEntries(var ranges) -> JoinChoice.isNamed(ranges, wanted);
                case Access.Either either -> wanted.equals(either.name());
                case Access.Get _, Access.Nothing _ -> false;
            };
            if (found) {
                return way;
            }
        }
        List<String> names = indexes.stream().map(IndexDescription::name).toList();
        boolean isEither = wanted.contains(QueryRequest.OR);
        for (String name : wanted.split(isEither ? QueryRequest.OR : QueryRequest.AND, -1)) {
            if (!names.contains(name) && !(isEither && name.equals(Access.Either.PRIMARY))) {
                throw new InvalidRequestException("there is no index '%s' on %s; there are %s%s"
                        .formatted(
                                name, query.source().name(), names, NearestName.hint(name, names)));
            }
        }
        if (isEither) {
            throw new InvalidRequestException(
                    "no condition with 'or' of this query has terms that are read by %s"
                            .formatted(wanted));
        }
        throw new InvalidRequestException(
                wanted.contains(QueryRequest.AND)
                        ? "one of the indexes %s has no equality or range on its first field in this query, and no window, distance, word or other token"
                                .formatted(wanted)
                        : "index '%s' has no equality or range on its first field in this query, and no window, distance, word or other token"
                                .formatted(wanted));
    }
}
