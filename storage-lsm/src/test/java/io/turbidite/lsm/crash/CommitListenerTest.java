package io.turbidite.lsm.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.ClosedException;
import io.turbidite.core.StorageException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.ForwardingTasks;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.task.Tasks;
import io.turbidite.lsm.Commit;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/** Listeners that come while another one is waited for, or while the store is closed. */
class CommitListenerTest {
    private static final long SEED = Seeds.of("CommitListenerTest");

    private static Map<String, @Nullable Object> row(long id) {
        return new Row(id, "ann", 1, null, "x".repeat(200)).toMap();
    }

    /** It comes while a later write is being synced, which fails. */
    @Test
    void what_is_durable_is_told_so_though_a_later_sync_fails() {
        int met = 0;
        for (int round = 0; round < 20; round++) {
            long seed = Seeds.mix(SEED, round);
            SimDisk disk = new SimDisk(seed, Profile.STRICT);
            List<@Nullable StorageException> ofFirst = new ArrayList<>();
            List<@Nullable StorageException> ofSecond = new ArrayList<>();
            try (SimStore sim = SimStore.open(disk, seed, SimStore.options(Durability.SYNC))) {
                Dataset dataset = sim.store.createDataset(Row.blindSpec("T"));
                Commit first = dataset.upsertAsync(row(0));
                first.awaitDurable();
                disk.fault(FaultScript.with(Fault.EIO)
                        .on(OperationKind.SYNC)
                        .call(1)
                        .forever());
                Commit second = dataset.upsertAsync(row(1));
                second.whenDurable(ofSecond::add);
                disk.onOperation(step -> {
                    if (step.kind() == OperationKind.SYNC && ofSecond.isEmpty()) {
                        disk.onOperation(next -> {});
                        first.whenDurable(ofFirst::add);
                    }
                });
                assertThatThrownBy(second::awaitDurable).isInstanceOf(StoreFailedException.class);
            }
            assertThat(ofSecond)
                    .hasOnlyElementsOfType(StoreFailedException.class)
                    .hasSize(1);
            assertThat(ofFirst).as("round %d", round).containsOnlyNulls();
            met += ofFirst.size();
        }
        assertThat(met).as("rounds in which it came so").isPositive();
    }

    /** Whenever the store's end lets others run, another listener comes: it is told, or refused. */
    @Test
    void who_is_not_refused_by_a_closing_store_is_told() {
        SimClock clock = new SimClock();
        Interrupting tasks = new Interrupting(new SimTasks(SEED, clock));
        List<@Nullable StorageException> told = new ArrayList<>();
        int[] accepted = {0};
        int[] refused = {0};
        Store store = Store.open(
                new SimDisk(SEED, Profile.STRICT), tasks, clock, SimStore.options(Durability.SYNC));
        Commit commit = store.createDataset(Row.blindSpec("T")).upsertAsync(row(0));
        commit.awaitDurable();
        tasks.afterAwait = () -> {
            if (accepted[0] == 20) {
                return;
            }
            try {
                commit.whenDurable(told::add);
                accepted[0]++;
            } catch (ClosedException e) {
                refused[0]++;
            }
        };
        store.close();
        assertThat(accepted[0]).isPositive();
        assertThat(told).hasSize(accepted[0]).containsOnlyNulls();
    }

    /** Memory for a thread is missing: who asked is told, and the store can be closed. */
    @Test
    void a_listener_whose_thread_can_not_start_is_none() {
        SimClock clock = new SimClock();
        Interrupting tasks = new Interrupting(new SimTasks(SEED, clock));
        List<@Nullable StorageException> told = new ArrayList<>();
        try (Store store = Store.open(
                new SimDisk(SEED, Profile.STRICT),
                tasks,
                clock,
                SimStore.options(Durability.SYNC))) {
            Commit commit = store.createDataset(Row.blindSpec("T")).upsertAsync(row(0));
            tasks.startsNone = true;
            assertThatThrownBy(() -> commit.whenDurable(told::add))
                    .isInstanceOf(OutOfMemoryError.class);
            tasks.startsNone = false;
            commit.awaitDurable();
        }
        assertThat(told).isEmpty();
    }

    /** Lets somebody in behind each wait. */
    private static final class Interrupting extends ForwardingTasks {
        private Runnable afterAwait = () -> {};
        private boolean startsNone;

        Interrupting(Tasks tasks) {
            super(tasks);
        }

        @Override
        public Worker start(String name, LongSupplier idleMicros, Step step) {
            if (startsNone) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            return super.start(name, idleMicros, step);
        }

        @Override
        public void await(BooleanSupplier condition) {
            super.await(condition);
            afterAwait.run();
        }
    }
}
