package io.turbidite.feeds.console;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.turbidite.core.sim.LeaksOnPurpose;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;

/** Each view at each width, in both themes, with something to show. */
@LeaksOnPurpose("the driver's client ends its threads when it likes")
final class ConsoleFitTest extends ConsoleFixture {
    @ParameterizedTest
    @ValueSource(strings = {"strata", "feeds", "query", "pulse", "findings"})
    void eachViewFitsEachWidthInBothThemesWithoutBarriers(String view) throws IOException {
        String now = Instant.now().toString();
        store = StoreFixture.grown(
                "by_place_with_a_name_that_is_longer_than_anybody_would_like_it");
        MadeUp.happen(store, now);
        serve(store);
        server.answers("GET /v1/feeds", 200, MadeUp.feedThatLags(0));
        MadeUp.answer(server, now);
        for (String theme : List.of("light", "dark")) {
            browser.theme(theme);
            browser.size(360, 760);
            browser.open(server.page(view));
            browser.waitFor("#state", "well");
            browser.waitFor(".rail a[aria-current]", view.substring(1));
            fill(view);
            for (int width : new int[] {360, 1280, 3840}) {
                String where = view + " " + theme + " " + width;
                browser.size(width, width == 360 ? 760 : width * 9 / 16);
                browser.settle();
                assertEquals(
                        0L,
                        browser.run(
                                "return document.documentElement.scrollWidth - document.documentElement.clientWidth"),
                        where + " is wider");
                if (System.getProperty("pictures") != null) {
                    browser.picture(Path.of(
                            System.getProperty("pictures"),
                            "%s-%d-%s.png".formatted(view, width, theme)));
                }
                browser.size(width, 4_000); // the bar of views lies over nothing
                browser.settle();
                assertEquals(List.of(), browser.crowded(), where);
                assertEquals(List.of(), browser.barriers(), where);
            }
        }
        assertCalm();
    }

    /** Has the view show what it can show. */
    private void fill(String view) {
        sample(1);
        sample(2);
        switch (view) {
            case "strata" -> {
                browser.click(".legend summary");
                browser.press("Most dead");
                browser.waitFor("aside", "anti-matter");
            }
            case "feeds" -> {
                browser.press("2 records rejected");
                browser.waitFor("main", "id is missing");
            }
            case "query" -> {
                browser.type("#sql", "select * from Tweets where user = 'x'");
                browser.click("#explain");
                browser.waitFor("#considered", "not used");
            }
            case "pulse" -> browser.waitFor("main", "flushes, beside the writers");
            case "findings" -> browser.waitFor("main", "would save 40 pages");
            default -> throw new IllegalArgumentException(view);
        }
    }
}
