package io.turbidite.feeds.console;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a server may say that has something to say in each view: made up. */
final class MadeUp {
    private MadeUp() {}

    /** A merge, a stall and a backup of a store. */
    static void happen(StoreFixture store, String now) {
        store.event(
                "Merged",
                now,
                "dataset",
                "Tweets",
                "partition",
                0,
                "index",
                "by_user",
                "cause",
                "tiering: size ratio",
                "inputCount",
                3,
                "bytesRead",
                3_000,
                "bytesWritten",
                2_000,
                "nanos",
                5_000_000);
        store.event(
                "Stalled",
                now,
                "dataset",
                "Tweets",
                "partition",
                0,
                "cause",
                "write memory is full",
                "nanos",
                70_000_000);
        store.event(
                "BackedUp",
                now,
                "timestamp",
                500,
                "linkedCount",
                1,
                "copiedCount",
                2,
                "bytes",
                4_096);
    }

    /** Letters of the feed, a plan for each statement, and advice, for the store {@code reef}. */
    static void answer(FixtureServer server, String now) {
        server.answers(
                "GET /v1/feeds/tweets/letters",
                200,
                Map.of(
                        "letters",
                        List.of(
                                Map.of(
                                        "at",
                                        now,
                                        "source",
                                        "a.json",
                                        "line",
                                        7,
                                        "reason",
                                        "id is missing",
                                        "raw",
                                        "{oops"),
                                Map.of(
                                        "at",
                                        now,
                                        "source",
                                        "a-directory/another/and-a-file-of-a-long-name.json.gz",
                                        "line",
                                        8,
                                        "reason",
                                        "text is too long",
                                        "raw",
                                        "{\"text\":\"" + "x".repeat(300)))));
        server.answers(
                "POST /v1/stores/reef/sql",
                200,
                ConsoleFixture.lines(Map.of(
                        "dataset",
                        "Tweets",
                        "access",
                        "primary scan",
                        "operators",
                        List.of(Map.of(
                                "operator",
                                "scan",
                                "detail",
                                "primary",
                                "estimated",
                                10,
                                "actual",
                                50)),
                        "considered",
                        List.of(
                                Map.of("access", "primary scan", "cost", 10, "chosen", true),
                                Map.of(
                                        "access",
                                        "index by_user, then fetch",
                                        "cost",
                                        90,
                                        "chosen",
                                        false)))));
        server.answers(
                "GET /v1/stores/reef/advice",
                200,
                Map.of(
                        "datasets",
                        List.of(Map.of(
                                "dataset",
                                "Tweets",
                                "pagesNow",
                                100,
                                "pagesAdvised",
                                60,
                                "reasons",
                                List.of("few queries"),
                                "indexes",
                                List.of(Map.of(
                                        "index",
                                        "by_user",
                                        "maintenance",
                                        "eager",
                                        "advised",
                                        "validation",
                                        "costs",
                                        Map.of("eager", Map.of("written", 90))))))));
    }

    /** Two slow writes and a slow read of the last minute, and one write that is older. */
    static Map<String, Object> slow(Instant now) {
        return Map.of(
                "thresholdNanos",
                2_000_000,
                "readThresholdNanos",
                500_000,
                "operations",
                List.of(
                        read(now, 800_000, 700_000),
                        write(now, 9_000_000, 6_000_000, 2_000_000),
                        write(now.minusSeconds(5), 40_000_000, 0, 30_000_000),
                        write(now.minusSeconds(90), 77_000_000, 77_000_000, 0)));
    }

    private static Map<String, Object> read(Instant at, long nanos, long pageReadNanos) {
        return Map.of(
                "at",
                at.toString(),
                "operation",
                "read",
                "nanos",
                nanos,
                "thresholdNanos",
                500_000,
                "pageReadNanos",
                pageReadNanos);
    }

    private static Map<String, Object> write(
            Instant at, long nanos, long logNanos, long stallNanos) {
        return Map.of(
                "at",
                at.toString(),
                "operation",
                "write",
                "nanos",
                nanos,
                "thresholdNanos",
                2_000_000,
                "lockNanos",
                0,
                "logNanos",
                logNanos,
                "stallNanos",
                stallNanos,
                "pageReadNanos",
                0,
                "mergeNanos",
                0);
    }

    /** A feed in a state; one that was stopped is in that of one that has ended. */
    static Map<String, Object> feed(String state) {
        Map<String, Object> feed = new LinkedHashMap<>();
        feed.put("feed", "tweets/of <all>");
        feed.put("store", "reef");
        feed.put("dataset", "Tweets");
        feed.put("state", state.equals("stopped") ? "ended" : state);
        feed.put("stopped", state.equals("stopped"));
        feed.put("rejected", 3);
        return Map.of("feeds", List.of(feed));
    }

    /** A feed whose stages have been busy for so long, the last one most. */
    static Map<String, Object> feedThatLags(long storeNanos) {
        Map<String, Object> feed = new LinkedHashMap<>();
        feed.put("feed", "tweets");
        feed.put("store", "reef");
        feed.put("dataset", "Tweets");
        feed.put("state", "running");
        feed.put("rejected", 2);
        feed.put("lagBytes", 4_096);
        feed.put(
                "stages",
                List.of(
                        stage("source", 0, 0),
                        stage("parse", storeNanos / 100, 0),
                        stage("route", 0, 88),
                        stage("store", storeNanos, 0)));
        return Map.of("feeds", List.of(feed));
    }

    private static Map<String, Object> stage(String name, long busyNanos, int queuePercent) {
        return Map.of(
                "stage",
                name,
                "records",
                1_000,
                "busyNanos",
                busyNanos,
                "waitNanos",
                0,
                "workers",
                1,
                "queuePercent",
                queuePercent);
    }
}
