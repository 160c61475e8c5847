package io.turbidite.feeds.source.parcel;

import io.turbidite.feeds.source.Rejection;

import java.util.List;

/** What became of a {@link Parcel}. <em>Immutable.</em> */
public sealed interface Receipt {
    /**
     * Each of its records is in the dataset, a dead letter, or left out, as durable as the
     * store's mode says.
     *
     * @param accepted are in the dataset by this parcel
     * @param rejected are dead letters by it
     * @param dropped are left out, because the definition of the feed says so
     * @param repeated were taken before, and are passed over
     * @param last the number of the last record that was taken of the producer; without a producer
     *     0
     * @param reasons why the first rejected ones were, up to {@value #REASONS_MAX}, by their lines
     */
    record Taken(
            long accepted,
            long rejected,
            long dropped,
            long repeated,
            long last,
            List<Rejection> reasons)
            implements Receipt {
        public Taken {
            reasons = List.copyOf(reasons);
        }
    }

    /**
     * Nothing of it was taken: records before it are missing.
     *
     * @param expected the number that the next parcel of the producer begins with, or one below it
     */
    record Gap(long expected) implements Receipt {}

    /** Nothing of it was taken: its records can't be told apart, for what {@code why} says. */
    record Malformed(String why) implements Receipt {}

    /** Nothing of it was taken: so much waits already; later it may be. */
    record Full(String why) implements Receipt {}

    /** Nothing of it was taken: the feed has as many producers as it may. */
    record TooManyProducers(int countMax) implements Receipt {}

    /** Nothing of it was taken: the feed does not read now. */
    record Away(String why) implements Receipt {}

    /**
     * The feed ended, or took too long, before all of it was durable. Whoever sends it again does
     * right; without a producer what is durable is taken twice then.
     *
     * @param taken at least so many of its records are durable, the first ones
     */
    record Cut(long taken, String why) implements Receipt {}

    /** The most reasons that are told. */
    int REASONS_MAX = 10;
}
