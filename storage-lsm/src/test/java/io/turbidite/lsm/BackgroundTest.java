package io.turbidite.lsm;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schedule.BackgroundOptions;
import io.turbidite.lsm.schedule.MergeScheduler;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;

/** Flushes, merges and writers beside one another, in simulated time. */
class BackgroundTest {
    private static final String NAME = "Rows";

    private final long seed = Seeds.of("BackgroundTest");
    private final SplittableRandom random = new SplittableRandom(seed);
    private final SimDisk disk = new SimDisk(seed, Profile.STRICT);
    private final NavigableMap<Long, Row> expected = new TreeMap<>();
    private @Nullable SimStore opened;

    private SimStore sim() {
        return Objects.requireNonNull(opened);
    }

    private Dataset dataset() {
        return sim().store.dataset(NAME);
    }

    private void open(BackgroundOptions background, String policy) {
        open(background);
        sim().store.createDataset(Row.spec(NAME).mergePolicy(MergePolicySpec.parse(policy)));
    }

    private void open(BackgroundOptions background) {
        opened = SimStore.open(
                disk, seed, SimStore.options(Durability.NONE).withBackground(background));
    }

    @AfterEach
    void everything_is_there_and_nothing_is_held() {
        assertThat(SimStore.rows(dataset())).isEqualTo(expected);
        sim().verify();
        assertThat(sim().store.holdsNothing()).isTrue();
        sim().close();
        assertThat(disk.openHandles()).as(Seeds.replay("BackgroundTest", seed)).isEmpty();
    }

    /** A component of so many rows. */
    private void flushed(int rows) {
        write(rows);
        dataset().flush();
    }

    private void write(int rows) {
        WriteBatch batch = sim().store.newBatch();
        for (int i = 0; i < rows; i++) {
            long id = random.nextInt(20_000);
            Row row = new Row(id, "user" + id % 7, i, Instant.ofEpochSecond(i), "x".repeat(60) + i);
            expected.put(id, row);
            batch.upsert(dataset(), dataset().newRecordWriter().write(row.toMap()));
            if (batch.size() == 100 || i == rows - 1) {
                sim().store.write(batch);
                batch.clear();
            }
        }
    }

    private <E extends StoreEvent> List<E> events(Class<E> kind) {
        return sim().store.events().recent().stream()
                .filter(kind::isInstance)
                .map(kind::cast)
                .toList();
    }

    @Test
    void a_flush_does_not_wait_for_the_merge_of_its_partition() {
        open(
                BackgroundOptions.defaults().withMergeWorkers(1),
                "correlated-constant(componentCountMax=2)");
        flushed(3_000);
        flushed(3_000);
        sim().tasks.runForMicros(1_000_000);
        flushed(3_000);
        // the third component makes a merge due; it has many steps to go
        while (sim().store.background().mergeCount() == 0) {
            sim().tasks.step();
        }
        int merged = events(StoreEvent.Merged.class).size();
        flushed(10);
        flushed(10);
        assertThat(events(StoreEvent.Merged.class)).hasSize(merged);
        assertThat(sim().store.background().mergeCount()).isPositive();
    }

    @Test
    void merges_of_disjoint_ranges_run_at_once() {
        open(
                BackgroundOptions.defaults().withMergeScheduler(MergeScheduler.FAIR),
                "tiering(sizeRatio=1.2, mergeCountMin=2, mergeableBytesMax=1GiB)");
        int mostAtOnce = 0;
        List<Integer> sizes = new ArrayList<>(List.of(2_000, 1_800));
        for (int i = 0; i < 60; i++) {
            sizes.add(20 + random.nextInt(200));
        }
        for (int rows : sizes) {
            flushed(rows);
            for (int step = 0; step < 10; step++) {
                sim().tasks.step();
                mostAtOnce = Math.max(mostAtOnce, sim().store.background().mergeCount());
            }
        }
        assertThat(mostAtOnce).isEqualTo(2);
        sim().tasks.runForMicros(10_000_000);
        assertThat(sim().store.background().mergeCount()).isZero();
    }

    @Test
    void a_store_that_is_closed_amid_merges_leaves_nothing_behind() {
        BackgroundOptions background = BackgroundOptions.defaults();
        open(background, "constant(componentCountMax=2)");
        for (int i = 0; i < 3; i++) {
            flushed(2_000);
        }
        while (sim().store.background().mergeCount() == 0) {
            sim().tasks.step();
        }
        sim().tasks.step();
        sim().close();
        assertThat(disk.openHandles()).isEmpty();
        open(background);
    }
}
