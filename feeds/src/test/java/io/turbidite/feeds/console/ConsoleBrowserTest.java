package io.turbidite.feeds.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.turbidite.core.sim.LeaksOnPurpose;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.openqa.selenium.Keys;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The console in a browser, before a server that a test has in its hands. */
@LeaksOnPurpose("the driver's client ends its threads when it likes")
final class ConsoleBrowserTest {
    private static Browser browser;

    private FixtureServer server;
    private StoreFixture store;

    @BeforeAll
    static void startBrowser() {
        browser = Browser.start();
    }

    @AfterAll
    static void endBrowser() {
        if (browser != null) {
            browser.close();
        }
    }

    @BeforeEach
    void startServer() throws IOException {
        server = FixtureServer.start(0);
        store = StoreFixture.grown();
        serve(store);
        browser.theme("light");
        browser.size(1280, 900);
        var _ = browser.complaints();
        var _ = browser.foreign(""); // of the test before
    }

    @AfterEach
    void endServer() {
        browser.leave();
        server.close();
    }

    private void serve(StoreFixture shown) {
        server.answers(
                "GET /v1/stores", 200, Map.of("stores", List.of(Map.of("name", shown.name()))));
        server.answers("GET /v1/stores/" + shown.name(), 200, shown.described());
        server.answers("GET /v1/feeds", 200, Map.of("feeds", List.of()));
    }

    private static Map<String, Object> latency(long count, long nanos) {
        return Map.of(
                "count",
                count,
                "nanosSum",
                count * nanos,
                "p50Nanos",
                nanos,
                "p99Nanos",
                nanos * 3,
                "p999Nanos",
                nanos * 9,
                "maxNanos",
                nanos * 20);
    }

    private void sample(int second) {
        Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("write.bytes", 4_000_000L * second);
        figures.put("memory.used.bytes", 70_000_000L);
        figures.put("merge.backlog.bytes", 12_000_000L);
        figures.put("write.stall.time", latency(second, 3_000_000));
        figures.put("flush.time", latency(second, 40_000_000));
        server.tell(
                "sample",
                Map.of(
                        "at",
                        Instant.now().toString(),
                        "stores",
                        Map.of(store.name(), figures),
                        "feeds",
                        Map.of()));
    }

