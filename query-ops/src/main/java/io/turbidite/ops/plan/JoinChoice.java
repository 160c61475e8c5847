package io.turbidite.ops.plan;

import io.turbidite.core.geo.SpatialKind;
import io.turbidite.core.scan.IndexSearch;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.TermSearch;
import io.turbidite.core.text.TextQuery;
import io.turbidite.core.text.Tokenizer;
import io.turbidite.ops.expr.Predicate;
import io.turbidite.ops.intersect.JoinedRanges;
import io.turbidite.ops.search.IndexRange;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Which indexes of a query are asked together before a record is fetched.
 *
 * <p>The index with fewest entries is first. Another one joins only while reading its entries costs
 * less than the fetches it is expected to save ({@link CommonRows}). Where the entries of all of
 * them say what the query asks, nothing is fetched. <em>Confined to one thread.</em>
 */
final class JoinChoice {
    /** A leaping search is read whole if the others have more than so many times its entries. */
    private static final int FEWER_TO_BE_FIRST = 3;

    /** Records are needed. */
    private static final int NOT_BY_ENTRIES = -2;

    /** A search and about how many entries it has. */
    record Counted(IndexRange range, long rows) {}

    /**
     * Searches that are joined.
     *
     * @param access reads their records, or their entries alone
     * @param rows candidates that they are expected to have in common
     * @param before what is read before the first of them is known
     * @param after what is read for all of them
     */
    record Joined(Access access, JoinedRanges ranges, long rows, double before, double after) {
        /**
         * @param part of the candidates that are needed
         */
        double cost(double part) {
            return before + after * part;
        }

        /** Fields that the searches go by. */
        Set<String> narrowed() {
            Set<String> fields = new HashSet<>();
            ranges.ranges().forEach(range -> fields.addAll(range.narrowed()));
            return fields;
        }
    }

    private final CheckedQuery query;
    private final List<Counted> fewestFirst;
    private final long all;
    private final boolean maySpill;

    /**
     * @param all about how many records there are
     * @param maySpill whether candidates that do not fit the memory have somewhere to go
     */
    JoinChoice(CheckedQuery query, List<Counted> counted, long all, boolean maySpill) {
        this.query = query;
        this.fewestFirst =
                counted.stream().sorted(Comparator.comparingLong(Counted::rows)).toList();
        this.all = all;
        this.maySpill = maySpill;
    }

    /** Whether a search leaves candidates out, and gives none that another search may lack. */
    static boolean isJoinable(IndexRange range) {
        return (range.search() instanceof IndexSearch.Spatial
                        && !(range.search() instanceof IndexSearch.Nearest))
                || range.search() instanceof TermSearch
                || (range.search() instanceof KeyRange keys && !keys.isAll());
    }

    static boolean isNamed(JoinedRanges ranges, String wanted) {
        return namesOf(wanted)
                .equals(Set.copyOf(ranges.ranges().stream()
                        .map(range -> range.index().name())
                        .toList()));
    }

    private static Set<String> namesOf(String wanted) {
        return Set.copyOf(new HashSet<>(Arrays.asList(wanted.split(QueryRequest.AND))));
    }

    /**
     * Those worth considering, or the one that was asked for.
     *
     * @param wanted see {@link QueryRequest#access}
     */
    List<Joined> joins(@Nullable String wanted) {
        List<Joined> joins = new ArrayList<>();
        if (wanted != null && wanted.contains(QueryRequest.AND)) {
            Set<String> names = namesOf(wanted);
            List<Counted> named = fewestFirst.stream()
                    .filter(counted -> names.contains(counted.range().index().name()))
                    .toList();
            if (named.size() > 1) {
                joins.add(joined(named));
            }
            return joins;
        }
        List<Counted> chosen = new ArrayList<>(List.of(fewestFirst.getFirst()));
        double left = (double) fewestFirst.getFirst().rows();
        CommonRows known = new CommonRows(fewestFirst.getFirst(), all);
        for (Counted next : fewestFirst.subList(1, fewestFirst.size())) {
            double common = known.with(next);
            double cost =
                    AccessCost.next(next.range(), (double) next.rows(), left, common, (double) all);
            if (cost < AccessCost.fetches(left - common, (double) all)) {
                chosen.add(next);
                joins.add(joined(chosen));
                known.add(next);
                left = common;
            }
        }
        Joined together = joined(fewestFirst);
        if (together.access() instanceof Access.JoinedEntries
                && chosen.size() < fewestFirst.size()) {
            joins.add(together);
        }
        return joins;
    }

    /**
     * A search that leaps need not be read whole: it comes behind those that must be, unless it has
     * so few entries that it is worth knowing them first.
     */
    private static List<Counted> inOrderOfReading(List<Counted> fewestFirst) {
        Optional<Counted> sorted = fewestFirst.stream()
                .filter(counted -> !JoinedRanges.isInKeyOrder(counted.range()))
                .findFirst();
        if (sorted.isEmpty()
                || fewestFirst.getFirst().rows() < sorted.get().rows() / FEWER_TO_BE_FIRST) {
            return fewestFirst;
        }
        List<Counted> ordered = new ArrayList<>(fewestFirst);
        ordered.sort(Comparator.comparing(counted -> JoinedRanges.isInKeyOrder(counted.range())));
        return ordered;
    }

