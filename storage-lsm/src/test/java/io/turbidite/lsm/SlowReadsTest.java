package io.turbidite.lsm;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.meter.SlowOperations;
import io.turbidite.core.time.Clock;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Reads that wait for pages are kept where nearly all others wait for nothing. */
@Timeout(120)
class SlowReadsTest {
    private static final long RECORDS = 20_000;
    private static final long FOLD_NANOS = 1_100_000_000;

    @TempDir
    private Path directory;

    @Test
    void reads_that_wait_for_pages_stand_out_one_by_one_and_in_batches() {
        try (Store store = Store.open(directory.resolve("store"))) {
            Dataset dataset = store.createDataset(DatasetSpec.named("T")
                    .field("id", "int64")
                    .field("text", "string")
                    .primaryKey("id"));
            for (long id = 0; id < RECORDS; id++) {
                var _ = dataset.upsertAsync(Map.of("id", id, "text", "t".repeat(200)));
            }
            dataset.flush();
        }
        try (Store store = Store.open(directory.resolve("store"))) {
            Dataset dataset = store.dataset("T");
            SlowOperations slow = SlowOperations.of(store.meters());
            for (int i = 0; i < 3_000; i++) {
                assertThat(dataset.get(0L)).isNotNull();
            }
            Clock clock = store.environment().clock();
            long start = clock.monotonicNanos();
            store.environment().tasks().await(() -> clock.monotonicNanos() - start > FOLD_NANOS);
            assertThat(dataset.get(RECORDS / 4)).isNotNull(); // the percentile is anew
            int before = slow.newest().size();

            assertThat(dataset.get(RECORDS / 2)).isNotNull();
            check(slow, before + 1);
            assertThat(dataset.get(RECORDS / 2)).isNotNull(); // waits for nothing
            check(slow, before + 1);
            assertThat(dataset.getAll(List.of(1L, RECORDS - 1))).doesNotContainNull();
            check(slow, before + 2);
        }
    }

    private static void check(SlowOperations slow, int count) {
        assertThat(slow.newest()).hasSize(count);
        SlowOperations.Slow newest = slow.newest().getFirst();
        assertThat(newest.operation()).isEqualTo("read");
        assertThat(newest.pageReadNanos()).isBetween(1L, newest.nanos());
        assertThat(newest.nanos()).isGreaterThan(newest.thresholdNanos());
    }
}
