package io.turbidite.feeds.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
    void theSliderShowsAMomentOfTheLastHourAndComesBack() throws IOException {
        browser.open(server.page("strata"));
        browser.waitFor(".bed-row .row-about", "7 beds");
        // ten minutes go by
        browser.run("const real = Date.now; Date.now = () => real() + 600000");
        flushed();
        browser.waitFor(".bed-row .row-about", "8 beds");
        slide(300);
        browser.waitFor(".bed-row .row-about", "7 beds");
        browser.waitFor(".hour output", "5 min ago");
        // what happens now is not shown meanwhile
        flushed();
        browser.run("document.querySelector('#hour').focus()");
        browser.settle();
        browser.waitFor(".bed-row .row-about", "7 beds");
        slide(1_200);
        browser.waitFor(".hour output", "before this page was opened");
        slide(0);
        browser.waitFor(".bed-row .row-about", "9 beds");
        assertEquals("now", browser.textOf(".hour output"));
        assertCalm();
    }

    private void flushed() {
        store.flush(2_000);
        tell("Flushed");
    }

    private void tell(String event) {
        Map<String, Object> told = store.event(
                event,
                Instant.now().toString(),
                "dataset",
                "Tweets",
                "partition",
                0,
                "index",
                "primary",
                "cause",
                "tiering: size ratio",
                "inputCount",
                3,
                "bytesWritten",
                9);
        serve(store);
        server.tell("store", told);
    }

    private static void slide(int secondsBack) {
        browser.run(
                "const hour = document.querySelector('#hour'); hour.value = 3600 - arguments[0]; hour.dispatchEvent(new Event('input'))",
                secondsBack);
    }

    /** Left and right edges of the beds of the first index, in pixels of its picture. */
    private static List<?> edges() {
        return (List<?>) browser.run("""
                return [...document.querySelectorAll('.bed-row')[0].querySelectorAll('.bed')]
                    .flatMap(one => [one.offsetLeft, one.offsetLeft + one.offsetWidth]);
                """);
    }

    @Test
    void bedsThatAreMergedCloseUp() throws IOException {
        browser.open(server.page("strata"));
        browser.waitFor(".bed-row .row-about", "7 beds");
        browser.settle();
        List<?> before = edges();
        assertEquals(14, before.size());
        store.merge(3);
        tell("Merged");
        browser.waitFor(".bed-row .row-about", "5 beds", Duration.ofSeconds(2));
        browser.settle();
        List<?> after = edges();
        assertEquals(10, after.size());
        assertEquals(before.subList(0, 8), after.subList(0, 8), "older beds stay");
        assertEquals(before.get(8), after.get(8), "the new bed begins with the first");
        assertEquals(before.getLast(), after.getLast(), "and ends with the last");
        assertCalm();
    }

    @Test
    void bedsThatAQueryPassedOverArePaleUntilTheNext() throws IOException {
        List<Long> files = store.filesOf(0);
        server.answers(
                "POST /v1/stores/reef/sql",
                200,
                lines(Map.of(
                        "dataset",
                        "Tweets",
                        "access",
                        "primary scan",
                        "operators",
                        List.of(Map.of(
                                "operator",
                                "scan",
                                "passedOver",
                                2,
                                "passedOverFiles",
                                List.of(files.get(5), files.get(6)))))));
        browser.open(server.page("strata"));
        browser.waitFor(".bed-row .row-about", "7 beds");
        browser.settle();
        assertEquals(List.of(255L, 255L, 255L, 255L, 255L, 255L, 255L), opacities());
        browser.click(".rail a[href='#query']");
        browser.type("#sql", "select * from Tweets where at > '2026-11-09'");
        browser.click("#explain");
        browser.waitFor("#answer", "2 components passed over");
        browser.click(".rail a[href='#strata']");
        browser.waitFor(".bed-row .row-about", "7 beds, 269 MiB, 2 passed over by the last query");
        browser.settle();
        List<?> pale = opacities();
        assertTrue(((Number) pale.get(0)).intValue() < 100, pale + ": the oldest is not pale");
        assertTrue(((Number) pale.get(1)).intValue() < 100, pale + ": the second is not pale");
        assertEquals(List.of(255L, 255L, 255L, 255L, 255L), pale.subList(2, 7));
        assertEquals(
                2L,
                browser.run(
                        "return document.querySelectorAll(\".bed[aria-label$='passed over by the last query']\").length"));
        assertEquals(List.of(), browser.barriers());
        server.answers("POST /v1/stores/reef/sql", 200, lines(Map.of("summary", Map.of())));
        browser.click(".rail a[href='#query']");
        browser.type("#sql", "select 1");
        browser.click("#run");
        browser.waitFor("#query-status", "0 rows in");
        browser.click(".rail a[href='#strata']");
        browser.settle();
        assertEquals(List.of(255L, 255L, 255L, 255L, 255L, 255L, 255L), opacities());
        assertCalm();
    }

    /** How opaque the beds of the first index are where each is dense, the oldest first. */
    private static List<?> opacities() {
        return (List<?>) browser.run("""
                const row = document.querySelectorAll('.bed-row')[0];
                const canvas = row.querySelector('canvas');
                const scale = canvas.width / canvas.clientWidth;
                const copy = document.createElement('canvas');
                [copy.width, copy.height] = [canvas.width, canvas.height];
                const pen = copy.getContext('2d', { willReadFrequently: true });
                pen.drawImage(canvas, 0, 0);
                return [...row.querySelectorAll('.bed')].map(one => pen.getImageData(
                    (one.offsetLeft + one.offsetWidth / 2) * scale, (one.offsetTop + 5) * scale, 1, 1).data[3]);
                """);
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
