package io.turbidite.lsm.strategy;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.log.Durability;
import io.turbidite.core.log.LogOptions;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.harness.BatchCheck;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.BitmapHandover;
import io.turbidite.lsm.schema.Maintenance;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Real threads: writers supersede records on disk while those are flushed, merged and read at
 * snapshots, so that marks fall before, during and after each handover. A mark that is lost shows a
 * record twice or a deleted one again; one too many, or too early, hides one.
 */
class MutableBitmapStressTest {
    private static final int WRITERS = 3;
    private static final int KEYS_A_WRITER = 60;
    private static final int WRITES = Tier.count(750, 6_000, 200_000);

    private final long seed = Seeds.of("MutableBitmapStressTest");
    private final AtomicBoolean done = new AtomicBoolean();

    @ParameterizedTest
    @EnumSource
    @Timeout(120)
    void no_mark_is_lost_and_none_comes_too_early(BitmapHandover method) throws Exception {
        run(method, false);
    }

    @Test
    @Timeout(120)
    void no_mark_is_lost_where_side_files_of_merges_find_no_memory() throws Exception {
        run(BitmapHandover.SIDE_FILE, true);
    }

    private void run(BitmapHandover method, boolean starved) throws Exception {
        SimDisk disk = new SimDisk(seed, Profile.STRICT);
        List<NavigableMap<Long, Row>> written = new ArrayList<>();
        try (Store store = open(disk);
                ExecutorService threads = Executors.newFixedThreadPool(WRITERS + 3)) {
            MemoryBudget.Account account = Inside.core(store).builds().merges();
            long taken = starved ? account.bytesFree() : 0;
            assertThat(account.reserve(taken)).isTrue();
            Dataset dataset = store.createDataset(Row.spec("Rows")
                    .maintenance(Maintenance.MUTABLE_BITMAP)
                    .bitmapHandover(method)
                    .partitions(2)
                    .mergePolicy(MergePolicySpec.parse("correlated-tiering")));
            List<Future<?>> writers = new ArrayList<>();
            for (int i = 0; i < WRITERS; i++) {
                int number = i;
                NavigableMap<Long, Row> rows = new TreeMap<>();
                written.add(rows);
                writers.add(threads.submit(() -> write(dataset, number, rows)));
            }
            List<Future<?>> others = new ArrayList<>();
            others.add(threads.submit(untilDone(dataset::flush)));
            others.add(threads.submit(untilDone(dataset::mergeAll)));
            others.add(threads.submit(untilDone(() -> read(dataset))));
            for (Future<?> writer : writers) {
                writer.get();
            }
            done.set(true);
            for (Future<?> other : others) {
                other.get();
            }
            check(store, written);
            account.release(taken);
        }
        try (Store store = open(disk)) {
            check(store, written);
        }
        assertThat(disk.openHandles()).isEmpty();
    }

    private Store open(SimDisk disk) {
        LogOptions log = LogOptions.defaults()
                .withSegmentBytes(1 << 20, 64, 256, 64 << 10)
                .withDurability(Durability.INTERVAL);
        StoreOptions options = StoreOptions.defaults()
                .withWriteMemoryBytes(1 << 20)
                .withCacheBytes(1 << 20)
                .withLog(2 << 20, log);
        return Store.open(disk, ThreadTasks.create("test"), Clock.system(), options);
    }

    private Callable<Void> untilDone(Runnable work) {
        return () -> {
            while (!done.get()) {
                work.run();
            }
            return null;
        };
    }

    /** Writes keys that nobody else writes, so that it knows what there is. */
    private void write(Dataset dataset, int writer, NavigableMap<Long, Row> rows) {
        SplittableRandom random = new SplittableRandom(Seeds.mix(seed, writer));
        for (int i = 0; i < WRITES; i++) {
            long id = (long) random.nextInt(KEYS_A_WRITER) * WRITERS + writer;
            if (random.nextInt(4) == 0) {
                dataset.delete(id);
                rows.remove(id);
            } else {
                Row row = new Row(
                        id, "user" + random.nextInt(9), i, Instant.ofEpochSecond(i), "body" + i);
                dataset.upsert(row.toMap());
                rows.put(id, row);
            }
        }
    }

    /**
     * What a scan shows by the marks is what gets show by the keys, at the first look and at the
     * second.
     */
    private static void read(Dataset dataset) {
        try (ReadView view = dataset.openView()) {
            NavigableMap<Long, Row> first = SimStore.rows(dataset, view);
            BatchCheck.run(dataset, view, first);
            assertThat(SimStore.rows(dataset, view)).isEqualTo(first);
        }
    }

    private static void check(Store store, List<NavigableMap<Long, Row>> written) {
        NavigableMap<Long, Row> all = new TreeMap<>();
        written.forEach(all::putAll);
        Dataset dataset = store.dataset("Rows");
        assertThat(SimStore.rows(dataset)).isEqualTo(all);
        assertThat(store.verify().errors()).isEmpty();
        dataset.flush();
        dataset.mergeAll();
        assertThat(SimStore.rows(dataset)).isEqualTo(all);
        assertThat(store.verify().errors()).isEmpty();
        assertThat(Inside.holdsNothing(store)).isTrue();
    }
}