    private void assertCalm() throws IOException {
        assertEquals(List.of(), browser.complaints());
        assertEquals(List.of(), browser.foreign("http://127.0.0.1:" + server.port()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"strata", "feeds", "query", "pulse", "findings"})
    void eachViewFitsEachWidthInBothThemesWithoutBarriers(String view) throws IOException {
        for (String theme : List.of("light", "dark")) {
            browser.theme(theme);
            for (int width : new int[] {360, 1280, 3840}) {
                browser.size(width, width == 360 ? 760 : width * 9 / 16);
                browser.open(server.page(view));
                browser.waitFor("#state", "well");
                browser.waitFor(".rail a[aria-current]", view.substring(1));
                assertEquals(
                        0L,
                        browser.run(
                                "return document.documentElement.scrollWidth - document.documentElement.clientWidth"),
                        view + " is wider than " + width);
                if (width < 3840) {
                    browser.size(width, 4_000); // the bar of views lies over nothing
                    assertEquals(List.of(), browser.barriers(), view + " " + theme + " " + width);
                }
                if (System.getProperty("pictures") != null) {
                    sample(1);
                    sample(2);
                    browser.picture(Path.of(
                            System.getProperty("pictures"),
                            "%s-%d-%s.png".formatted(view, width, theme)));
                }
            }
        }
        assertCalm();
    }

    @Test
    void aFlushShowsWithinTwoSeconds() throws IOException {
        browser.open(server.page("strata"));
        browser.waitFor(".bed-row .row-about", "7 beds");
        store.flush(2_000);
        Map<String, Object> event = store.event(
                "Flushed",
                Instant.now().toString(),
                "dataset",
                "Tweets",
                "partition",
                0,
                "bytesWritten",
                9);
        serve(store);
        server.tell("store", event);
        browser.waitFor(".bed-row .row-about", "8 beds", Duration.ofSeconds(2));
        assertCalm();
    }

    @Test
    void aPageThatLostItsServerSaysSoAndComesBack() throws IOException {
        browser.open(server.page("strata"));
        browser.waitFor("#state", "well");
        int port = server.port();
        server.close();
        browser.waitFor("#state", "lost the connection");
        browser.waitFor(".bed-row .row-about", "7 beds");
        server = FixtureServer.start(port);
        store.flush(5);
        serve(store);
        browser.waitFor("#state", "well");
        browser.waitFor(".bed-row .row-about", "8 beds");
    }

    @Test
    void refusalsAndEmptinessHaveWords() throws IOException {
        server.answers("GET /v1/stores", 200, Map.of("stores", List.of()));
        browser.open(server.page("strata"));
        browser.waitFor("main", "This server has no store");
        browser.waitFor("#state", "no store");
        server.answers("GET /v1/stores", 401, Map.of("status", 401, "detail", "a token is needed"));
        browser.open(server.page("strata"));
        browser.waitFor("#token-dialog[open]", "Token of this tab");
        serve(store);
        browser.type("#token-input", "s3cret");
        browser.click("#token-set");
        browser.waitFor(".bed-row .row-about", "7 beds");
        assertEquals("", browser.run("return document.getElementById('token-input').value"));
        assertEquals(
                0L,
                browser.run(
                        "return localStorage.length + sessionStorage.length + document.cookie.length"),
                "the token is in the memory of the tab alone");
        server.answers(
                "GET /v1/stores/reef",
                500,
                Map.of("status", 500, "detail", "the store failed: EIO"));
        browser.open(server.page("strata"));
        browser.waitFor("main", "the store failed: EIO");
        server.answers(
                "GET /v1/stores/reef",
                200,
                Map.of("store", "/d", "lastTimestamp", 0, "datasets", List.of()));
        browser.open(server.page("strata"));
        browser.waitFor("main", "No dataset yet.");
        assertCalm();
    }

    @Test
    void valuesAreTextWhateverTheySay() throws IOException {
        String evil =
                "<img src=x onerror=\"window.hurt=1\"><script>window.hurt=1</script>${1}{{1}}'\"&amp;\u202e\u0000";
        StoreFixture hostile =
                new StoreFixture("a/b?c=<b>&#", evil, List.of("primary", evil + "2"));
        hostile.flush(100);
        hostile.event(
                "Merged",
                Instant.now().toString(),
                "dataset",
                evil,
                "index",
                evil,
                "cause",
                evil,
                "inputCount",
                2);
        String path = "/v1/stores/a%2Fb%3Fc%3D%3Cb%3E%26%23";
        server.answers(
                "GET /v1/stores", 200, Map.of("stores", List.of(Map.of("name", hostile.name()))));
        server.answers("GET " + path, 200, hostile.described());
        server.answers(
                "POST " + path + "/sql",
                200,
                lines(
                        Map.of(evil, evil, "summary", Map.of("rows", 9)),
                        Map.of(
                                "summary",
                                Map.of(
                                        "rows",
                                        1,
                                        "millis",
                                        1.5,
                                        "columns",
                                        List.of(
                                                Map.of("name", evil),
                                                Map.of("name", "summary"))))));
        server.answers(
                "GET /v1/feeds",
                200,
                Map.of(
                        "feeds",
                        List.of(Map.of(
                                "name", evil, "state", evil, "dataset", evil, "cause", evil))));
        server.answers(
                "GET " + path + "/findings",
                200,
                Map.of("findings", List.of(Map.of("what", evil, "figure", evil, "advice", evil))));
        for (String view : List.of("strata", "feeds", "pulse", "findings", "query")) {
            browser.open(server.page(view));
            browser.waitFor("main", view.equals("pulse") ? "Why" : "");
            browser.waitFor("#state", "well");
            if (view.equals("strata")) {
                browser.waitFor("main", "<script>");
                browser.press("Merging");
                browser.waitFor("aside", "<script>");
            } else if (view.equals("query")) {
                browser.type("#sql", "select 1");
                browser.click("#run");
                browser.waitFor(".grid-body", "<script>");
                browser.waitFor(".grid-body", "{\"rows\":9}");
            } else if (!view.equals("pulse")) {
                browser.waitFor("main", "<script>");
            }
            assertEquals(
                    0L,
                    browser.run(
                            "return document.querySelectorAll('main img, main script, main b b').length"),
                    view);
            assertEquals(true, browser.run("return window.hurt === undefined"), view);
        }
        assertCalm();
    }

    @Test
    void aHundredThousandRowsAreAFewElements() throws IOException {
        StringBuilder rows = new StringBuilder();
        for (int i = 0; i < 100_000; i++) {
            rows.append("{\"id\":")
                    .append(i)
                    .append(",\"name\":\"row ")
                    .append(i)
                    .append("\",\"at\":[")
                    .append(i % 360 - 180)
                    .append(',')
                    .append(i % 180 - 90)
                    .append("]}\n");
        }
        rows.append(FixtureServer.text(Map.of(
                "summary",
                Map.of(
                        "rows",
                        100_000,
                        "millis",
                        12.5,
                        "columns",
                        List.of(
                                Map.of("name", "id"),
                                Map.of("name", "name"),
                                Map.of("name", "at"))))));
        server.answers("POST /v1/stores/reef/sql", 200, rows.toString());
        browser.open(server.page("query"));
        browser.waitFor("#state", "well");
        browser.type("#sql", "select * from Tweets");
        browser.click("#run");
        browser.waitFor("#query-status", "000 rows in 12.5 ms");
        long elements = (Long) browser.run("return document.querySelectorAll('*').length");
        assertTrue(elements < 2_000, elements + " elements");
        // half of 60 jumps through all rows take at most 8 ms of script each
        List<?> millis = (List<?>) browser.runLong("""
                        const done = arguments[0];
                        const grid = document.querySelector('.grid');
                        const frame = window.requestAnimationFrame.bind(window);
                        const times = [];
                        let spent = 0;
                        window.requestAnimationFrame = work => frame(at => {
                          const began = performance.now();
                          work(at);
                          spent += performance.now() - began;
                        });
                        const step = () => {
                          if (times.length === 60) {
                            window.requestAnimationFrame = frame;
                            times.sort((a, b) => a - b);
                            done([times[30], times[59]]);
                            return;
                          }
                          spent = 0;
                          grid.scrollTop = grid.scrollHeight * ((times.length * 37 + 1) % 60) / 60;
                          frame(() => frame(() => {
                            times.push(spent);
                            step();
                          }));
                        };
                        step();
                        """);
        double median = ((Number) millis.getFirst()).doubleValue();
        double longest = ((Number) millis.getLast()).doubleValue();
        assertTrue(longest > 0, "nothing was painted");
        assertTrue(median <= 8, median + " ms for a step");
        browser.run("document.querySelector('.grid').scrollTop = 1e9");
        browser.waitFor(".grid-body", "row 99999");
        browser.click("#tab-places");
        browser.waitFor("#answer", "places: x from -180 to 179");
        assertCalm();
    }

    @Test
    void statementsAreCompletedByKeyboard() {
        browser.open(server.page("query"));
        browser.waitFor("#state", "well");
        browser.type("#sql", "");
        // what the user has emptied stays so
        browser.click(".rail a[href='#strata']");
        browser.waitFor(".bed-row .row-about", "7 beds");
        browser.click(".rail a[href='#query']");
        assertEquals("", browser.run("return document.getElementById('sql').value"));
        browser.type("#sql", "select u");
        // who leaves the field and comes back at once keeps the offers of what is typed then
        browser.run("document.getElementById('sql').blur()");
        browser.press("#sql", "s");
        var _ = browser.runLong("setTimeout(arguments[0], 400)");
        browser.waitFor("#offers", "user");
        browser.press("#sql", Keys.TAB);
        Object typed = browser.runLong("""
                const done = arguments[0];
                const end = performance.now() + 10000;
                const look = () => {
                  const typed = document.getElementById('sql').value;
                  if (typed.endsWith('user') || performance.now() > end) { done(typed); }
                  else { setTimeout(look, 20); }
                };
                look();
                """);
        assertEquals("select user", typed);
    }

    @Test
    void bedsAreReachedByKeyboard() {
        browser.open(server.page("strata"));
        browser.waitFor(".bed-row .row-about", "7 beds");
        browser.run("document.querySelector('.bed[tabindex=\"0\"]').focus()");
        browser.press(".bed[tabindex='0']", Keys.ARROW_LEFT);
        browser.press(".bed[tabindex='0']", Keys.ENTER);
        browser.waitFor("aside", "582\u202f001 to 585\u202f000");
    }

    private static String lines(Object... objects) {
        StringBuilder text = new StringBuilder();
        for (Object one : objects) {
            text.append(FixtureServer.text(one)).append('\n');
        }
        return text.toString();
    }

    /** What the page keeps of the last hour has its room from the first minutes on. */
    @Test
    void anHourOfSamplesLetsTheHeapBe() {
        browser.open(server.page("pulse"));
        browser.waitFor("#state", "well");
        tellSeconds(1, 600);
        long before = browser.heapBytes();
        tellSeconds(601, 4_200);
        long after = browser.heapBytes();
        assertTrue(after < before * 1.2, before + " bytes became " + after);
    }

    /** A sample each second, a flush each third one, and a store that has grown each tenth. */
    private void tellSeconds(int from, int to) {
        for (int second = from; second <= to; second++) {
            sample(second);
            if (second % 3 == 0) {
                server.tell(
                        "store",
                        store.event(
                                "Flushed",
                                Instant.now().toString(),
                                "dataset",
                                "Tweets",
                                "partition",
                                0,
                                "bytesWritten",
                                second));
            }
            if (second % 100 == 0) {
                // the page has shown them before more come
                var _ = browser.runLong(
                        "requestAnimationFrame(() => setTimeout(arguments[0], 20))");
            }
        }
        browser.waitFor("main", "flushes");
    }

    @Test
    void bedsLieWhereTheirNumbersAre() {
        browser.open(server.page("strata"));
        Object laid = browser.runLong("""
                const done = arguments[0];
                import('/beds.js').then(({ settle, numberScale, filterScale, successor }) => {
                  const bed = (minTs, maxTs, bytes, from, to) => ({ minTs, maxTs, bytes, entries: 10, deadEntries: 5,
                      repairedTs: minTs, file: maxTs, filters: [{ field: 'f', min: from, max: to }] });
                  const beds = [bed(51, 100, 1 << 20, 0, 6), bed(1, 50, 1 << 30, 4, 10)];
                  const lane = { width: 100, height: 50, scale: numberScale(100, 'even'), field: null, largest: 1 << 30, repairs: true };
                  const byNumber = settle(beds, lane);
                  const byFilter = settle(beds, { ...lane, field: 'f', scale: filterScale(beds, 'f') });
                  done([
                    byNumber.map(one => one.x), byNumber.map(one => Math.round(one.width)),
                    byNumber[0].y + byNumber[0].height, byNumber[1].y + byNumber[1].height,
                    byNumber[0].height > byNumber[1].height, byNumber.map(one => one.age), byNumber[0].dead,
                    byNumber[1].unchecked[1] > byNumber[1].unchecked[0],
                    Math.round(byFilter[1].y + byFilter[1].height) <= Math.round(byFilter[0].y),
                    byFilter.every(one => one.y >= -0.01),
                    successor(beds[0], byNumber) === byNumber[1],
                  ]);
                });
                """);
        assertEquals(
                List.of(
                        List.of(0L, 50L),
                        List.of(49L, 49L),
                        50L,
                        50L,
                        true,
                        List.of(1L, 0L),
                        0.5,
                        true,
                        true,
                        true,
                        true),
                laid);
    }

    @Test
    void numbersHaveTheirUnits() {
        browser.open(server.page("strata"));
        Object said = browser.runLong("""
                const done = arguments[0];
                import('/format.js').then(f => done([f.bytes(0), f.bytes(1536), f.bytes(5 * 2 ** 40), f.integer(1234567),
                    f.nanos(1500), f.nanos(2.5e9), f.nanos(200e9), f.percent(0.25), f.percent(99.7), f.span(7500), f.rate(1024),
                    f.count(1, 'bed'), f.count(2, 'bed'), f.bytes(NaN), f.integer(12n ** 12n), f.ago(0, 5000),
                    f.ticks(0, 10, 5).join(), f.metric('merge.pace.bytes', 3), f.metric('cache.load', 5e6),
                    f.metric('log.refuges', 2), f.words('IndexChanged')]));
                """);
        assertEquals(
                List.of(
                        "0 B",
                        "1.5 KiB",
                        "5 TiB",
                        "1\u202f234\u202f567",
                        "1.5 µs",
                        "2.5 s",
                        "3 min",
                        "0.3 %",
                        "100 %",
                        "2 h 5 min",
                        "1 KiB/s",
                        "1 bed",
                        "2 beds",
                        "–",
                        "8\u202f916\u202f100\u202f448\u202f256",
                        "5 s ago",
                        "0,2,4,6,8,10",
                        "3 B/s",
                        "5 ms at the 99th percentile",
                        "2 times",
                        "index changed"),
                said);
    }

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
