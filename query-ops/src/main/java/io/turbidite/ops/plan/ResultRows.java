package io.turbidite.ops.plan;

import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.IndexSearch;
import io.turbidite.core.text.TextQuery;
import io.turbidite.core.text.Tokenizer;
import io.turbidite.ops.expr.Predicate;
import io.turbidite.ops.search.IndexRange;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * About how many records match: what a way in counted for the predicates it goes by, times the
 * share of each other one. <em>Immutable.</em>
 *
 * @param guessCount predicates and conditions that were not counted
 */
record ResultRows(long rows, int guessCount) {
    /**
     * What a way in counted.
     *
     * @param accountedFor fields whose equalities and ranges the way in goes by
     * @param ranges what it searches, perhaps by windows or by words
     */
    record Counting(long rows, Set<String> accountedFor, List<IndexRange> ranges) {
        /** A scan goes by the primary key and by the filter. */
        static Counting ofScan(CheckedQuery query, long scanRows) {
            Set<String> known = new HashSet<>(query.source().primaryKey());
            known.addAll(query.source().filterFields());
            return new Counting(scanRows, known, List.of());
        }
    }

    /** What several ways in say together. */
    static ResultRows of(CheckedQuery query, List<Counting> countings, Shares shares) {
        ResultRows best = of(query, countings.getFirst(), shares);
        for (int i = 1; i < countings.size(); i++) {
            best = best.better(of(query, countings.get(i), shares));
        }
        return best;
    }

    private static ResultRows of(CheckedQuery query, Counting counting, Shares shares) {
        double part = 1;
        double least = 1;
        int guessCount = 0;
        List<Predicate> predicates = query.conditions().predicates();
        boolean isCounted = false;
        for (int i = 0; i < predicates.size(); i++) {
            Predicate predicate = predicates.get(i);
            if (!isCounted(predicate, counting.accountedFor(), counting.ranges())) {
                guessCount++;
                double share = shares.ofPredicate(i, predicate);
                part *= share;
                least = Math.min(least, share);
            } else {
                isCounted = true;
                if (Shares.isLikeness(predicate)) {
                    guessCount++;
                    part *= Shares.SIMILAR;
                }
            }
        }
        int testCount = query.conditions().testCount();
        for (int i = 0; i < testCount; i++) {
            double share = shares.ofTest(i);
            part *= share;
            least = Math.min(least, share);
        }
        // the rarest condition counts in full, unless the way in goes by another one
        double first = isCounted ? 1 : least;
        part = first * Math.pow(part / first, shares.dependence());
        return new ResultRows(Math.round(counting.rows() * part), guessCount + testCount);
    }

    private static boolean isCounted(
            Predicate predicate, Set<String> accountedFor, List<IndexRange> ranges) {
        String field = predicate.field();
        return switch (predicate) {
            case Predicate.Eq _, Predicate.Range _ ->
                accountedFor.contains(field)
                        && (ranges.isEmpty()
                                || ranges.stream()
                                        .anyMatch(range -> range.index().kind()
                                                        != IndexDescription.Kind.INVERTED
                                                && range.narrowed().contains(field)));
            case Predicate.Within _, Predicate.Across _ ->
                ranges.stream()
                        .anyMatch(range -> (range.search() instanceof IndexSearch.Window
                                        || range.search() instanceof IndexSearch.SphericWindow)
                                && field.equals(range.windowed()));
            case Predicate.Distance _ ->
                ranges.stream()
                        .anyMatch(range -> range.search() instanceof IndexSearch.Around
                                && field.equals(range.windowed()));
            case Predicate.Contains(var _, String words) ->
                isSearched(ranges, field, new TextQuery.All(Tokenizer.WORD, words));
            case Predicate.Matches(var _, TextQuery asked) -> isSearched(ranges, field, asked);
        };
    }

    private static boolean isSearched(List<IndexRange> ranges, String field, TextQuery asked) {
        return ranges.stream().anyMatch(range -> TextChoice.goesBy(range, field, asked));
    }

    /** Who guesses less knows more; among equals the smaller one, since all conditions hold. */
    private ResultRows better(ResultRows other) {
        if (other.guessCount != guessCount) {
            return other.guessCount < guessCount ? other : this;
        }
        return other.rows < rows ? other : this;
    }
}
