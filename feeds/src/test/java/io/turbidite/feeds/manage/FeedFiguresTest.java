package io.turbidite.feeds.manage;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.Instrument;
import io.turbidite.core.meter.Latency;
import io.turbidite.core.meter.Reading;
import io.turbidite.feeds.FeedStage;
import io.turbidite.lsm.Store;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What a feed counts of itself, stage by stage. */
@Timeout(60)
class FeedFiguresTest {
    private static final String TEXT = "{\"id\":1}\nnonsense\n{\"id\":2}\n{\"id\":2}\n";

    @TempDir
    private Path directory = Path.of("");

    private static Map<String, Long> figures(Store store) {
        Map<String, Long> figures = new TreeMap<>();
        for (Instrument one : store.meters().instruments()) {
            if (one.name().startsWith("feed.")) {
                assertThat(one.tags()).containsEntry("feed", "lines");
                String tag = one.tags().getOrDefault("stage", one.tags().getOrDefault("cause", ""));
                figures.put(
                        one.name() + ":" + tag,
                        switch (one) {
                            case Counter counter -> counter.sum();
                            case Reading reading -> reading.value();
                            case Latency latency -> latency.summary().count();
                        });
            }
        }
        return figures;
    }

    @Test
    void a_feed_counts_by_stage_and_what_is_dropped_is_gone() throws IOException {
        Files.writeString(directory.resolve("lines.json"), TEXT);
        try (Store store = Store.open(directory.resolve("store"));
                FeedManager feeds = FeedManager.open(store)) {
            var _ = feeds.start("""
                    feed: lines
                    mode: insert
                    dataset: { name: Lines, type: { id: int64 }, primaryKey: id }
                    source: { kind: file, path: lines.json }
                    parser: { kind: json }
                    """, directory);
            store.environment()
                    .tasks()
                    .await(() -> feeds.status("lines").state() == FeedState.ENDED);
            assertThat(figures(store))
                    .containsEntry("feed.state:", 6L)
                    .containsEntry("feed.records:parse", 3L)
                    .containsEntry("feed.records:store", 2L)
                    .containsEntry("feed.rejected:parse", 1L)
                    .containsEntry("feed.rejected:store", 1L)
                    .containsEntry("feed.bytes:parse", (long) TEXT.length())
                    .containsEntry("feed.dropped:", 0L)
                    .containsEntry("feed.lag.bytes:", 0L)
                    .containsEntry("feed.lag.records:", 0L)
                    .containsEntry("feed.queue.batches:", 0L)
                    .containsEntry("feed.queue.bytes:", 0L)
                    .containsEntry("feed.queue.percent:", 0L)
                    .containsEntry("feed.batch.time:", 1L)
                    .hasEntrySatisfying(
                            "feed.bytes:store", bytes -> assertThat(bytes).isPositive())
                    .hasEntrySatisfying(
                            "feed.busy.nanos:parse", nanos -> assertThat(nanos).isPositive())
                    .hasEntrySatisfying(
                            "feed.busy.nanos:store", nanos -> assertThat(nanos).isPositive())
                    .hasEntrySatisfying(
                            "feed.wait.nanos:parse", nanos -> assertThat(nanos).isPositive())
                    .containsEntry("feed.wait.nanos:source", 0L);
            var _ = feeds.drop("lines");
            assertThat(figures(store)).isEmpty();
        }
    }

    @Test
    void a_feed_that_waits_for_its_source_or_is_paused_says_so_and_does_not_lag() throws Exception {
        Files.writeString(directory.resolve("lines.json"), "{\"id\":1}\n");
        try (Store store = Store.open(directory.resolve("store"));
                FeedManager feeds = FeedManager.open(store)) {
            var _ = feeds.start("""
                    feed: lines
                    dataset: { name: Lines, type: { id: int64 }, primaryKey: id }
                    source: { kind: tail, path: lines.json }
                    parser: { kind: json }
                    """, directory);
            store.environment()
                    .tasks()
                    .await(() -> feeds.status("lines").state() == FeedState.WAITING
                            && figures(store).getOrDefault("feed.wait.nanos:source", 0L) > 0);
            assertThat(figures(store))
                    .containsEntry("feed.lag.seconds:", 0L)
                    .containsEntry("feed.records:store", 1L)
                    .doesNotContainKey("feed.lag.bytes:");
            List<FeedStage> stages = feeds.status("lines").stages();
            assertThat(stages)
                    .extracting(FeedStage::stage)
                    .containsExactly("source", "parse", "route", "store");
            assertThat(stages).extracting(FeedStage::records).containsExactly(0L, 1L, 0L, 1L);
            assertThat(stages).extracting(FeedStage::workers).containsExactly(0, 1, 1, 1);
            assertThat(stages.getFirst().waitNanos()).isPositive();
            assertThat(stages.getLast().busyNanos()).isPositive();

            var _ = feeds.pause("lines");
            store.environment()
                    .tasks()
                    .await(() -> feeds.status("lines").state() == FeedState.PAUSED);
            Thread.sleep(1_100); // the figure has whole seconds
            assertThat(figures(store)).containsEntry("feed.lag.seconds:", 0L);
        }
    }
}
