package io.turbidite.lsm.strategy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.Reading;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.harness.BatchCheck;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.merge.run.MergeStep;
import io.turbidite.lsm.schema.BitmapHandover;
import io.turbidite.lsm.schema.Maintenance;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;

/**
 * Records that are superseded while what holds them is flushed or merged (LUO19 §5.3, design §4
 * rule 5).
 */
class BitmapHandoverTest {
    private static final long SEED = 23;
    private static final int ROWS = 300;

    /** How marks get across. */
    enum Way {
        SIDE_FILE(BitmapHandover.SIDE_FILE),
        LOCK(BitmapHandover.LOCK),
        /** By side-file, but there is no memory for any. */
        FULL_SIDE_FILE(BitmapHandover.SIDE_FILE),
        /** By locks, but there is no memory for them. */
        NO_LOCKS(BitmapHandover.LOCK);

        private final BitmapHandover method;

        Way(BitmapHandover method) {
            this.method = method;
        }

        boolean isStarved() {
            return this == FULL_SIDE_FILE || this == NO_LOCKS;
        }
    }

    private final SimDisk disk = new SimDisk(SEED, Profile.STRICT);
    private SimStore sim = open();
    private long starvedBytes;

    private SimStore open() {
        return SimStore.open(disk, SEED, SimStore.options(Durability.SYNC));
    }

    private Dataset create(Way way) {
        if (way.isStarved()) {
            MemoryBudget.Account account = Inside.core(sim.store).builds().merges();
            starvedBytes = account.bytesFree();
            assertThat(account.reserve(starvedBytes)).isTrue();
        }
        return sim.store.createDataset(Row.spec("T")
                .maintenance(Maintenance.MUTABLE_BITMAP)
                .bitmapHandover(way.method)
                .mergePolicy(MergePolicySpec.parse("correlated-no-merge")));
    }

    private static Row row(long id, int second) {
        return new Row(id, "a", (int) id, Instant.ofEpochSecond(second), "x".repeat(50));
    }

    private long reading(String name) {
        return sim.store.meters().instruments().stream()
                .filter(one -> one.name().equals(name))
                .mapToLong(
                        one -> one instanceof Counter count ? count.sum() : ((Reading) one).value())
                .sum();
    }

    @AfterEach
    void the_store_is_whole_and_opens_again() {
        if (sim.store.datasets().isEmpty()) {
            sim.close();
            return;
        }
        sim.verify();
        NavigableMap<Long, Row> before = SimStore.rows(sim.store.dataset("T"));
        Inside.core(sim.store).builds().merges().release(starvedBytes);
        sim.close();
        sim = open();
        assertThat(SimStore.rows(sim.store.dataset("T"))).isEqualTo(before);
        sim.verify();
        sim.close();
    }

