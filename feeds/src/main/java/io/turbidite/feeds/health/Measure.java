package io.turbidite.feeds.health;

import java.util.List;
import java.util.OptionalLong;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;

/**
 * How a rule reads its figure off a minute. <em>Immutable.</em>
 *
 * @param part of a latency, that it reads; empty: none
 * @param others names of figures that it reads beside the rule's own
 * @param ofMinute whether it needs a whole minute; otherwise what is now is enough
 */
record Measure(String part, List<String> others, boolean ofMinute, Read read) {
    Measure(List<String> others, boolean ofMinute, Read read) {
        this("", others, ofMinute, read);
    }

    /** Reads a figure; empty if there is none to judge. */
    interface Read {
        OptionalLong of(Minute minute, String own);
    }

    /** What it is now. */
    static Measure now() {
        return new Measure(List.of(), false, Minute::now);
    }

    /** The least that it was in the minute: it stayed above that. */
    static Measure least() {
        return ofMinute(Minute::least);
    }

    /** What half of the samples were above: it is often that much. */
    static Measure middle() {
        return ofMinute(Minute::middle);
    }

    /** How much it grew in the minute. */
    static Measure grown() {
        return ofMinute(Minute::grown);
    }

    /** How much it grew in the minute, if it never stopped growing. */
    static Measure risen() {
        return ofMinute(Minute::risen);
    }

    /** Its percentile of the last minute in nanoseconds. */
    static Measure percentile(String part) {
        return new Measure(Moment.PART_MARK + part, List.of(), false, Minute::now);
    }

    /** How many of a hundred of {@code whole} it is. */
    static Measure shareOf(String whole) {
        return new Measure(
                List.of(whole),
                false,
                (minute, own) -> share(minute.now(own), minute.now(whole), 1));
    }

    /** How many of a hundred of {@code whole}, which is constant, it was at least in the minute. */
    static Measure leastShareOf(String whole) {
        return new Measure(
                List.of(whole),
                true,
                (minute, own) -> share(minute.least(own), minute.now(whole), 1));
    }

    /**
     * How much it grew for a hundred by which {@code other} grew.
     *
     * @param least by which the other must have grown to be judged
     */
    static Measure grownFor(String other, long least) {
        return new Measure(
                List.of(other),
                true,
                (minute, own) -> share(minute.grown(own), minute.grown(other), least));
    }

    /** For how many of a hundred nanoseconds of the minute it counted one. */
    static Measure shareOfTime() {
        return new Measure(
                List.of(),
                true,
                (minute, own) -> share(minute.grown(own), OptionalLong.of(minute.nanos()), 1));
    }

    /** The same while {@code falling}, if it is there, doesn't fall. */
    Measure unlessFalls(String falling) {
        return new Measure(
                plus(falling),
                true,
                (minute, own) -> minute.grown(falling).orElse(0) < 0
                        ? OptionalLong.empty()
                        : read.of(minute, own));
    }

    /** The same while {@code growing} has grown. */
    Measure whileGrows(String growing) {
        return new Measure(
                plus(growing),
                true,
                (minute, own) -> minute.grown(growing).orElse(0) > 0
                        ? read.of(minute, own)
                        : OptionalLong.empty());
    }

    /** One that is computed of several figures of a minute. */
    static Measure computed(List<String> others, ToLongFunction<Minute> figure) {
        return new Measure(
                others,
                true,
                (minute, own) -> minute.isWhole()
                        ? OptionalLong.of(figure.applyAsLong(minute))
                        : OptionalLong.empty());
    }

    static OptionalLong share(OptionalLong part, OptionalLong whole, long least) {
        return part.isEmpty() || whole.isEmpty() || whole.getAsLong() < Math.max(1, least)
                ? OptionalLong.empty()
                : OptionalLong.of(Math.round(100.0 * part.getAsLong() / whole.getAsLong()));
    }

    private static Measure ofMinute(Read read) {
        return new Measure(List.of(), true, read);
    }

    private List<String> plus(String other) {
        return Stream.concat(others.stream(), Stream.of(other)).toList();
    }
}
