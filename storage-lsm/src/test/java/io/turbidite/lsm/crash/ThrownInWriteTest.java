package io.turbidite.lsm.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.StoreFailedException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.WriteBatch;
import io.turbidite.lsm.harness.ForwardingTasks;
import io.turbidite.lsm.harness.ReadHook;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.harness.Step;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.write.WriteInside;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * An error on the way of a write, wherever it comes, costs that write and perhaps the store, but
 * nobody's time: what others wait for is let go.
 */
@Timeout(120)
class ThrownInWriteTest {
    private static final long SEED = 17;

    /** Ends within ten seconds. */
    private static void inTime(String what, Runnable call) {
        try {
            CompletableFuture.runAsync(call).get(10, TimeUnit.SECONDS);
        } catch (TimeoutException late) {
            throw new AssertionError(what + " hangs", late);
        } catch (ExecutionException | InterruptedException failed) {
            throw new AssertionError(what + " failed", failed);
        }
    }

    private static void inTimeRefused(String what, Runnable call) {
        inTime(
                what,
                () -> assertThatThrownBy(call::run)
                        .isInstanceOf(StoreFailedException.class)
                        .hasMessageContaining("planted"));
    }

    private static WriteBatch batch(Store store, long id) {
        Dataset dataset = store.dataset("T");
        return store.newBatch()
                .upsert(
                        dataset,
                        dataset.newRecordWriter()
                                .write(new Row(id, "ann", 1, null, "row").toMap()));
    }

    @ParameterizedTest
    @EnumSource(Durability.class)
    void what_is_thrown_before_the_record_is_published_costs_nothing_but_the_write(
            Durability durability) {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        Store store = Store.open(
                disk, ThreadTasks.create("thrown"), Clock.system(), SimStore.options(durability));
        store.createDataset(Row.spec("T"));
        for (long id = 0; id < 40; id++) { // more than the ring has slots
            WriteBatch broken = batch(store, id);
            WriteInside.breakAtGates(Inside.write(broken));
            assertThatThrownBy(() -> store.write(broken))
                    .isInstanceOf(ArrayIndexOutOfBoundsException.class);
        }
        inTime("another writer", () -> store.write(batch(store, 1)));
        inTime("a sync", store::sync);
        assertThat(Inside.core(store).health().firstFailure()).isNull();
        assertThat(SimStore.rows(store.dataset("T"))).containsOnlyKeys(1L);
        assertThat(Inside.holdsNothing(store)).isTrue();
        inTime("close", store::close);
        try (SimStore again = SimStore.open(disk, SEED, SimStore.options(durability))) {
            assertThat(SimStore.rows(again.store.dataset("T"))).containsOnlyKeys(1L);
        }
    }

    @Test
    void what_is_thrown_when_the_record_is_published_fails_the_store_and_wakes_all() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        StoreOptions options = SimStore.options(Durability.SYNC);
        WakeHook tasks = new WakeHook(ThreadTasks.create("thrown"));
        Store store = Store.open(disk, tasks, Clock.system(), options);
        store.createDataset(Row.spec("T"));
        inTime("a writer", () -> store.write(batch(store, 1)));
        OutOfMemoryError thrown = new OutOfMemoryError("planted");
        Thread writer = Thread.currentThread();
        tasks.onWake = () -> {
            if (Thread.currentThread().equals(writer)) {
                tasks.onWake = () -> {};
                throw thrown;
            }
        };
        assertThatThrownBy(() -> store.write(batch(store, 2))).isSameAs(thrown);
        assertThat(Inside.core(store).health().firstFailure()).isSameAs(thrown);
        inTimeRefused("another writer", () -> store.write(batch(store, 3)));
        assertThat(store.dataset("T").get(1L)).isNotNull();
        assertThat(Inside.holdsNothing(store)).isTrue();
        inTime("close", store::close);
        try (SimStore again = SimStore.open(disk, SEED, options)) {
            assertThat(SimStore.rows(again.store.dataset("T"))).containsKeys(1L, 2L);
            again.verify();
        }
    }

    /**
     * What a flush has moved is looked for again with no claim held: others' records stand behind
     * it.
     */
    @Test
    void nothing_is_read_from_disk_while_a_place_in_the_log_is_held() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        StoreOptions options = SimStore.options(Durability.BUFFERED);
        try (SimStore sim = SimStore.open(disk, SEED, options)) {
            Dataset dataset = sim.store.createDataset(Row.spec("T")
                    .mergePolicy(MergePolicySpec.parse("correlated-no-merge"))
                    .maintenance(Maintenance.MUTABLE_BITMAP));
            dataset.upsert(new Row(1, "ann", 1, null, "on disk").toMap());
            dataset.flush();
        }
        ReadHook reading = new ReadHook(disk);
        try (SimStore sim = SimStore.open(disk, SEED, options, same -> reading)) {
            Dataset dataset = sim.store.dataset("T");
            Dataset other = sim.store.createDataset(Row.spec("U"));
            dataset.upsert(new Row(2, "bob", 1, null, "in memory").toMap());
            AtomicInteger reads = new AtomicInteger();
            Runnable meanwhile = () -> {
                reads.incrementAndGet();
                other.upsert(new Row(3, "cyd", 1, null, "meanwhile").toMap());
                sim.store.sync();
            };
            reading.inNextRead(() -> {
                reads.incrementAndGet();
                dataset.flush(); // what the batch found in memory is elsewhere now
                reading.inNextRead(meanwhile);
            });
            WriteBatch batch = sim.store.newBatch();
            batch.upsert(
                    dataset,
                    dataset.newRecordWriter().write(new Row(2, "bob", 2, null, "new").toMap()));
            batch.upsert(
                    dataset,
                    dataset.newRecordWriter().write(new Row(1, "ann", 2, null, "new").toMap()));
            sim.store.write(batch);
            assertThat(reads).hasValue(2);
            assertThat(Objects.requireNonNull(other.get(3L))).containsEntry("user", "cyd");
            assertThat(Objects.requireNonNull(SimStore.rows(dataset).get(2L)).score())
                    .isEqualTo(2);
            sim.verify();
        }
    }

    /** Does something before each wake of a worker. */
    private static final class WakeHook implements ForwardingTasks {
        private final Tasks tasks;
        private volatile Runnable onWake = () -> {};

        WakeHook(Tasks tasks) {
            this.tasks = tasks;
        }

        @Override
        public Tasks tasks() {
            return tasks;
        }

        @Override
        public Worker start(String name, long idleMicros, Step step) {
            return ForwardingTasks.onWake(tasks.start(name, idleMicros, step), () -> onWake.run());
        }
    }
}
