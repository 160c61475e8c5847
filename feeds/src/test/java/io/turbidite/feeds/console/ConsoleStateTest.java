package io.turbidite.feeds.console;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.turbidite.core.sim.LeaksOnPurpose;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * What the console says when there is nothing, when it may not, and when the server is gone; and
 * that it writes values as text.
 */
@LeaksOnPurpose("the driver's client ends its threads when it likes")
final class ConsoleStateTest extends ConsoleFixture {
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
}
