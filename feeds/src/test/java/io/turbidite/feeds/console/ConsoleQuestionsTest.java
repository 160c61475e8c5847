package io.turbidite.feeds.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.turbidite.core.sim.LeaksOnPurpose;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.time.Instant;
import java.util.List;

/** The ten questions. */
@LeaksOnPurpose("the driver's client ends its threads when it likes")
final class ConsoleQuestionsTest extends ConsoleFixture {
    /** The ten questions, each answered with at most two clicks from another view. */
    @Test
    void tenQuestionsTakeTwoClicksAtMost() throws IOException {
        String now = Instant.now().toString();
        MadeUp.happen(store, now);
        serve(store);
        server.answers("GET /v1/feeds", 200, MadeUp.feedThatLags(0));
        MadeUp.answer(server, now);
        server.answers("GET /v1/stores/reef/slow", 200, MadeUp.slow(Instant.now()));
        browser.open(server.page("strata"));
        browser.waitFor("#state", "well");
        browser.run("window.clicks = 0; addEventListener('click', () => window.clicks++, true)");
        sample(1);
        sample(2);
        // what is being merged and why; which index costs most space; which component is most dead
        ask("strata", "Merging", "aside", "tiering: size ratio: 3 beds became one");
        ask("strata", "Most space", "aside", "Tweets.primary");
        ask("strata", "Most dead", "aside", "dead entries");
        browser.waitFor("aside", "37 %");
        // why are writers slow now; what did the slowest operations consist of
        ask("pulse", null, "main", "write memory is full");
        sample(3);
        ask("pulse", null, "main", "log 6 ms, stall 2 ms, its own work 1 ms");
        assertEquals(
                List.of(
                        "write 40 ms: stall 30 ms, its own work 10 ms",
                        "write 9 ms: log 6 ms, stall 2 ms, its own work 1 ms",
                        "read 800 µs: page reads 700 µs, its own work 100 µs"),
                browser.run("""
                        return [...document.querySelectorAll('[aria-label="Slow operations"] tbody tr')].map(
                            row => `${row.cells[1].textContent} ${row.cells[2].textContent}: ${row.cells[3].textContent}`);
                        """));
        browser.waitFor(
                "[aria-label='Slow operations']",
                "Slow is a write above 2 ms, a read by key above 500 µs.");
        // what lags and at which stage; what was rejected and why
        ask("feeds", null, "main", "4 KiB behind its source.");
        server.answers("GET /v1/feeds", 200, MadeUp.feedThatLags(100_000_000_000L));
        browser.waitFor(
                "main", "4 KiB behind its source; the stage “store” makes the others wait.");
        browser.waitFor("main", "queue 88 % full");
        ask("feeds", "2 records rejected", "main", "id is missing");
        browser.waitFor("main", "{oops");
        // why did this query not use that index
        browser.click(".rail a[href='#query']");
        browser.type("#sql", "select * from Tweets where user = 'x'");
        ask("query", "Explain", "#considered", "not used: costs 9 times as much");
        browser.waitFor("#answer", "estimate off by 5 times");
        // when was the last backup; what would another strategy save
        ask("findings", null, "main", "up to operation 500, 4 KiB");
        ask("findings", null, "main", "would save 40 pages of 100, 40 %");
        assertCalm();
    }

    /** Where the server keeps no slow operations, counters of all of them answer. */
    @Test
    void withoutARingOfSlowOperationsCountersAnswer() throws IOException {
        browser.open(server.page("pulse"));
        browser.waitFor("#state", "well");
        sample(1);
        sample(2);
        browser.waitFor("main", "This server keeps no single slow operations");
        browser.waitFor("main", "flushes, beside the writers");
        assertCalm();
    }

    /** Goes from another view to a view, presses a button there, and counts the clicks. */
    private void ask(String view, @Nullable String button, String css, String answer)
            throws IOException {
        String other = view.equals("findings") ? "strata" : "findings";
        browser.click(".rail a[href='#%s']".formatted(other));
        browser.run("window.clicks = 0");
        browser.click(".rail a[href='#%s']".formatted(view));
        if (button != null) {
            browser.press(button);
        }
        browser.waitFor(css, answer);
        long clicks = (Long) browser.run("return window.clicks");
        assertTrue(clicks > 0 && clicks <= 2, answer + " took " + clicks + " clicks");
        assertEquals(List.of(), browser.barriers(), answer);
    }
}
