package io.turbidite.feeds.console;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.turbidite.core.sim.LeaksOnPurpose;

import org.junit.jupiter.api.Test;

import java.time.Instant;

/** The view Pulse, and what a page keeps that is open for long. */
@LeaksOnPurpose("the driver's client ends its threads when it likes")
final class ConsolePulseTest extends ConsoleFixture {
    /** What the page keeps of the last hour has its room from the first minutes on. */
    @Test
    void anHourOfSamplesLetsTheHeapBe() {
        browser.open(server.page("pulse"));
        browser.waitFor("#state", "well");
        tellSeconds(1, 600);
        long before = browser.heapBytes();
        tellSeconds(601, 4_200);
        long after = browser.heapBytes();
        assertTrue(after < before * 1.2, before + " bytes became " + after);
    }

    /** A sample each second, a flush each third one, and a store that has grown each tenth. */
    private void tellSeconds(int from, int to) {
        for (int second = from; second <= to; second++) {
            sample(second);
            if (second % 3 == 0) {
                server.tell(
                        "store",
                        store.event(
                                "Flushed",
                                Instant.now().toString(),
                                "dataset",
                                "Tweets",
                                "partition",
                                0,
                                "bytesWritten",
                                second));
            }
            if (second % 100 == 0) {
                // the page has shown them before more come
                var _ = browser.runLong(
                        "requestAnimationFrame(() => setTimeout(arguments[0], 20))");
            }
        }
        browser.waitFor("main", "flushes");
    }
}
