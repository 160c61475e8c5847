package io.turbidite.lsm.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.ClosedException;
import io.turbidite.core.StorageException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Commit;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.WriteBatch;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;

/** Writes that return before they are durable. */
@Timeout(120)
class AsyncWriteTest {
    private static final long SEED = Seeds.of("AsyncWriteTest");

    private static Map<String, @Nullable Object> row(long id) {
        return new Row(id, "ann", 1, null, "x".repeat(200)).toMap();
    }

    /** Nothing has been claimed in the log yet: there is nothing to wait for. */
    @ParameterizedTest
    @EnumSource(Durability.class)
    void a_first_write_that_finds_nothing_to_do_returns(Durability durability) {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        for (int life = 0; life < 2; life++) {
            try (SimStore sim = SimStore.open(disk, SEED, SimStore.options(durability))) {
                if (life == 0) {
                    sim.store.createDataset(Row.spec("T"));
                }
                Dataset dataset = sim.store.dataset("T");
                dataset.delete(7L);
                assertThat(dataset.deleteAsync(7L).isDurable()).isTrue();
                dataset.upsert(row(1));
            }
        }
    }

    /** Power is cut after each operation of the disk: durable ones stay, and no gap is left. */
    @ParameterizedTest
    @EnumSource(
            value = Durability.class,
            names = {"SYNC", "INTERVAL", "PROCESS"})
    void what_is_durable_stays_and_what_is_lost_is_an_end(Durability durability) {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        StoreOptions options = SimStore.options(durability);
        int[] cuts = {0};
        int[] lost = {0};
        try (SimStore sim = SimStore.open(disk, SEED, options)) {
            Dataset dataset = sim.store.createDataset(Row.blindSpec("T"));
            List<Commit> commits = new ArrayList<>();
            disk.onOperation(step -> {
                if (commits.size() % 3 == 0 && cuts[0] < 150) {
                    cuts[0]++;
                    long durable = durability == Durability.SYNC
                            ? commits.stream().filter(Commit::isDurable).count()
                            : 0;
                    int done = commits.size();
                    try (SimStore after = SimStore.open(
                            disk.crashImage(Seeds.mix(SEED, step.index()), Profile.STRICT),
                            SEED,
                            options)) {
                        int size = checkNoGap(after.store.dataset("T"));
                        assertThat(size).isBetween((int) durable, done + 1);
                        lost[0] += size < done ? 1 : 0;
                    }
                }
            });
            for (int i = 0; i < 400; i++) {
                commits.add(dataset.upsertAsync(row(i)));
            }
            Commit last = commits.getLast();
            last.awaitDurable();
            assertThat(commits).allMatch(Commit::isDurable);
            disk.onOperation(step -> {});
            if (durability == Durability.SYNC) {
                try (SimStore after =
                        SimStore.open(disk.crashImage(SEED, Profile.STRICT), SEED, options)) {
                    assertThat(checkNoGap(after.store.dataset("T"))).isEqualTo(400);
                }
            }
        }
        assertThat(cuts[0]).isGreaterThan(10);
        assertThat(lost[0]).isPositive();
    }

    private static int checkNoGap(Dataset dataset) {
        int size = SimStore.rows(dataset).size();
        assertThat(size == 0 || SimStore.rows(dataset).lastKey() == size - 1).isTrue();
        return size;
    }

