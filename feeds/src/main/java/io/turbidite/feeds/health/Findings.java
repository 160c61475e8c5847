package io.turbidite.feeds.health;

import io.turbidite.core.meter.Meters;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.health.Finding.Unit;
import io.turbidite.lsm.Store;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What of a store's figures gives cause to worry: one table of rules, as {@code docs/metrics.md}
 * has them in words, by rooms: {@link StoreRules}, {@link MemoryRules}, {@link FeedRules}, {@link
 * WebRules}. Static, without state.
 */
public final class Findings {
    private static final List<Rule> RULES = Stream.of(
                    StoreRules.ALL, MemoryRules.ALL, FeedRules.ALL, WebRules.ALL)
            .flatMap(Collection::stream)
            .toList();

    /** All figures that rules look at. */
    static final Moment.Names OF_NOW = names(figure -> true);

    /** Those that a sample keeps: percentiles are of the last minute anyway. */
    static final Moment.Names OF_MINUTE =
            names(figure -> !figure.endsWith(":p50") && !figure.endsWith(":p99"));

    private Findings() {}

    private static Moment.Names names(Predicate<String> which) {
        return new Moment.Names(RULES.stream()
                .flatMap(rule -> rule.figures().stream())
                .filter(which)
                .collect(Collectors.toSet()));
    }

    /**
     * What the figures of a store say, those of the server that serves it too, and whether it takes
     * writes.
     *
     * @param store open for writing
     */
    public static List<Finding> of(Store store) {
        return of(store, true, feed -> true);
    }

    /**
     * What of them somebody may see.
     *
     * @param seesServer whether figures of the server as a whole are for them
     * @param seesFeed which feeds are
     */
    public static List<Finding> of(Store store, boolean seesServer, Predicate<String> seesFeed) {
        List<Finding> findings =
                new ArrayList<>(ofFigures(store.meters(), nowNanos(store), seesServer, seesFeed));
        Readiness.of(store)
                .ifPresent(why -> findings.add(new Finding(
                        "bad",
                        "the store takes no writes: " + why,
                        null,
                        Unit.COUNT,
                        0,
                        why.startsWith(Readiness.NO_SPACE)
                                ? "make space on the disk; the store goes on by itself"
                                : "end the server and start it again")));
        return findings;
    }

    /** What the figures say alone: for a store that is open for reading. */
    public static List<Finding> ofFigures(Store store) {
        return ofFigures(store.meters(), nowNanos(store));
    }

    private static long nowNanos(Store store) {
        Clock clock = store.environment().clock();
        return clock.monotonicNanos();
    }

    static List<Finding> ofFigures(Meters meters, long nowNanos) {
        return ofFigures(meters, nowNanos, true, feed -> true);
    }

    static List<Finding> ofFigures(
            Meters meters, long nowNanos, boolean seesServer, Predicate<String> seesFeed) {
        Minute minute = StoreWatch.of(meters).minute(nowNanos);
        List<Finding> findings = new ArrayList<>();
        for (Rule rule : RULES) {
            if (!seesServer && WebRules.ALL.contains(rule)) {
                continue;
            }
            Finding worst = worst(rule, minute, seesFeed);
            if (worst != null) {
                findings.add(worst);
            }
        }
        return findings;
    }

    /** Of all feeds the one that gives most cause. */
    private static @Nullable Finding worst(Rule rule, Minute minute, Predicate<String> seesFeed) {
        Finding worst = null;
        for (String feed : minute.now().feedsOf(rule.figure())) {
            if (!feed.equals(Moment.NO_FEED) && !seesFeed.test(feed)) {
                continue;
            }
            OptionalLong figure = rule.broken(new Minute(minute.before(), minute.now(), feed));
            if (figure.isPresent()
                    && (worst == null || rule.isBelow() == figure.getAsLong() < worst.figure())) {
                worst = new Finding(
                        rule.level(),
                        feed.equals(Moment.NO_FEED)
                                ? rule.what()
                                : "feed %s: %s".formatted(feed, rule.what()),
                        rule.metric(),
                        rule.unit(),
                        figure.getAsLong(),
                        rule.advice());
            }
        }
        return worst;
    }

    /** The metrics that have a rule. */
    public static List<String> metrics() {
        return namesOf(rule -> true);
    }

    /** Those of which files alone say nothing: a process that works with the store does. */
    public static List<String> metricsOfServers() {
        return namesOf(rule -> !rule.isOfFiles());
    }

    /** Those that wait for a minute of a server; none if it is whole. */
    public static List<String> metricsThatWait(Store store) {
        return StoreWatch.of(store.meters()).isWhole(nowNanos(store))
                ? List.of()
                : namesOf(rule -> rule.measure().ofMinute());
    }

    private static List<String> namesOf(Predicate<Rule> which) {
        return RULES.stream().filter(which).map(Rule::metric).distinct().toList();
    }
}
