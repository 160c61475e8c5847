package io.turbidite.feeds.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.turbidite.core.sim.LeaksOnPurpose;

import org.junit.jupiter.api.Test;
import org.openqa.selenium.Keys;

import java.io.IOException;
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
