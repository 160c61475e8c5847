package io.turbidite.feeds.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;

import io.turbidite.core.sim.LeaksOnPurpose;

import org.junit.jupiter.api.Test;
import org.openqa.selenium.Keys;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The view Query. */
@LeaksOnPurpose("the driver's client ends its threads when it likes")
final class ConsoleQueryTest extends ConsoleFixture {
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
    void rowsAreCopiedAsTheyAre() throws IOException {
        Map<String, Object> first = new LinkedHashMap<>();
        first.put("id", -7);
        first.put("a,\"b\"", "x,\"y\"\r\nz");
        first.put("=c", "=HYPERLINK(1)");
        first.put("d", null);
        first.put("e", "");
        Map<String, Object> second = new LinkedHashMap<>();
        second.put("id", 1.5);
        second.put("a,\"b\"", "-2");
        second.put("=c", "@SUM(1)");
        second.put("d", List.of(1, "-"));
        second.put("e", "+49 170");
        Map<String, Object> third = new LinkedHashMap<>();
        third.put("id", true);
        third.put("a,\"b\"", "ä; -");
        third.put("=c", "-1+1");
        third.put("d", " ");
        third.put("e", "\t1");
        List<String> names = List.copyOf(first.keySet());
        Map<String, Object> end = Map.of(
                "summary",
                Map.of(
                        "rows",
                        3,
                        "millis",
                        1,
                        "columns",
                        names.stream().map(name -> Map.of("name", name)).toList()));
        server.answers("POST /v1/stores/reef/sql", 200, lines(first, second, third, end));
        browser.open(server.page("query"));
        browser.waitFor("#state", "well");
        takeCopies();
        String statement = "--all's\n select \"a\" $HOME `id` \\ !! from Tweets";
        browser.type("#sql", "");
        browser.run("document.getElementById('sql').value = arguments[0]", statement);
        browser.click("#run");
        browser.waitFor("#query-status", "3 rows");
        assertEquals("""
                id,"a,""b""\",'=c,d,e\r
                -7,"x,""y""\r
                z",'=HYPERLINK(1),,""\r
                1.5,-2,'@SUM(1),"[1,""-""]",'+49 170\r
                true,"ä; -",'-1+1," ","'\t1"\r
                """, copied("Copy CSV"));
        assertEquals(lines(first, second, third), copied("Copy JSON"));
        assertEquals(
                List.of(
                        "./turbidite",
                        "sql",
                        "--",
                        String.valueOf(store.described().get("store")),
                        statement),
                wordsOf(copied("Copy command")));
        server.answers(
                "POST /v1/stores/reef/sql",
                200,
                lines(Map.of("summary", Map.of("rows", 0, "columns", List.of()))));
        browser.click("#run");
        browser.waitFor("#query-status", "0 rows");
        assertEquals("", copied("Copy JSON"));
        assertCalm();
    }

    /** The bug: what a number of the page can't hold was rounded. */
    @Test
    void wholeNumbersKeepAllTheirDigits() throws IOException {
        String rows = """
                {"id":9007199254740993,"deep":{"all":[-9223372036854775808,1e+300,0.5]}}
                {"id":9007199254740991,"deep":"12345678901234567890"}
                """;
        String end = FixtureServer.text(Map.of("summary", Map.of("rows", 2, "millis", 1)));
        server.answers("POST /v1/stores/reef/sql", 200, rows + end);
        browser.open(server.page("query"));
        browser.waitFor("#state", "well");
        takeCopies();
        browser.type("#sql", "select * from Tweets");
        browser.click("#run");
        browser.waitFor("#query-status", "2 rows");
        browser.waitFor("#answer .cell.number", "9007199254740993");
        assertEquals(rows, copied("Copy JSON"));
        assertCalm();
    }

    @Test
    void cellsAreDrawnBesidePoints() throws IOException {
        server.answers(
                "POST /v1/stores/reef/sql",
                200,
                lines(
                        Map.of("at", List.of(0, 0), "count", 1),
                        Map.of("at", List.of(10, 10, 20, 20), "count", 4),
                        Map.of("summary", Map.of("rows", 2, "millis", 1))));
        browser.open(server.page("query"));
        browser.waitFor("#state", "well");
        browser.type("#sql", "select * from Tweets");
        browser.click("#run");
        browser.waitFor("#query-status", "2 rows");
        browser.click("#tab-places");
        browser.waitFor("#answer", "2 places: x from 0 to 20, y from 0 to 20");
        // a cell's middle, its corner, what is left of it, the point, what is right of that
        assertEquals(List.of(true, true, false, true, false), browser.run("""
                        const canvas = document.querySelector('#answer canvas');
                        const all = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
                        const isDrawn = ([x, y]) => all.data[4 * (Math.floor(408 - y * 19.8) * all.width
                            + Math.floor(12 + x * 19.8)) + 3] > 0;
                        return [[15.3, 15.3], [10.3, 10.3], [9.3, 15.3], [0, 0], [0.7, 0.7]].map(isDrawn);
                        """));
        assertCalm();
    }

    private void takeCopies() {
        browser.run("""
                Object.defineProperty(navigator, 'clipboard',
                    { value: { writeText: async text => { window.written = text; } } });
                """);
    }

    private String copied(String button) throws IOException {
        browser.run("window.written = null");
        browser.press(button);
        browser.waitFor("main", "copied");
        // the driver leaves carriage returns out of plain texts
        Object quoted = browser.run("return JSON.stringify([window.written])");
        return new ObjectMapper().readTree(String.valueOf(quoted)).path(0).asText();
    }

    /** What a shell makes of a command: its words. */
    private static List<String> wordsOf(String command) throws IOException {
        Process shell = new ProcessBuilder("sh", "-c", "printf '%s\\0' " + command)
                .redirectErrorStream(true)
                .start();
        try (InputStream out = shell.getInputStream()) {
            return List.of(new String(out.readAllBytes(), StandardCharsets.UTF_8).split("\0"));
        }
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
}
