package io.turbidite.feeds.web;

import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.Instrument;
import io.turbidite.core.meter.Latency;
import io.turbidite.core.meter.Reading;
import io.turbidite.feeds.command.common.Json;
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
final class Findings {
    /**
     * A rule: above so much is worth a finding.
     *
     * @param metric a figure's name; of a latency, its 99th percentile in nanoseconds
     * @param level {@code "warn"} or {@code "bad"}
     */
    private record Rule(String metric, long max, String level, String what, String advice) {}

    private static final List<Rule> RULES = List.of(
            new Rule(
                    "components.quarantined",
                    0,
                    "bad",
                    "damaged components are set aside",
                    "./turbidite quarantine STORE lists them, and restores them from a backup"),
            new Rule(
                    "background.pauses",
                    0,
                    "bad",
                    "flushes or merges gave up because space or files ran out",
                    "free space on the disk"),
            new Rule(
                    "write.stall.time",
                    100_000_000,
                    "warn",
                    "writers stand still because write memory is full",
                    "give the store more write memory, or a faster disk"),
            new Rule(
                    "deferred.garbage.percent",
                    30,
                    "warn",
                    "queries of a deferred index fetch obsolete entries in vain",
                    "merge the primary: ./turbidite merge STORE DATASET"),
            new Rule(
                    "sidefile.full",
                    0,
                    "warn",
                    "merges had no memory for their side-files",
                    "give the store more write memory"),
            new Rule(
                    "trash.bytes",
                    0,
                    "warn",
                    "files that no manifest names were put aside",
                    "./turbidite trash STORE lists them; if nothing had crashed, check MANIFEST first"),
            new Rule(
                    "log.refuges",
                    0,
                    "bad",
                    "the log met a full disk and went on in its reserve",
                    "free space on the disk"),
            new Rule(
                    "cache.load",
                    5_000_000,
                    "warn",
                    "reading a page takes long: the device is busy",
                    "give the cache more memory, or spread the load"));

    private Findings() {}

    static List<Map<String, @Nullable Object>> of(Store store) {
        Map<String, Long> figures = new HashMap<>();
        for (Instrument one : store.meters().instruments()) {
            long value = switch (one) {
                case Counter counter -> counter.sum();
                case Reading reading -> reading.value();
                case Latency latency -> latency.summary().p99Nanos();
            };
            figures.merge(one.name(), value, Math::max);
        }
        List<Map<String, @Nullable Object>> findings = new ArrayList<>();
        for (Rule rule : RULES) {
            long figure = figures.getOrDefault(rule.metric(), 0L);
            if (figure > rule.max()) {
                findings.add(Json.line()
                        .put("level", rule.level())
                        .put("what", rule.what())
                        .put("metric", rule.metric())
                        .put("figure", figure)
                        .put("advice", rule.advice())
                        .toMap());
            }
        }
        Readiness.of(store)
                .ifPresent(why -> findings.add(Json.line()
                        .put("level", "bad")
                        .put("what", "the store takes no writes")
                        .put("figure", why)
                        .put("advice", "end the server and start it again")
                        .toMap()));
        return findings;
    }
}
