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
 * About how many records match: what a way in counted for the predicates it goes by, times a guess
 * for each other one, unless {@link SampledShare} has looked. <em>Immutable.</em>
 *
 * @param guessCount predicates and conditions that were guessed
 */
record ResultRows(long rows, int guessCount) {
    private static final double EQUAL = 0.05;
    private static final double IN_RANGE = 0.3;
    private static final double IN_PLACE_OR_TEXT = 0.1;

    /** Of the texts that have enough grams in common with one, those that are like it. */
    private static final double SIMILAR = 0.1;

    private static final double CONDITION = 0.5;

    /** A scan goes by the primary key and by the filter. */
    static ResultRows ofScan(CheckedQuery query, long scanRows) {
        Set<String> known = new HashSet<>(query.source().primaryKey());
        known.addAll(query.source().filterFields());
        return of(query, scanRows, known, List.of());
    }

    /**
     * @param accountedFor fields whose equalities and ranges the way in goes by
     * @param ranges what it searches, perhaps by windows or by words
     */
    static ResultRows of(
            CheckedQuery query, long counted, Set<String> accountedFor, List<IndexRange> ranges) {
        double part = 1;
        int guessCount = 0;
        for (Predicate predicate : query.conditions().predicates()) {
            if (!isCounted(predicate, accountedFor, ranges)) {
                guessCount++;
                part *= guess(predicate);
            } else if (isLikeness(predicate)) {
                guessCount++;
                part *= SIMILAR;
            }
        }
        int testCount = query.conditions().testCount();
        return new ResultRows(
                Math.round(counted * part * Math.pow(CONDITION, testCount)),
                guessCount + testCount);
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

    /** Whether an index gives more than a few texts that do not match. */
    private static boolean isLikeness(Predicate predicate) {
        return predicate instanceof Predicate.Matches(var _, TextQuery asked)
                && (asked instanceof TextQuery.Jaccard || asked instanceof TextQuery.Distance);
    }

    private static double guess(Predicate predicate) {
        return switch (predicate) {
            case Predicate.Eq _ -> EQUAL;
            case Predicate.Range _ -> IN_RANGE;
            case Predicate.Within _,
                    Predicate.Across _,
                    Predicate.Distance _,
                    Predicate.Contains _,
                    Predicate.Matches _ ->
                isLikeness(predicate) ? SIMILAR * SIMILAR : IN_PLACE_OR_TEXT;
        };
    }

    /** Who guesses less knows more; among equals the smaller one, since all conditions hold. */
    ResultRows better(ResultRows other) {
        if (other.guessCount != guessCount) {
            return other.guessCount < guessCount ? other : this;
        }
        return other.rows < rows ? other : this;
    }
}
