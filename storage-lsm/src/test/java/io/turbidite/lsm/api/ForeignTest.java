package io.turbidite.lsm.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.log.Durability;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SubDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Snapshot;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.WriteBatch;
import io.turbidite.lsm.harness.SimStore;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.Map;
import java.util.Objects;

/**
 * What belongs to one opening of one store is refused by every other; nothing is changed by that.
 */
class ForeignTest {
    private static final long SEED = 3;
    private static final StoreOptions OPTIONS = SimStore.options(Durability.SYNC);

    private final SimDisk disk = new SimDisk(SEED, Profile.STRICT);
    private SimStore one = open("one");
    private final SimStore other = open("other");
    private final Dataset own = one.store.createDataset(spec());
    private final Dataset foreign = other.store.createDataset(spec());

    private SimStore open(String directory) {
        disk.createDirectories(directory);
        return SimStore.open(disk, SEED, OPTIONS, same -> SubDisk.of(same, directory));
    }

    private static DatasetSpec spec() {
        return DatasetSpec.named("T").field("id", "int64").primaryKey("id");
    }

    @BeforeEach
    void write() {
        own.upsert(Map.of("id", 1L, "in", "one"));
        foreign.upsert(Map.of("id", 1L, "in", "other"));
    }

    @AfterEach
    void close() {
        one.close();
        other.close();
        try (SimStore again = open("one");
                SimStore otherAgain = open("other")) {
            assertThat(in(again)).isEqualTo("one");
            assertThat(in(otherAgain)).isEqualTo("other");
        }
    }

    private static Object in(SimStore sim) {
        Map<String, ?> record = sim.store.dataset("T").get(1L);
        return Objects.requireNonNull(Objects.requireNonNull(record).get("in"));
    }

    private static void assertRefused(ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("one of")
                .hasMessageContaining("other of");
    }

    private static Slice record(Dataset dataset) {
        return dataset.newRecordWriter().write(Map.of("id", 1L, "in", "nowhere"));
    }

    @Test
    void a_batch_takes_datasets_of_its_store_alone() {
        WriteBatch batch = one.store.newBatch();
        assertRefused(() -> batch.upsert(foreign, record(foreign)));
        assertRefused(() -> batch.insert(foreign, record(foreign)));
        assertRefused(
                () -> batch.delete(foreign, Slice.of(foreign.primaryKeySpec().encode(1L))));
        assertThat(batch.size()).isZero();
    }

    @Test
    void a_store_takes_batches_of_its_own_alone() {
        WriteBatch batch = other.store.newBatch().upsert(foreign, record(foreign));
        assertRefused(() -> one.store.write(batch));
        assertRefused(() -> one.store.write(other.store.newBatch()));
    }

    @Test
    void a_snapshot_shows_datasets_of_its_store_alone() {
        try (Snapshot snapshot = one.store.openSnapshot()) {
            assertRefused(() -> snapshot.view(foreign).close());
            assertRefused(() -> one.store.requireOwn(foreign));
            try (ReadView view = snapshot.view(own)) {
                assertThat(view.timestamp()).isEqualTo(snapshot.timestamp());
            }
        }
    }

    @Test
    void what_an_earlier_opening_gave_is_foreign_to_a_later_one() {
        WriteBatch before = one.store.newBatch().upsert(own, record(own));
        Snapshot snapshot = one.store.openSnapshot();
        one.close();
        one = open("one");
        assertThatThrownBy(() -> one.store.write(before))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("earlier opening");
        WriteBatch batch = one.store.newBatch();
        assertThatThrownBy(() -> batch.upsert(own, record(own)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("earlier opening");
        assertThatThrownBy(() -> snapshot.view(one.store.dataset("T")))
                .isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> own.upsert(Map.of("id", 1L))).isInstanceOf(ClosedException.class);
    }

    @Test
    void a_dropped_dataset_is_not_taken_for_one_of_its_name() {
        Dataset passing = one.store.createDataset(
                DatasetSpec.named("P").field("id", "int64").primaryKey("id"));
        passing.upsert(Map.of("id", 1L));
        WriteBatch batch = one.store.newBatch().upsert(passing, record(passing));
        try (Snapshot snapshot = one.store.openSnapshot()) {
            one.store.dropDataset("P");
            Dataset later = one.store.createDataset(
                    DatasetSpec.named("P").field("id", "int64").primaryKey("id"));
            assertThatThrownBy(() -> one.store.write(batch))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("dropped");
            assertThatThrownBy(() -> {
                        try (ReadView view = snapshot.view(passing)) {
                            view.scan(
                                            0,
                                            io.turbidite.core.scan.KeyRange.all(),
                                            io.turbidite.core.scan.FilterPredicate.none())
                                    .close();
                        }
                    })
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("dropped");
            assertThat(later.get(1L)).isNull();
        }
    }
}
