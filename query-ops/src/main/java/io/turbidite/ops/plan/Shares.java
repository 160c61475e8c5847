package io.turbidite.ops.plan;

import io.turbidite.core.text.TextQuery;
import io.turbidite.ops.expr.Predicate;

/** Which share of the records each part of a query's conditions lets through. */
interface Shares {
    /** Where nothing is known: the same share for all of a sort. */
    Shares GUESSED = new Shares() {
        @Override
        public double ofPredicate(int index, Predicate predicate) {
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

        @Override
        public double ofTest(int index) {
            return CONDITION;
        }

        @Override
        public double dependence() {
            return 1;
        }
    };

    /** The share of a guessed equality. */
    double EQUAL = 0.05;

    /** Of a range. */
    double IN_RANGE = 0.3;

    /** Of a window, a distance, words. */
    double IN_PLACE_OR_TEXT = 0.1;

    /** Of the texts that have enough grams in common with one, those that are like it. */
    double SIMILAR = 0.1;

    /** Of any other condition. */
    double CONDITION = 0.5;

    /**
     * The share of one predicate alone, 0 to 1.
     *
     * @param index among the predicates of the query
     */
    double ofPredicate(int index, Predicate predicate);

    /**
     * The share of one condition alone that is no predicate.
     *
     * @param index among these
     */
    double ofTest(int index);

    /**
     * To what power a share is taken that comes on top of another: 1 where conditions are taken to
     * be independent, 0 if each was to follow from the others.
     */
    double dependence();

    /** Whether an index gives more than a few texts that do not match. */
    static boolean isLikeness(Predicate predicate) {
        return predicate instanceof Predicate.Matches(var _, TextQuery asked)
                && (asked instanceof TextQuery.Jaccard || asked instanceof TextQuery.Distance);
    }
}
