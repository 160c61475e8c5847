package io.turbidite.lsm.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.version.StoreFiles;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** Background work that can't read a file fails alone: it is tried again, and all else goes on. */
class FailsAloneTest {
    private static final long SEED = 32;
    private static final int ROWS = 1_000;

    private final SimDisk disk = new SimDisk(SEED, Profile.STRICT);
    private final SimClock clock = new SimClock();
    private final SimStore sim = SimStore.open(
            disk,
            SEED,
            SimStore.options(Durability.SYNC).withCacheBytes(1 << 20),
            same -> same,
            clock);

    @AfterEach
    void close() {
        disk.clearFaults();
        sim.close();
    }

    private Dataset create(String name, Maintenance maintenance, String policy, int components) {
        Dataset dataset = sim.store.createDataset(
                Row.spec(name).maintenance(maintenance).mergePolicy(MergePolicySpec.parse(policy)));
        for (int round = 0; round < components; round++) {
            put(dataset, round);
            dataset.flush();
        }
        return dataset;
    }

    private static void put(Dataset dataset, int round) {
        for (int i = 0; i < ROWS; i++) {
            dataset.upsert(
                    new Row((long) round * ROWS + i, "user" + i % 7, round, null, "b").toMap());
        }
    }

    private void readsFail(String file) {
        disk.fault(FaultScript.with(Fault.EIO)
                .on(OperationKind.READ)
                .named(file::equals)
                .call(1)
                .forever());
    }

    private String file(String dataset, String index, int newestFirst) {
        return files(dataset, index).get(newestFirst);
    }

    private List<String> files(String dataset, String index) {
        return sim.store.describe().datasets().stream()
                .filter(described -> described.name().equals(dataset))
                .flatMap(described -> described.partitions().getFirst().indexes().stream())
                .filter(described -> described.name().equals(index))
                .flatMap(described -> described.components().stream())
                .map(component -> StoreFiles.component(component.fileId()))
                .toList();
    }

    private int components(String dataset) {
        return components(dataset, "primary");
    }

    private int components(String dataset, String index) {
        return files(dataset, index).size();
    }

    private boolean isPaused(String work) {
        return sim.store.events().recent().stream()
                .anyMatch(event -> event.toString().contains(work)
                        && event instanceof StoreEvent.SpaceChanged changed
                        && changed.paused());
    }

    private void checkOthersGoOn() {
        Dataset other = sim.store.findDataset("Other");
        if (other == null) {
            other = sim.store.createDataset(Row.blindSpec("Other"));
        }
        for (int i = 0; i < 2; i++) {
            put(other, i);
            other.flush();
        }
        other.mergeAll();
        assertThat(SimStore.rows(other)).hasSize(2 * ROWS);
    }

    /** No file that nobody names: each try would leave some. */
    private void checkNothingIsLeft() {
        sim.verify();
        sim.tasks.await(() -> disk.list(StoreFiles.DATA).stream()
                        .filter(name -> name.endsWith(".component"))
                        .count()
                == sim.store.describe().datasets().stream()
                        .flatMap(described -> described.partitions().getFirst().indexes().stream())
                        .mapToLong(index -> index.components().size())
                        .sum());
    }

    @Test
    void a_merge_that_can_not_read_a_file() {
        Dataset dataset = create("T", Maintenance.VALIDATION, "no-merge", 3);
        readsFail(file("T", "primary", 1));
        assertThatThrownBy(dataset::mergeAll)
                .isInstanceOf(StorageIoException.class)
                .hasMessageContaining(file("T", "primary", 1));
        checkOthersGoOn();
        dataset.upsert(new Row(1, "anna", 1, null, "b").toMap());
        disk.clearFaults();
        dataset.mergeAll();
        assertThat(components("T")).isEqualTo(1);
        sim.verify();
    }

    @Test
    void a_merge_that_a_policy_wants_is_tried_again() {
        Dataset dataset = create("T", Maintenance.VALIDATION, "constant(componentCountMax=3)", 3);
        readsFail(file("T", "primary", 1));
        put(dataset, 3);
        dataset.flush();
        sim.tasks.await(() -> isPaused("merge of"));
        checkOthersGoOn();
        disk.clearFaults();
        sim.tasks.await(() -> components("T") <= 3);
        sim.verify();
    }

    /** However long that one waits for its next try. */
    @Test
    void merges_that_need_not_read_the_file_go_on() {
        Dataset dataset = create("T", Maintenance.EAGER, "constant(componentCountMax=3)", 3);
        String unreadable = file("T", "primary", 1);
        readsFail(unreadable);
        put(dataset, 3);
        dataset.flush();
        // the pauses have grown: the next try is far off
        sim.tasks.runForMicros(55_000_000);
        long startNanos = clock.monotonicNanos();
        for (int round = 4; round < 8; round++) {
            put(dataset, round);
            dataset.flush();
        }
        sim.tasks.await(() -> components("T", "by_user") <= 3 && components("T", "primary") <= 4);
        assertThat(clock.monotonicNanos() - startNanos).isLessThan(10_000_000_000L);
        assertThat(files("T", "primary")).contains(unreadable);
        disk.clearFaults();
        sim.tasks.await(() -> components("T", "primary") <= 3);
        sim.verify();
    }

