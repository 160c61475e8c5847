package io.turbidite.lsm.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.ClosedException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordRun;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * Another thread closes a stream while a run of a live bitmap, or of a range of keys, is read, and
 * takes its pages for something else. Whoever asks then, or moves, is told.
 */
@Timeout(120)
class ClosedRunTest {
    private static final long COUNT = 20_000;
    private static final String PAD = "x".repeat(60);

    @TempDir
    private Path directory;

    private Store store;
    private Dataset dataset;
    private final RecordRun run = new RecordRun();

    @BeforeEach
    void open() {
        // less than the records take
        store = Store.open(
                directory,
                StoreOptions.builder()
                        .durability(Durability.BUFFERED)
                        .build()
                        .withCacheBytes(1 << 20));
        dataset = store.createDataset(DatasetSpec.named("T")
                .field("id", "int64")
                .field("value", "int64")
                .field("pad", "string")
                .primaryKey("id")
                .maintenance(Maintenance.MUTABLE_BITMAP)
                .mergePolicy(MergePolicySpec.parse("correlated-no-merge"))
                .partitions(1));
        for (long id = 0; id < COUNT; id++) {
            dataset.upsert(Map.of("id", id, "value", valueOf(id), "pad", PAD));
        }
        dataset.flush();
    }

    @AfterEach
    void close() {
        store.close();
    }

    private static long valueOf(long id) {
        return 31 * id + 7;
    }

    private RecordStream stream(ReadView view, boolean isBounded) {
        KeyRange keys = KeyRange.of(null, dataset.primaryKeySpec().encode(COUNT - 1));
        return isBounded
                ? view.scan(0, keys, FilterPredicate.none())
                : view.scanUnordered(0, KeyRange.all(), FilterPredicate.none());
    }

    private void closeAndTakePages(RecordStream stream, boolean isBounded) {
        stream.close();
        try (ReadView view = dataset.openView();
                RecordStream other = stream(view, !isBounded)) {
            long visited = 0;
            while (other.next()) {
                visited++;
            }
            assertThat(visited).isGreaterThanOrEqualTo(COUNT - 1);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void who_reads_on_in_a_run_is_told(boolean isBounded) {
        try (ReadView view = dataset.openView();
                RecordStream stream = stream(view, isBounded)) {
            assertThat(stream.nextRun(run)).isTrue();
            assertThat(stream.nextRun(run)).isTrue();
            assertThat(run.count()).isGreaterThan(1);
            stream.checkOpen();
            CompletableFuture.runAsync(() -> closeAndTakePages(stream, isBounded))
                    .join();
            assertThatThrownBy(stream::checkOpen).isInstanceOf(ClosedException.class);
            assertThatThrownBy(stream::key).isInstanceOf(ClosedException.class);
            assertThatThrownBy(stream::record).isInstanceOf(ClosedException.class);
            assertThatThrownBy(() -> stream.nextRun(run)).isInstanceOf(ClosedException.class);
        }
    }
}