    @Test
    void listeners_are_told_in_the_order_of_the_log_and_before_a_close() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        List<Integer> told = new ArrayList<>();
        List<Commit> commits = new ArrayList<>();
        try (SimStore sim = SimStore.open(disk, SEED, SimStore.options(Durability.SYNC))) {
            Dataset dataset = sim.store.createDataset(Row.blindSpec("T"));
            WriteBatch batch = sim.store.newBatch();
            commits.add(sim.store.writeAsync(batch)); // of nothing
            for (int i = 0; i < 100; i++) {
                commits.add(
                        i % 10 == 9 ? dataset.deleteAsync((long) i) : dataset.upsertAsync(row(i)));
            }
            assertThat(SimStore.rows(dataset)).hasSize(90);
            for (int i = 100; i >= 0; i--) {
                int number = i;
                commits.get(i).whenDurable(failure -> {
                    assertThat(failure).isNull();
                    assertThat(commits.get(number).isDurable()).isTrue();
                    told.add(number);
                });
            }
        }
        assertThat(told).hasSize(101).isSorted();
        assertThat(commits).allMatch(Commit::isDurable);
        commits.getLast().awaitDurable();
        assertThatThrownBy(() -> commits.getLast().whenDurable(failure -> {}))
                .isInstanceOf(ClosedException.class);
    }

    /** Nothing is in the log of this life that could become durable. */
    @ParameterizedTest
    @EnumSource(Durability.class)
    void a_first_write_that_changes_nothing_is_durable(Durability durability) {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (SimStore sim = SimStore.open(disk, SEED, SimStore.options(durability))) {
            sim.store.createDataset(Row.spec("T")).upsert(row(1));
        }
        for (int life = 0; life < 4; life++) {
            try (SimStore sim = SimStore.open(disk, SEED, SimStore.options(durability))) {
                Dataset dataset = sim.store.dataset("T");
                switch (life) {
                    case 0 -> dataset.delete(5L);
                    case 1 -> dataset.deleteAsync(5L).awaitDurable();
                    case 2 -> sim.store.writeAsync(sim.store.newBatch()).awaitDurable();
                    default -> assertThat(dataset.insertIfAbsent(row(1))).isFalse();
                }
                assertThat(sim.store.writeAsync(sim.store.newBatch()).isDurable())
                        .isTrue();
            }
        }
    }

    @Test
    void a_sync_that_fails_fails_every_commit_that_is_not_durable() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        List<StorageException> failures = new ArrayList<>();
        SimStore sim = SimStore.open(disk, SEED, SimStore.options(Durability.SYNC));
        Dataset dataset = sim.store.createDataset(Row.blindSpec("T"));
        Commit first = dataset.upsertAsync(row(0));
        first.awaitDurable();
        disk.fault(FaultScript.with(Fault.EIO).on(OperationKind.SYNC).call(1).forever());
        List<Commit> commits = new ArrayList<>();
        assertThatThrownBy(() -> {
                    for (int i = 1; i < 10_000; i++) {
                        commits.add(dataset.upsertAsync(row(i))
                                .whenDurable(
                                        failure -> failures.add(Objects.requireNonNull(failure))));
                    }
                })
                .isInstanceOf(StoreFailedException.class);
        assertThat(commits).isNotEmpty();
        for (Commit commit : commits) {
            assertThatThrownBy(commit::awaitDurable).isInstanceOf(StoreFailedException.class);
            assertThatThrownBy(commit::isDurable).isInstanceOf(StoreFailedException.class);
        }
        assertThat(first.isDurable()).isTrue();
        sim.close();
        assertThat(failures)
                .hasSameSizeAs(commits)
                .hasOnlyElementsOfType(StoreFailedException.class);
    }

    /** The thread that tells is not the one that writes. */
    @Test
    void a_listener_that_throws_or_waits_delays_no_commit(@TempDir Path directory)
            throws InterruptedException {
        CountDownLatch mayGoOn = new CountDownLatch(1);
        CountDownLatch toldLast = new CountDownLatch(1);
        List<Throwable> closing = Collections.synchronizedList(new ArrayList<>());
        try (Store store = Store.open(directory)) {
            Dataset dataset = store.createDataset(Row.blindSpec("T"));
            Runnable close = store::close;
            dataset.upsertAsync(row(0)).whenDurable(failure -> {
                throw new AssertionError("on purpose");
            });
            dataset.upsertAsync(row(1)).whenDurable(failure -> {
                try {
                    close.run();
                } catch (IllegalStateException refused) {
                    closing.add(refused);
                }
                awaitUninterrupted(mayGoOn);
            });
            for (int i = 2; i < 200; i++) {
                dataset.upsertAsync(row(i)).awaitDurable();
            }
            dataset.upsertAsync(row(200)).whenDurable(failure -> {
                dataset.upsertAsync(row(201)).whenDurable(again -> toldLast.countDown());
            });
            mayGoOn.countDown();
            toldLast.await();
            assertThat(closing).hasSize(1);
            assertThat(store.events().recent())
                    .anySatisfy(event -> assertThat(event)
                            .isInstanceOfSatisfying(
                                    StoreEvent.Failed.class,
                                    failed -> assertThat(failed.cause()).hasMessage("on purpose")));
            assertThat(dataset.get(201L)).isNotNull();
        }
    }

    private static void awaitUninterrupted(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
