package io.turbidite.feeds.console;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.turbidite.core.sim.LeaksOnPurpose;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The ten questions. */
@LeaksOnPurpose("the driver's client ends its threads when it likes")
final class ConsoleQuestionsTest extends ConsoleFixture {
    private static Map<String, Object> feedThatLags(long storeNanos) {
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

    /** The ten questions, each answered with at most two clicks from any view. */
    @Test
    void tenQuestionsTakeTwoClicksAtMost() throws IOException {
        String now = Instant.now().toString();
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
        serve(store);
        server.answers("GET /v1/feeds", 200, feedThatLags(0));
        server.answers(
                "GET /v1/feeds/tweets/letters",
                200,
                Map.of(
                        "letters",
                        List.of(Map.of(
                                "at",
                                now,
                                "source",
                                "a.json",
                                "line",
                                7,
                                "reason",
                                "id is missing",
                                "raw",
                                "{oops"))));
        server.answers(
                "POST /v1/stores/reef/sql",
                200,
                lines(Map.of(
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
        browser.open(server.page("strata"));
        browser.waitFor("#state", "well");
        // what is being merged and why; which index costs most space; which component is most dead
        browser.press("Merging");
        browser.waitFor("aside", "tiering: size ratio: 3 beds became one");
        browser.press("Most space");
        browser.waitFor("aside", "Tweets.primary");
        browser.press("Most dead");
        browser.waitFor("aside", "dead entries");
        browser.waitFor("aside", "37 %");
        assertEquals(List.of(), browser.barriers());
        // why are writers slow now; what did the slowest operations consist of
        sample(1);
        sample(2);
        browser.click(".rail a[href='#pulse']");
        browser.waitFor("main", "write memory is full");
        sample(3);
        browser.waitFor("main", "flushes, beside the writers");
        assertEquals(List.of(), browser.barriers());
        // what lags and at which stage; what was rejected and why
        browser.click(".rail a[href='#feeds']");
        browser.waitFor("main", "4 KiB behind its source.");
        server.answers("GET /v1/feeds", 200, feedThatLags(100_000_000_000L));
        browser.waitFor(
                "main", "4 KiB behind its source; the stage “store” makes the others wait.");
        browser.waitFor("main", "queue 88 % full");
        browser.press("2 records rejected");
        browser.waitFor("main", "id is missing");
        browser.waitFor("main", "{oops");
        assertEquals(List.of(), browser.barriers());
        // why did this query not use that index
        browser.click(".rail a[href='#query']");
        browser.type("#sql", "select * from Tweets where user = 'x'");
        browser.click("#explain");
        browser.waitFor("#considered", "not used: costs 9 times as much");
        browser.waitFor("#answer", "estimate off by 5 times");
        assertEquals(List.of(), browser.barriers());
        // when was the last backup; what would another strategy save
        browser.click(".rail a[href='#findings']");
        browser.waitFor("main", "up to operation 500, 4 KiB");
        browser.waitFor("main", "would save 40 pages of 100, 40 %");
        assertEquals(List.of(), browser.barriers());
        assertCalm();
    }
}
