package io.turbidite.feeds.health;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.feeds.manage.FeedState;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.ops.Predicates;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A store under a load that it bears gives no cause to worry. */
@Timeout(120)
class HealthyStoreTest {
    private static final int SAMPLES = 8;
    private static final int RECORDS = 1_000;

    /** How long a page, a flush or a batch takes is the machine's affair. */
    private static final Set<String> OF_THE_MACHINE = Set.of(
            "cache.load", "flush.time", "write.stall.time", "write.delay.time", "feed.batch.time");

    @TempDir
    private Path directory;

    @Test
    void a_normal_load_gives_no_finding() throws IOException {
        try (Store store = Store.open(directory.resolve("store"))) {
            Dataset dataset = store.createDataset(DatasetSpec.named("T")
                    .field("id", "int64")
                    .field("n", "int32")
                    .primaryKey("id")
                    .index(IndexSpec.btree("by_n", "n")));
            StoreWatch watch = StoreWatch.of(store.meters());
            try (FeedManager feeds = FeedManager.open(store)) {
                for (int i = 0; i < SAMPLES; i++) {
                    watch.sample(i * StoreWatch.SAMPLE_NANOS);
                    load(dataset, i);
                    feed(store, feeds, i);
                }
                long now = SAMPLES * StoreWatch.SAMPLE_NANOS;
                assertThat(watch.isWhole(now)).isTrue();
                assertThat(store.meters().latency("flush.time").count()).isGreaterThan(2);
                List<Finding> found = Findings.ofFigures(store.meters(), now).stream()
                        .filter(one -> !OF_THE_MACHINE.contains(String.valueOf(one.metric())))
                        .toList();
                assertThat(found).isEmpty();
            }
        }
    }

    private static void load(Dataset dataset, int round) {
        for (int i = 0; i < RECORDS; i++) {
            dataset.upsert(Map.of("id", (long) (i * 7 + round) % 2_500, "n", i % 100));
            assertThat(dataset.get(-1L)).isNull();
        }
        dataset.flush();
        try (QueryResult rows =
                Query.on(dataset).where(Predicates.eq("n", round)).run()) {
            while (rows.next()) {
                assertThat(rows.map()).containsEntry("n", round);
            }
        }
    }

    private void feed(Store store, FeedManager feeds, int round) throws IOException {
        String name = "f" + round;
        Files.writeString(
                directory.resolve(name + ".json"),
                IntStream.range(0, RECORDS)
                        .mapToObj("{\"id\":%d}\n"::formatted)
                        .collect(Collectors.joining()));
        var _ = feeds.start("""
                feed: %s
                dataset: { name: Lines, type: { id: int64 }, primaryKey: id }
                source: { kind: file, path: %s.json }
                parser: { kind: json }
                """.formatted(name, name), directory);
        store.environment().tasks().await(() -> {
            FeedState state = feeds.status(name).state();
            return state == FeedState.ENDED || state == FeedState.FAILED;
        });
        assertThat(feeds.status(name).state()).isEqualTo(FeedState.ENDED);
    }
}
