package io.turbidite.feeds.health;

import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.Instrument;
import io.turbidite.core.meter.Latency;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.Reading;
import io.turbidite.feeds.flow.FeedMeters;
import io.turbidite.feeds.health.Finding.Unit;
import io.turbidite.lsm.Store;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What of a store's figures gives cause to worry: one table of rules, as {@code docs/metrics.md}
 * has them in words. Static, without state.
 */
public final class Findings {
    /**
     * A rule: above so much is worth a finding.
     *
     * @param metric a figure's name; of a latency, its 99th percentile in nanoseconds
     * @param level {@code "warn"} or {@code "bad"}
     */
    private record Rule(
            String metric, Unit unit, long max, String level, String what, String advice) {}

    /** What an instrument says, and the feed that it is of. */
    private record Figure(long value, @Nullable String feed) {}

    private static final List<Rule> RULES = List.of(
            new Rule(
                    "components.quarantined",
                    Unit.COUNT,
                    0,
                    "bad",
                    "damaged components are set aside",
                    "./turbidite quarantine STORE lists them, and restores them from a backup"),
            new Rule(
                    "background.pauses",
                    Unit.COUNT,
                    0,
                    "bad",
                    "flushes or merges gave up because space or files ran out",
                    "free space on the disk"),
            new Rule(
                    "write.stall.time",
                    Unit.NANOS,
                    100_000_000,
                    "warn",
                    "writers stand still because write memory is full",
                    "give the store more write memory, or a faster disk"),
            new Rule(
                    "deferred.garbage.percent",
                    Unit.PERCENT,
                    30,
                    "warn",
                    "queries of a deferred index fetch obsolete entries in vain",
                    "merge the primary: ./turbidite merge STORE DATASET"),
            new Rule(
                    "sidefile.full",
                    Unit.COUNT,
                    0,
                    "warn",
                    "merges had no memory for their side-files",
                    "give the store more write memory"),
            new Rule(
                    "trash.bytes",
                    Unit.BYTES,
                    0,
                    "warn",
                    "files that no manifest names were put aside",
                    "./turbidite trash STORE lists them; if nothing had crashed, check MANIFEST"
                            + " first"),
            new Rule(
                    "log.refuges",
                    Unit.COUNT,
                    0,
                    "bad",
                    "the log met a full disk and went on in its reserve",
                    "free space on the disk"),
            new Rule(
                    "cache.load",
                    Unit.NANOS,
                    5_000_000,
                    "warn",
                    "reading a page takes long: the device is busy",
                    "give the cache more memory, or spread the load"),
            new Rule(
                    "feed.spill.percent",
                    Unit.PERCENT,
                    90,
                    "warn",
                    "the files that it spills to are nearly full: then its source waits",
                    "raise policy.bytesMax, or mend what makes the store slow"),
            new Rule(
                    "feed.missed",
                    Unit.COUNT,
                    0,
                    "bad",
                    "its source has lost records before they were read",
                    "have the source keep them for longer; the log says which were lost"));

    private Findings() {}

    /**
     * What the figures of a store say since it was opened, and whether it takes writes.
     *
     * @param store open for writing
     */
    public static List<Finding> of(Store store) {
        List<Finding> findings = new ArrayList<>(ofFigures(store));
        Readiness.of(store)
                .ifPresent(why -> findings.add(new Finding(
                        "bad",
                        "the store takes no writes: " + why,
                        null,
                        Unit.COUNT,
                        0,
                        "end the server and start it again")));
        return findings;
    }

    /** What the figures say alone: for a store that is open for reading. */
    public static List<Finding> ofFigures(Store store) {
        return ofFigures(store.meters());
    }

    /** Of instruments of one name the one that gives most cause. */
    static List<Finding> ofFigures(Meters meters) {
        Map<String, Figure> figures = new HashMap<>();
        for (Instrument one : meters.instruments()) {
            long value = switch (one) {
                case Counter counter -> counter.sum();
                case Reading reading -> reading.value();
                case Latency latency -> latency.summary().p99Nanos();
            };
            figures.merge(
                    one.name(),
                    new Figure(value, one.tags().get(FeedMeters.FEED_TAG)),
                    (old, its) -> its.value > old.value ? its : old);
        }
        List<Finding> findings = new ArrayList<>();
        for (Rule rule : RULES) {
            Figure figure = figures.get(rule.metric());
            if (figure != null && figure.value > rule.max()) {
                findings.add(new Finding(
                        rule.level(),
                        figure.feed == null
                                ? rule.what()
                                : "feed %s: %s".formatted(figure.feed, rule.what()),
                        rule.metric(),
                        rule.unit(),
                        figure.value,
                        rule.advice()));
            }
        }
        return findings;
    }

    /** The metrics that have a rule. */
    public static List<String> metrics() {
        return RULES.stream().map(Rule::metric).toList();
    }
}
