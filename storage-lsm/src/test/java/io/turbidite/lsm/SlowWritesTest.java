package io.turbidite.lsm;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.meter.Latency;
import io.turbidite.core.meter.SlowOperations;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.Map;

/** Writes that stand out are kept with what their time went to. */
class SlowWritesTest {
    @TempDir
    private Path directory;

    @Test
    void a_write_that_waits_longer_than_others_says_what_for() {
        try (Store store = Store.open(directory.resolve("store"))) {
            Dataset dataset = store.createDataset(
                    DatasetSpec.named("T").field("id", "int64").primaryKey("id"));
            SlowOperations slow = SlowOperations.of(store.meters());
            // writers come until one of them stands out, as one of a thousand does
            long id = 0;
            while (slow.newest().isEmpty()) {
                dataset.upsert(Map.of("id", id++));
                if (id % 1_000 == 0) {
                    dataset.flush();
                }
            }
            SlowOperations.Slow first = slow.newest().getFirst();
            assertThat(first.operation()).isEqualTo("write");
            assertThat(first.nanos()).isGreaterThan(first.thresholdNanos());
            assertThat(first.lockNanos()
                            + first.logNanos()
                            + first.stallNanos()
                            + first.pageReadNanos()
                            + first.mergeNanos())
                    .isBetween(0L, first.nanos());
        }
    }

    @Test
    void each_write_and_each_batch_leaves_its_time_once() {
        try (Store store = Store.open(directory.resolve("store"))) {
            Dataset dataset = store.createDataset(
                    DatasetSpec.named("T").field("id", "int64").primaryKey("id"));
            long startNanos = System.nanoTime();
            for (long id = 0; id < 100; id++) {
                dataset.upsert(Map.of("id", id));
            }
            KeySpec keys = dataset.primaryKeySpec();
            store.write(store.newBatch()
                    .delete(dataset, Slice.of(keys.encode(3L)))
                    .delete(dataset, Slice.of(keys.encode(4L))));
            assertThat(dataset.upsertAsync(Map.of("id", 102L))).isNotNull();
            long nanos = System.nanoTime() - startNanos;
            Latency.Summary times = store.meters().latency("write.time").summary();
            assertThat(times.count()).isEqualTo(102);
            assertThat(times.recentCount()).isEqualTo(102);
            assertThat(times.nanosSum()).isBetween(1L, nanos);
            assertThat(times.p50Nanos()).isBetween(1L, nanos);
        }
    }
}