    @Test
    void a_repair_that_can_not_read_a_file() {
        Dataset dataset = create("T", Maintenance.VALIDATION, "no-merge", 2);
        put(dataset, 0);
        dataset.flush();
        disk.fault(FaultScript.with(Fault.EIO)
                .on(OperationKind.READ)
                .named(name -> name.endsWith(".component"))
                .call(1));
        assertThatThrownBy(() -> dataset.repair("by_user")).isInstanceOf(StorageIoException.class);
        checkOthersGoOn();
        dataset.repair("by_user");
        sim.verify();
    }

    /**
     * What a flush or merge has written turns out to be damaged or unreadable, when it is opened.
     */
    enum Output {
        DAMAGED,
        UNREADABLE;

        /** From now on, the first {@code count} outputs. */
        void spoil(SimDisk disk, int count) {
            if (this == UNREADABLE) {
                AtomicInteger left = new AtomicInteger(count);
                disk.fault(FaultScript.with(Fault.EIO)
                        .on(OperationKind.OPEN)
                        .named(name -> name.endsWith(".component") && left.getAndDecrement() > 0)
                        .call(1)
                        .forever());
                return;
            }
            AtomicInteger left = new AtomicInteger(count);
            disk.onOperation(step -> {
                if (step.kind() == OperationKind.SYNC
                        && step.name().endsWith(".component")
                        && left.getAndDecrement() > 0) {
                    disk.flipBit(step.name(), disk.content(step.name()).length - 10, 3);
                }
            });
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_flush_whose_output_can_not_be_opened(Output output) {
        for (Maintenance maintenance :
                new Maintenance[] {Maintenance.VALIDATION, Maintenance.MUTABLE_BITMAP}) {
            Dataset dataset = create("T" + maintenance, maintenance, "correlated-no-merge", 1);
            put(dataset, 1);
            output.spoil(disk, 1);
            assertThatThrownBy(dataset::flush)
                    .isInstanceOfAny(CorruptionException.class, StorageIoException.class);
            disk.onOperation(step -> {});
            disk.clearFaults();
            dataset.upsert(new Row(1, "anna", 1, null, "b").toMap());
            dataset.flush();
            assertThat(SimStore.rows(dataset)).hasSize(2 * ROWS);
            checkNothingIsLeft();
        }
        checkOthersGoOn();
    }

    @ParameterizedTest
    @EnumSource
    void a_merge_whose_output_can_not_be_opened(Output output) {
        for (Maintenance maintenance :
                new Maintenance[] {Maintenance.VALIDATION, Maintenance.MUTABLE_BITMAP}) {
            Dataset dataset = create("T" + maintenance, maintenance, "correlated-no-merge", 3);
            output.spoil(disk, 1);
            assertThatThrownBy(dataset::mergeAll)
                    .isInstanceOfAny(CorruptionException.class, StorageIoException.class);
            disk.onOperation(step -> {});
            disk.clearFaults();
            checkOthersGoOn();
            dataset.mergeAll();
            assertThat(components("T" + maintenance)).isEqualTo(1);
            checkNothingIsLeft();
        }
    }

    /** A flush that nobody asked for is tried again, and those of other datasets go before it. */
    @Test
    void a_flush_that_fails_again_and_again_holds_nobody_else_back() {
        Dataset dataset = create("T", Maintenance.VALIDATION, "no-merge", 1);
        Dataset other = create("Other", Maintenance.VALIDATION, "no-merge", 0);
        disk.fault(FaultScript.with(Fault.EIO)
                .on(OperationKind.OPEN)
                .named(name -> name.endsWith(".component"))
                .call(1)
                .forever());
        put(dataset, 1);
        assertThatThrownBy(dataset::flush).isInstanceOf(StorageIoException.class);
        sim.tasks.await(() -> isPaused("flush of"));
        disk.clearFaults();
        put(other, 0);
        other.flush();
        sim.tasks.await(() -> components("T") == 2);
        sim.verify();
    }

    @Test
    void what_can_not_be_synced_fails_the_store_as_ever() {
        Dataset dataset = create("T", Maintenance.VALIDATION, "no-merge", 2);
        disk.fault(FaultScript.with(Fault.EIO)
                .on(OperationKind.SYNC)
                .named(name -> name.endsWith(".component"))
                .call(1));
        assertThatThrownBy(dataset::mergeAll).isInstanceOf(StorageIoException.class);
        assertThatThrownBy(() -> put(dataset, 1)).isInstanceOf(StoreFailedException.class);
    }
}
