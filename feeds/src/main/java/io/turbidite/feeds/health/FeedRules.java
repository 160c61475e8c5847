package io.turbidite.feeds.health;

import io.turbidite.feeds.health.Finding.Unit;

import java.util.List;
import java.util.OptionalLong;

/**
 * Rules of feeds. A feed whose source has an end may use what it gets while it catches up. Static,
 * without state.
 */
final class FeedRules {
    private static final int RETRYING = 4;
    private static final int FAILED = 5;
    private static final String LAG = "feed.lag.bytes";

    private FeedRules() {}

    static final List<Rule> ALL = List.of(
            Rule.bad(
                    "feed.state",
                    new Measure(List.of(), false, FeedRules::trouble),
                    RETRYING - 1,
                    Unit.COUNT,
                    "it has failed (5), or tries again and again (4)",
                    "./turbidite feed status says what it failed of"),
            Rule.warn(
                    "feed.rejected",
                    Measure.grown(),
                    0,
                    Unit.COUNT_A_MINUTE,
                    "records of its source are refused",
                    "./turbidite feed letters says why"),
            Rule.bad(
                    "feed.missed",
                    Measure.now(),
                    0,
                    Unit.COUNT,
                    "its source has lost records before they were read",
                    "have the source keep them for longer; the log says which were lost"),
            Rule.warn(
                    "feed.spill.bytes",
                    Measure.risen(),
                    0,
                    Unit.BYTES_A_MINUTE,
                    "more and more records wait in its files: the feed is behind by them",
                    "mend what makes the store slow"),
            Rule.warn(
                    "feed.spill.percent",
                    Measure.now(),
                    90,
                    Unit.PERCENT,
                    "the files that it spills to are nearly full: then its source waits",
                    "raise policy.bytesMax, or mend what makes the store slow"),
            Rule.warn(
                    "feed.function.time",
                    Measure.percentile("p50"),
                    50_000,
                    Unit.NANOS_MIDDLE,
                    "each record waits for its function",
                    "have the function do less, or give the feed more workers"),
            Rule.warn(
                    LAG,
                    Measure.risen(),
                    1 << 20,
                    Unit.BYTES_A_MINUTE,
                    "it falls behind its source",
                    "feed.wait.nanos and feed.busy.nanos say which stage is too slow"),
            Rule.warn(
                    "feed.lag.records",
                    Measure.risen(),
                    10_000,
                    Unit.COUNT_A_MINUTE,
                    "it falls behind its source",
                    "feed.wait.nanos and feed.busy.nanos say which stage is too slow"),
            Rule.warn(
                    "feed.lag.seconds",
                    Measure.risen(),
                    10,
                    Unit.SECONDS_A_MINUTE,
                    "what it reads becomes older",
                    "feed.wait.nanos and feed.busy.nanos say which stage is too slow"),
            Rule.warn(
                    "feed.producers",
                    Measure.now(),
                    90_000,
                    Unit.COUNT,
                    "it knows nearly as many producers as it may; at 100,000 new ones are refused",
                    "have clients keep their names"),
            Rule.warn(
                    "feed.queue.percent",
                    Measure.least().unlessFalls(LAG),
                    99,
                    Unit.PERCENT,
                    "its queue stays full: the store is the slower stage",
                    "look at the findings of the store, or give it faster storage"),
            Rule.warn(
                            "feed.busy.nanos",
                            new Measure(List.of("feed.workers"), true, FeedRules::busyPercent)
                                    .unlessFalls(LAG),
                            95,
                            Unit.PERCENT,
                            "its workers are always busy reading and parsing",
                            "give it more workers, by parser.workers or policy elastic")
                    .where("stage", "parse"),
            Rule.warn(
                            "feed.busy.nanos",
                            Measure.shareOfTime().unlessFalls(LAG),
                            95,
                            Unit.PERCENT,
                            "its store stage is always busy",
                            "give the store faster storage, or the dataset fewer indexes")
                    .where("stage", "store"),
            Rule.warn(
                            "feed.wait.nanos",
                            new Measure(List.of("feed.workers"), true, FeedRules::busyPercent)
                                    .unlessFalls(LAG),
                            50,
                            Unit.PERCENT,
                            "its workers wait for the store most of the time",
                            "give the store faster storage, or the dataset fewer indexes")
                    .where("cause", "store"),
            Rule.warn(
                    "feed.batch.time",
                    Measure.percentile("p99"),
                    5_000_000_000L,
                    Unit.NANOS,
                    "records take long from the source into the store",
                    "feed.wait.nanos and feed.busy.nanos say which stage is too slow"));

    /** Its state if it failed now, or retried at half of the samples. */
    private static OptionalLong trouble(Minute minute, String own) {
        OptionalLong now = minute.now(own);
        if (now.equals(OptionalLong.of(FAILED))) {
            return now;
        }
        OptionalLong often = minute.middle(own);
        return often.equals(OptionalLong.of(RETRYING)) ? often : OptionalLong.empty();
    }

    /** For how many of a hundred nanoseconds each of its workers counted one. */
    private static OptionalLong busyPercent(Minute minute, String own) {
        long workers = Math.max(1, minute.now("feed.workers").orElse(1));
        return Measure.share(minute.grown(own), OptionalLong.of(minute.nanos() * workers), 1);
    }
}
