package io.turbidite.feeds.console;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.turbidite.core.sim.LeaksOnPurpose;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.util.List;
import java.util.Map;

/** The view Feeds: what its buttons ask the server, and what it shows then. */
@LeaksOnPurpose("the driver's client ends its threads when it likes")
final class ConsoleFeedsTest extends ConsoleFixture {
    private static final String PATH = "/v1/feeds/tweets%2Fof%20%3Call%3E";

    @Test
    void aFeedIsPausedAndResumed() throws IOException {
        server.answers("GET /v1/feeds", 200, MadeUp.feed("running"));
        browser.open(server.page("feeds"));
        browser.waitFor("main h2 + span", "running");
        assertEquals(List.of(), posted());
        server.answers("POST " + PATH + "/pause", 403, Map.of("status", 403, "detail", "no"));
        browser.press("Pause");
        browser.waitFor("main .row", "A token with the right to manage is needed.");
        browser.waitFor("main h2 + span", "running");
        server.answers("POST " + PATH + "/pause", 200, Map.of());
        server.answers("GET /v1/feeds", 200, MadeUp.feed("paused"));
        browser.press("Pause");
        browser.waitFor("main h2 + span", "paused");
        server.answers("POST " + PATH + "/resume", 200, Map.of());
        server.answers("GET /v1/feeds", 200, MadeUp.feed("running"));
        browser.press("Resume");
        browser.waitFor("main h2 + span", "running");
        browser.waitFor("main .row", "Pause");
        for (String end : List.of("ended", "stopped")) {
            server.answers("GET /v1/feeds", 200, MadeUp.feed(end));
            browser.waitFor("main h2 + span", end);
        }
        assertEquals(
                List.of(
                        "POST " + PATH + "/pause",
                        "POST " + PATH + "/pause",
                        "POST " + PATH + "/resume"),
                posted());
        assertCalm();
    }

    @Test
    void lettersHaveTheRawText() throws IOException {
        server.answers("GET /v1/feeds", 200, MadeUp.feed("running"));
        server.answers(
                "GET " + PATH + "/letters",
                200,
                Map.of(
                        "letters",
                        List.of(
                                Map.of(
                                        "source",
                                        "a.json",
                                        "line",
                                        7,
                                        "reason",
                                        "id is missing",
                                        "raw",
                                        "{\"a\": \"<b>x</b>\"}"),
                                Map.of("reason", "no UTF-8", "rawBase64", "wyg="),
                                Map.of("reason", "too long", "rawBytes", 3_145_728))));
        browser.open(server.page("feeds"));
        browser.press("3 records rejected");
        browser.waitFor("main", "no UTF-8");
        assertEquals(
                List.of(
                        "a.json, line 7 | id is missing | {\"a\": \"<b>x</b>\"}",
                        " | no UTF-8 | wyg= (base64, for it is no text)",
                        " | too long | 3 MiB, not kept"),
                browser.run("""
                        return [...document.querySelectorAll('main tbody tr')].map(
                            row => [...row.cells].map(cell => cell.textContent).join(' | '));
                        """));
        assertCalm();
    }

    @Test
    void aViewSaysThatItLoads() {
        server.delays("GET /v1/feeds", 1_500);
        server.answers("GET /v1/feeds", 200, MadeUp.feed("running"));
        browser.open(server.page("feeds"));
        browser.waitFor("main .note-loading[role=status]", "Loading the feeds …");
        browser.waitFor("main h2 + span", "running");
        assertEquals(
                0L, browser.run("return document.querySelectorAll('main .note-loading').length"));
    }

    private List<String> posted() {
        return server.asked().stream().filter(one -> one.startsWith("POST")).toList();
    }
}