    private Joined joined(List<Counted> some) {
        List<Counted> counted = inOrderOfReading(some);
        List<IndexRange> ranges = counted.stream().map(Counted::range).toList();
        List<Long> estimated = counted.stream().map(Counted::rows).toList();
        boolean isLeaping = ranges.stream().allMatch(JoinedRanges::isInKeyOrder);
        IndexRange first = ranges.getFirst();
        double left = (double) counted.getFirst().rows();
        double before = isLeaping
                ? AccessCost.OPEN + AccessCost.entries(first, left)
                : AccessCost.first(first, left);
        CommonRows known = new CommonRows(counted.getFirst(), all);
        for (Counted next : counted.subList(1, counted.size())) {
            double common = known.add(next);
            before +=
                    AccessCost.next(next.range(), (double) next.rows(), left, common, (double) all);
            left = common;
        }
        long rows = Math.round(left);
        int shown = shown(ranges);
        if (shown != NOT_BY_ENTRIES && (maySpill || isLeaping)) {
            JoinedRanges joined = new JoinedRanges(ranges, estimated, true, shown);
            if (joined.isExact()) {
                double checked = joined.isByTimestamp() ? AccessCost.validations(left) : 0;
                return new Joined(new Access.JoinedEntries(joined), joined, rows, before, checked);
            }
        }
        JoinedRanges joined = new JoinedRanges(ranges, estimated, false, JoinedRanges.NONE);
        double fetches = AccessCost.fetches(left, (double) all);
        return isLeaping
                ? new Joined(new Access.JoinedFetch(joined), joined, rows, 0, before + fetches)
                : new Joined(new Access.JoinedFetch(joined), joined, rows, before, fetches);
    }

    /**
     * Which of the searches has entries that, together with what all of them have in common, say
     * what the query asks.
     *
     * @return {@link JoinedRanges#NONE} where any will do; {@link #NOT_BY_ENTRIES} if there is none
     */
    private int shown(List<IndexRange> ranges) {
        if (query.kind() == CheckedQuery.Kind.ROWS
                || query.kind() == CheckedQuery.Kind.AGGREGATES
                || query.conditions().testCount() > 0) {
            return NOT_BY_ENTRIES;
        }
        if (query.kind() == CheckedQuery.Kind.COUNT && isDecided(ranges, null)) {
            return JoinedRanges.NONE;
        }
        for (int i = 0; i < ranges.size(); i++) {
            if (says(ranges.get(i)) && isDecided(ranges, ranges.get(i))) {
                return i;
            }
        }
        return NOT_BY_ENTRIES;
    }

    /** Whether entries of a search have what is counted by. */
    private boolean says(IndexRange range) {
        return switch (query.kind()) {
            case ROWS, AGGREGATES -> false;
            case COUNT -> isOfFields(range);
            case GROUPS ->
                isOfFields(range)
                        && query.fields().stream()
                                .map(field -> query.type().field(field).name())
                                .allMatch(name -> hasField(range, name));
            case CELLS -> query.type().field(query.cellField()).name().equals(range.windowed());
        };
    }

    private static boolean isOfFields(IndexRange range) {
        return range.index().kind().hasRanges() && !range.index().multiValued();
    }

    private boolean hasField(IndexRange range, String name) {
        return range.index().fields().contains(name)
                || query.source().primaryKey().contains(name);
    }

    /** Whether every predicate holds of what all searches have in common. */
    private boolean isDecided(List<IndexRange> ranges, @Nullable IndexRange shown) {
        for (Predicate predicate : query.conditions().predicates()) {
            String field = predicate.field();
            boolean isDecided = switch (predicate) {
                case Predicate.Eq _, Predicate.Range _ ->
                    (shown != null && isOfFields(shown) && hasField(shown, field))
                            || ranges.stream()
                                    .anyMatch(range -> range.search() instanceof KeyRange
                                            && range.isExact()
                                            && range.narrowed().contains(field)
                                            && (!range.index().multiValued() || count(field) == 1));
                case Predicate.Across _ -> false;
                case Predicate.Within _ -> ranges.stream().anyMatch(range -> isWhole(range, field));
                case Predicate.Distance _ ->
                    count(field) == 1
                            && ranges.stream().anyMatch(range -> field.equals(range.windowed()));
                case Predicate.Contains(var _, String words) ->
                    ranges.stream()
                            .anyMatch(range -> TextChoice.says(
                                    range, field, new TextQuery.All(Tokenizer.WORD, words)));
                case Predicate.Matches(var _, TextQuery asked) ->
                    ranges.stream().anyMatch(range -> TextChoice.says(range, field, asked));
            };
            if (!isDecided) {
                return false;
            }
        }
        return true;
    }

    /** A point in all windows is in what they have in common; a rectangle may not meet it. */
    private boolean isWhole(IndexRange range, String field) {
        if (!field.equals(range.windowed())
                || !(range.search() instanceof IndexSearch.Window(var kind, var _))) {
            return false;
        }
        return kind == SpatialKind.POINT || count(field) == 1;
    }

    /** Predicates on a field. */
    private long count(String field) {
        return query.conditions().predicates().stream()
                .filter(predicate -> predicate.field().equals(field))
                .count();
    }
}
