package io.turbidite.lsm.strategy;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.StorageException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.BitmapHandover;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.ManifestState.BitmapState;
import io.turbidite.lsm.version.StoreFiles;

import org.junit.jupiter.api.Test;

import java.time.Instant;
import java.util.List;
import java.util.NavigableMap;
import java.util.function.Predicate;

/**
 * Each line of a save of live bitmaps that touches the disk fails, in a flush and in a merge: the
 * marks stay, in memory and over a power cut, no file is left over, and the next save succeeds or
 * the store takes no more writes.
 */
class BitmapSaveTest {
    private static final long SEED = 29;
    private static final int ROWS = 60;

    /** A line that fails. */
    private record Line(String what, OperationKind kind, Predicate<String> name) {}

    private static final List<Line> LINES = List.of(
            new Line("make the log durable", OperationKind.WRITE, name -> name.startsWith("log/")),
            new Line("make the log durable", OperationKind.SYNC, name -> name.startsWith("log/")),
            new Line("create the file", OperationKind.CREATE, BitmapSaveTest::isInvalid),
            new Line("write the file", OperationKind.WRITE, BitmapSaveTest::isInvalid),
            new Line("sync the file", OperationKind.SYNC, BitmapSaveTest::isInvalid),
            new Line("sync the directory", OperationKind.SYNC_DIRECTORY, StoreFiles.DATA::equals),
            new Line(
                    "write the manifest",
                    OperationKind.WRITE,
                    name -> name.startsWith(StoreFiles.MANIFEST)),
            new Line(
                    "rename the manifest",
                    OperationKind.RENAME,
                    name -> name.startsWith(StoreFiles.MANIFEST)));

    private static boolean isInvalid(String name) {
        return name.endsWith(".dead");
    }

    private final SimDisk disk = new SimDisk(SEED, Profile.STRICT);

    private SimStore open(SimDisk on) {
        return SimStore.open(on, SEED, SimStore.options(Durability.BUFFERED));
    }

    private static Row row(long id, int second) {
        return new Row(id, "a", (int) id, Instant.ofEpochSecond(second), "x");
    }

    private SimStore create(BitmapHandover method) {
        SimStore sim = open(disk);
        Dataset dataset = sim.store.createDataset(Row.spec("T")
                .maintenance(Maintenance.MUTABLE_BITMAP)
                .bitmapHandover(method)
                .mergePolicy(MergePolicySpec.parse("correlated-no-merge")));
        for (int round = 0; round < 2; round++) {
            for (int i = round; i < ROWS; i++) {
                dataset.upsert(row(i, i).toMap());
            }
            dataset.flush();
        }
        for (int i = 0; i < ROWS; i += 3) {
            dataset.upsert(row(i, 1_000 + i).toMap());
        }
        return sim;
    }

    @Test
    void each_line_of_a_flush_fails() {
        check(Dataset::flush);
    }

    @Test
    void each_line_of_a_merge_fails() {
        check(Dataset::mergeAll);
    }

    /** What saves bitmaps. */
    @FunctionalInterface
    private interface Work {
        void run(Dataset dataset);
    }

    private void check(Work work) {
        int failed = 0;
        for (Line line : LINES) {
            for (Fault fault : List.of(Fault.EIO, Fault.ENOSPC)) {
                BitmapHandover method =
                        failed % 2 == 0 ? BitmapHandover.SIDE_FILE : BitmapHandover.LOCK;
                try {
                    failed += new BitmapSaveTest().fails(line, fault, method, work) ? 1 : 0;
                } catch (Throwable problem) {
                    throw new AssertionError(
                            "%s: %s, %s".formatted(line.what, fault, method), problem);
                }
            }
        }
        assertThat(failed).as("lines that failed").isEqualTo(2 * LINES.size());
    }

    /** Whether the line was come to. */
    private boolean fails(Line line, Fault fault, BitmapHandover method, Work work) {
        SimStore sim = create(method);
        Dataset dataset = sim.store.dataset("T");
        // a merge keeps what it sees, with the marks of what came since
        ReadView old = dataset.openView();
        for (int i = 0; i < ROWS; i += 4) {
            dataset.upsert(row(i, 2_000 + i).toMap());
        }
        NavigableMap<Long, Row> rows = SimStore.rows(dataset);
        FaultScript script = FaultScript.with(fault).on(line.kind).named(line.name);
        disk.fault(script);
        boolean threw = false;
        try {
            work.run(dataset);
        } catch (StorageException expected) {
            threw = true;
            assertThat(expected.getMessage()).isNotBlank();
        }
        boolean hit = script.hitCount() > 0;
        assertThat(threw).as("an error for the fault").isEqualTo(hit && !isForReserve(line, fault));
        disk.clearFaults();
        old.close();
        assertThat(SimStore.rows(dataset)).isEqualTo(rows);
        sim.verify();
        if (Inside.core(sim.store).health().firstFailure() == null) {
            // what was not saved is saved now
            dataset.flush();
            work.run(dataset);
            sim.verify();
            checkNothingLeftOver(sim);
        }
        try {
            sim.close();
        } catch (StorageException failedStore) {
            assertThat(failedStore.getMessage()).isNotBlank();
        }
        try (SimStore again = open(disk.crashImage(SEED, Profile.STRICT))) {
            again.verify();
        }
        return hit;
    }

    /** A full disk fails no write of the log, which goes on in its reserve. */
    private static boolean isForReserve(Line line, Fault fault) {
        return fault == Fault.ENOSPC && line.kind == OperationKind.WRITE && line.name.test("log/");
    }

    /** The files that mark invalid entries are those of the components. */
    private void checkNothingLeftOver(SimStore sim) {
        Inside.core(sim.store).reaper().deleteObsolete();
        List<String> named =
                Inside.partitions(sim.store.dataset("T"))
                        .getFirst()
                        .components(TreeId.PRIMARY)
                        .stream()
                        .map(ComponentHandle::savedBitmap)
                        .filter(saved -> !saved.isNone())
                        .map(saved -> StoreFiles.bitmap(saved.fileId()))
                        .toList();
        assertThat(disk.list(StoreFiles.DATA).stream()
                        .filter(BitmapSaveTest::isInvalid)
                        .map(name -> StoreFiles.DATA + "/" + name))
                .containsExactlyInAnyOrderElementsOf(named);
    }

    @Test
    void verify_reads_the_files_of_live_bitmaps() {
        try (SimStore sim = create(BitmapHandover.SIDE_FILE)) {
            Dataset dataset = sim.store.dataset("T");
            dataset.flush();
            BitmapState saved =
                    Inside.partitions(dataset).getFirst().components(TreeId.PRIMARY).stream()
                            .map(ComponentHandle::savedBitmap)
                            .filter(state -> !state.isNone())
                            .findFirst()
                            .orElseThrow();
            String name = StoreFiles.bitmap(saved.fileId());
            sim.verify();
            disk.flipBit(name, saved.bytes() / 2, 3);
            assertThat(sim.store.verify().errors()).singleElement().asString().contains(name);
        }
    }
}
