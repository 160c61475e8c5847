package io.turbidite.feeds.console;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.turbidite.core.sim.LeaksOnPurpose;

import org.junit.jupiter.api.Test;
import org.openqa.selenium.Keys;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** The view Strata. */
@LeaksOnPurpose("the driver's client ends its threads when it likes")
final class ConsoleStrataTest extends ConsoleFixture {
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
    void bedsAreReachedByKeyboard() {
        browser.open(server.page("strata"));
        browser.waitFor(".bed-row .row-about", "7 beds");
        browser.run("document.querySelector('.bed[tabindex=\"0\"]').focus()");
        browser.press(".bed[tabindex='0']", Keys.ARROW_LEFT);
        browser.press(".bed[tabindex='0']", Keys.ENTER);
        browser.waitFor("aside", "582\u202f001 to 585\u202f000");
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
}