    /**
     * Every second row, then every third of them deleted: in what is copied already and in what is
     * not.
     */
    private static void supersede(Dataset dataset, int second) {
        for (int i = second % 2; i < ROWS; i += 2) {
            if (i % 3 == 0) {
                dataset.delete((long) i);
            } else {
                dataset.upsert(row(i, second).toMap());
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void marks_of_before_and_amid_and_after_a_merge_are_all_there(Way way) {
        Dataset dataset = create(way);
        for (int i = 0; i < ROWS; i++) {
            dataset.upsert(row(i, i).toMap());
        }
        dataset.flush();
        supersede(dataset, 1_000);
        dataset.flush();
        supersede(dataset, 1_001);
        List<ReadView> views = new ArrayList<>();
        List<NavigableMap<Long, Row>> seen = new ArrayList<>();
        note(dataset, views, seen);
        try (MergeStep merge = MergeStep.start(Inside.partitions(dataset).getFirst(), 0, 1)) {
            for (int round = 0; round < 4; round++) {
                supersede(dataset, 2_000 + round);
                note(dataset, views, seen);
                assertThat(merge.advance(4_000)).isFalse();
                if (round == 2) {
                    dataset.flush();
                }
            }
            merge.finish();
        }
        sim.verify();
        supersede(dataset, 3_000);
        note(dataset, views, seen);
        for (int i = 0; i < views.size(); i++) {
            assertThat(SimStore.rows(dataset, views.get(i))).isEqualTo(seen.get(i));
            BatchCheck.run(dataset, views.get(i), seen.get(i));
            views.get(i).close();
        }
        assertThat(reading("bitmap.marks")).isPositive();
        assertThat(reading("bitmap.saves")).isPositive();
        assertThat(reading("bitmap.save.bytes")).isPositive();
        assertThat(reading("sidefile.full") > 0).isEqualTo(way.isStarved());
        assertThat(reading("handover.locks.refused") > 0).isEqualTo(way == Way.NO_LOCKS);
        // a flush has its own, which may grow: only that of a merge finds no memory
        assertThat(reading("sidefile.entries") > 0).isEqualTo(way == Way.SIDE_FILE);
    }

    private static void note(
            Dataset dataset, List<ReadView> views, List<NavigableMap<Long, Row>> seen) {
        ReadView view = dataset.openView();
        views.add(view);
        seen.add(SimStore.rows(dataset, view));
    }

    @ParameterizedTest
    @EnumSource
    void a_merge_that_is_given_up_leaves_the_marks_where_they_were(Way way) {
        Dataset dataset = create(way);
        for (int i = 0; i < ROWS; i++) {
            dataset.upsert(row(i, i).toMap());
        }
        dataset.flush();
        supersede(dataset, 1_000);
        dataset.flush();
        for (int round = 0; round < 2; round++) {
            try (MergeStep merge = MergeStep.start(Inside.partitions(dataset).getFirst(), 0, 1)) {
                merge.advance(4_000);
                supersede(dataset, 2_000 + round);
            }
            sim.verify();
        }
        dataset.mergeAll();
        supersede(dataset, 3_000);
    }

    @ParameterizedTest
    @EnumSource
    void a_flush_that_failed_and_is_tried_again_has_the_marks_of_between(BitmapHandover method) {
        Dataset dataset = create(method == BitmapHandover.LOCK ? Way.LOCK : Way.SIDE_FILE);
        for (int i = 0; i < ROWS; i++) {
            dataset.upsert(row(i, i).toMap());
        }
        for (int call = 1; call < 6; call++) {
            NavigableMap<Long, Row> before = SimStore.rows(dataset);
            try (ReadView view = dataset.openView()) {
                disk.fault(FaultScript.with(Fault.ENOSPC)
                        .on(OperationKind.WRITE)
                        .named(name -> name.endsWith(".component"))
                        .call(call)
                        .forever());
                assertThatThrownBy(dataset::flush).isInstanceOf(StorageIoException.class);
                // the frozen layer is still there; these supersede what it holds
                supersede(dataset, 1_000 * call);
                disk.clearFaults();
                assertThat(SimStore.rows(dataset, view)).isEqualTo(before);
                dataset.flush();
                assertThat(SimStore.rows(dataset, view)).isEqualTo(before);
            }
            sim.verify();
            for (int i = 0; i < ROWS; i++) {
                dataset.upsert(row(i, 100_000 * call + i).toMap());
            }
        }
    }

    @Test
    void what_a_flush_hands_over_counts_as_memory_to_be_flushed() {
        Dataset dataset = create(Way.SIDE_FILE);
        for (int i = 0; i < ROWS; i++) {
            dataset.upsert(row(i, i).toMap());
        }
        disk.fault(FaultScript.with(Fault.ENOSPC)
                .on(OperationKind.WRITE)
                .named(name -> name.endsWith(".component"))
                .call(1)
                .forever());
        assertThatThrownBy(dataset::flush).isInstanceOf(StorageIoException.class);
        long unflushed = reading("memory.unflushed.bytes");
        supersede(dataset, 1_000);
        // the least that a layer reports, of the current one; and a block of the side-file
        assertThat(reading("memory.unflushed.bytes") - unflushed).isGreaterThanOrEqualTo(64 << 10);
        disk.clearFaults();
        dataset.flush();
        dataset.flush();
        assertThat(reading("memory.unflushed.bytes")).isZero();
    }

    @Test
    void a_method_is_refused_where_there_are_no_bitmaps() {
        assertThatThrownBy(() ->
                        sim.store.createDataset(Row.spec("E").bitmapHandover(BitmapHandover.LOCK)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("bitmapHandover")
                .hasMessageContaining("mutable-bitmap");
    }
}
