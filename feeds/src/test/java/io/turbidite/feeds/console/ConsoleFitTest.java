package io.turbidite.feeds.console;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.turbidite.core.sim.LeaksOnPurpose;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** Each view at each width, in both themes. */
@LeaksOnPurpose("the driver's client ends its threads when it likes")
final class ConsoleFitTest extends ConsoleFixture {
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
}
