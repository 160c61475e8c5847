package io.turbidite.feeds.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.meter.Meters;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.List;

/** How many series a scrape has at most. */
class ScrapeTest {
    @TempDir
    private Path directory;

    private static List<String> samples(ServedStore served) throws Exception {
        return served.get("/metrics")
                .body()
                .lines()
                .filter(line -> !line.startsWith("#"))
                .toList();
    }

    @Test
    void there_are_no_more_than_2000_series_and_room_that_gets_free_is_used() throws Exception {
        try (ServedStore served = ServedStore.open(directory)) {
            int before = samples(served).size();
            assertThat(before).isLessThan(1_000);
            Meters meters = served.store("one").meters();
            for (int i = 0; i < 2_500; i++) {
                meters.scope("feed", "f" + i).counter("feed.some").increment();
            }
            List<String> full = samples(served);
            assertThat(full).hasSizeBetween(1_990, 2_000);
            assertThat(full)
                    .filteredOn(line -> line.startsWith("turbidite_http_series_refused"))
                    .singleElement()
                    .satisfies(line -> assertThat(
                                    Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                            .isBetween(500.0, 2_000.0));
            for (int i = 0; i < 2_500; i++) {
                meters.remove("feed", "f" + i);
            }
            assertThat(samples(served)).hasSizeLessThan(1_000);
            meters.scope("feed", "late").counter("feed.some").increment();
            assertThat(samples(served)).anyMatch(line -> line.contains("feed=\"late\""));
        }
    }
}
