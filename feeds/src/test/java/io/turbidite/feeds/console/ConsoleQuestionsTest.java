package io.turbidite.feeds.console;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.turbidite.core.sim.LeaksOnPurpose;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.time.Instant;
import java.util.List;

/** The ten questions. */
@LeaksOnPurpose("the driver's client ends its threads when it likes")
final class ConsoleQuestionsTest extends ConsoleFixture {
    /** The ten questions, each answered with at most two clicks from any view. */
    @Test
    void tenQuestionsTakeTwoClicksAtMost() throws IOException {
        String now = Instant.now().toString();
        MadeUp.happen(store, now);
        serve(store);
        server.answers("GET /v1/feeds", 200, MadeUp.feedThatLags(0));
        MadeUp.answer(server, now);
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
        server.answers("GET /v1/feeds", 200, MadeUp.feedThatLags(100_000_000_000L));
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
