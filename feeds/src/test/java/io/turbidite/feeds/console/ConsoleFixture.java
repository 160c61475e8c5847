package io.turbidite.feeds.console;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

import java.io.IOException;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A browser, and before it a server that a test has in its hands, with a store that has grown. The
 * browser is one for all tests of a JVM, for its start is what costs most.
 */
abstract class ConsoleFixture {
    static Browser browser;

    FixtureServer server;
    StoreFixture store;

    @BeforeAll
    static void startBrowser() {
        browser = Browser.shared();
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

    final void serve(StoreFixture shown) {
        server.answers(
                "GET /v1/stores", 200, Map.of("stores", List.of(Map.of("name", shown.name()))));
        server.answers("GET /v1/stores/" + shown.name(), 200, shown.described());
        server.answers("GET /v1/feeds", 200, Map.of("feeds", List.of()));
    }

    static Map<String, Object> latency(long count, long nanos) {
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

    final void sample(int second) {
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

    final void assertCalm() throws IOException {
        assertEquals(List.of(), browser.complaints());
        assertEquals(List.of(), browser.foreign("http://127.0.0.1:" + server.port()));
    }

    static String lines(Object... objects) {
        StringBuilder text = new StringBuilder();
        for (Object one : objects) {
            text.append(FixtureServer.text(one)).append('\n');
        }
        return text.toString();
    }
}
