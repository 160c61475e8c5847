package io.turbidite.lsm.background;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.Latency;
import io.turbidite.core.meter.Reading;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.StoreDescription;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.WriteBatch;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schedule.BackgroundOptions;
import io.turbidite.lsm.schedule.MergeScheduler;
import io.turbidite.lsm.schema.Maintenance;

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
import java.util.concurrent.atomic.AtomicBoolean;

/** Flushes, merges and writers beside one another, in simulated time. */
class BackgroundTest {
    private static final String NAME = "Rows";
    private static final String TIERING =
            "tiering(sizeRatio=1.2, mergeCountMin=2, mergeableBytesMax=1GiB)";

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
        StoreOptions options = SimStore.options(Durability.BUFFERED)
                .withCacheBytes(8 << 20)
                .withBackground(background);
        opened = SimStore.open(disk, seed, options);
    }

    @AfterEach
    void everything_is_there_and_nothing_is_held() {
        assertThat(SimStore.rows(dataset())).isEqualTo(expected);
        sim().verify();
        assertThat(Inside.holdsNothing(sim().store)).isTrue();
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
        flushed(6_000);
        flushed(6_000);
        sim().tasks.runForMicros(1_000_000);
        do {
            flushed(6_000);
            // the third component makes a merge due
            while (Inside.background(sim().store).mergeCount() == 0) {
                sim().tasks.step();
            }
            // by the seed, most of it may have been done when the flush was waited for
        } while (Inside.background(sim().store).mergeBytesLeft() < 400_000);
        assertThat(primaryUnderWork()).containsExactly(true, true, false);
        int merged = events(StoreEvent.Merged.class).size();
        flushed(10);
        flushed(10);
        assertThat(events(StoreEvent.Merged.class)).hasSize(merged);
        assertThat(Inside.background(sim().store).mergeCount()).isPositive();
        assertThat(primaryUnderWork()).containsExactly(false, false, true, true, false);
    }

    /** What is told of the primary's components, newest first. */
    private List<Boolean> primaryUnderWork() {
        return sim()
                .store
                .describe()
                .datasets()
                .getFirst()
                .partitions()
                .getFirst()
                .indexes()
                .getFirst()
                .components()
                .stream()
                .map(StoreDescription.ComponentDescription::underWork)
                .toList();
    }

    @Test
    void merges_of_disjoint_ranges_run_at_once() {
        open(BackgroundOptions.defaults().withMergeScheduler(MergeScheduler.FAIR), TIERING);
        int mostAtOnce = 0;
        List<Integer> sizes = new ArrayList<>(List.of(2_000, 1_800));
        for (int i = 0; i < 60; i++) {
            sizes.add(20 + random.nextInt(200));
        }
        for (int rows : sizes) {
            flushed(rows);
            for (int step = 0; step < 10; step++) {
                sim().tasks.step();
                mostAtOnce = Math.max(mostAtOnce, Inside.background(sim().store).mergeCount());
            }
        }
        assertThat(mostAtOnce).isEqualTo(2);
        sim().tasks.runForMicros(10_000_000);
        assertThat(Inside.background(sim().store).mergeCount()).isZero();
    }

    /** DEFER18's bound: what waits to be found obsolete makes a partition's merges go first. */
    @Test
    void merges_with_much_garbage_to_take_away_start_before_others() {
        String policy = "correlated-constant(componentCountMax=2)";
        open(
                BackgroundOptions.defaults()
                        .withMergeWorkers(1)
                        .withMergeScheduler(MergeScheduler.FAIR)
                        .withIoBytesPerSecond(1 << 17),
                policy);
        List<Dataset> others = new ArrayList<>();
        for (Maintenance strategy : List.of(Maintenance.EAGER, Maintenance.DEFERRED)) {
            others.add(sim().store
                    .createDataset(Row.spec(strategy.label())
                            .maintenance(strategy)
                            .mergePolicy(MergePolicySpec.parse(policy))));
        }
        for (int i = 0; i < 3; i++) {
            flushed(3_000);
        }
        // the one place is taken while the others get what makes a merge due
        while (Inside.background(sim().store).mergeCount() == 0) {
            sim().tasks.step();
        }
        for (int i = 0; i < 3; i++) {
            for (Dataset other : others) {
                other.upsert(new Row(1, "user" + i, i, null, "x").toMap());
                other.flush();
            }
        }
        assertThat(mergedDatasets()).isSubsetOf(NAME);
        sim().tasks.runForMicros(100_000_000);
        List<String> order = new ArrayList<>(mergedDatasets());
        order.remove(NAME);
        assertThat(order).containsExactly("deferred", "eager");
    }

    /** In the order of their first merges. */
    private List<String> mergedDatasets() {
        return events(StoreEvent.Merged.class).stream()
                .map(StoreEvent.Merged::dataset)
                .distinct()
                .toList();
    }

    @Test
    void a_merge_that_finds_the_disk_full_backs_off_and_goes_on_when_there_is_space() {
        open(BackgroundOptions.defaults(), TIERING);
        AtomicBoolean full = new AtomicBoolean();
        disk.fault(FaultScript.with(Fault.ENOSPC)
                .on(OperationKind.WRITE)
                .named(name -> full.get() && name.endsWith(".component"))
                .forever());
        flushed(3_000);
        flushed(3_000);
        flushed(3_000);
        while (Inside.background(sim().store).mergeCount() == 0) {
            sim().tasks.step();
        }
        full.set(true);
        int merged = events(StoreEvent.Merged.class).size();
        sim().tasks.runForMicros(3_000_000);
        // pauses of 100, 200, 400, 800 and 1600 ms
        assertThat(events(StoreEvent.SpaceChanged.class)).hasSizeBetween(3, 8);
        assertThat(events(StoreEvent.SpaceChanged.class))
                .allMatch(event -> event.paused() && event.what().startsWith("merge"));
        assertThat(events(StoreEvent.Merged.class)).hasSize(merged);
        write(500);
        assertThat(SimStore.rows(dataset())).isEqualTo(expected);
        full.set(false);
        sim().tasks.runForMicros(20_000_000);
        assertThat(events(StoreEvent.Merged.class).size()).isGreaterThan(merged);
        assertThat(events(StoreEvent.SpaceChanged.class).getLast().paused()).isFalse();
        flushed(10);
        assertThat(disk.files().stream()
                        .filter(name -> name.endsWith(".component"))
                        .count())
                .as("what was dropped is deleted")
                .isLessThan(20);
    }

    @Test
    void merges_leave_the_space_that_flushes_need() {
        open(BackgroundOptions.defaults(), TIERING);
        disk.capacity(disk.usedBytes() + (5 << 19));
        for (int i = 0; i < 4; i++) {
            flushed(2_000);
        }
        sim().tasks.runForMicros(3_000_000);
        long merged = events(StoreEvent.Merged.class).size();
        assertThat(events(StoreEvent.SpaceChanged.class)).isNotEmpty();
        flushed(500);
        disk.capacity(Long.MAX_VALUE);
        sim().tasks.runForMicros(20_000_000);
        assertThat((long) events(StoreEvent.Merged.class).size()).isGreaterThan(merged);
    }

    @Test
    void writers_are_slowed_before_they_would_have_to_stop() {
        open(
                BackgroundOptions.defaults().withIoBytesPerSecond(2 << 20),
                "constant(componentCountMax=5)");
        write(60_000);
        assertThat(latency("write.delay.time").count()).isGreaterThan(10);
        assertThat(latency("write.delay.time").maxNanos()).isLessThan(300_000_000);
        assertThat(latency("write.stall.time").count()).isZero();
        assertThat(events(StoreEvent.Slowed.class)).isNotEmpty();
    }

    @Test
    void writers_are_slowed_while_merges_are_behind() {
        open(
                BackgroundOptions.defaults()
                        .withBacklogComponentsMax(8)
                        .withMergeWorkers(1)
                        .withIoBytesPerSecond(1 << 20),
                "correlated-tiering");
        for (int i = 0; i < 40; i++) {
            flushed(1_500);
        }
        assertThat(latency("write.delay.time").count()).isPositive();
        int most = 0;
        for (StoreDescription.IndexDescription index :
                sim().store.describe().datasets().get(0).partitions().get(0).indexes()) {
            most = Math.max(most, index.components().size());
        }
        assertThat(most).isLessThan(20);
    }

    @Test
    void flushes_and_merges_together_keep_the_rate() {
        long rate = 1 << 20;
        open(
                BackgroundOptions.defaults()
                        .withIoBytesPerSecond(rate)
                        .withMergeScheduler(MergeScheduler.FAIR),
                TIERING);
        long startNanos = sim().store.environment().clock().monotonicNanos();
        for (int i = 0; i < 10; i++) {
            flushed(1_500);
        }
        dataset().mergeAll();
        double seconds = (sim().store.environment().clock().monotonicNanos() - startNanos) / 1e9;
        long written = counter("flush.bytes") + counter("merge.bytes.written");
        assertThat(written).isGreaterThan(3 * rate);
        assertThat(gauge("write.amplification.percent")).isGreaterThan(300);
        assertThat(gauge("merge.backlog.bytes")).isZero();
        assertThat(gauge("merge.backlog.components")).isZero();
        assertThat(written / seconds).isLessThan(1.3 * rate);
    }

    @Test
    void a_failing_disk_ends_the_wait_for_a_merge() {
        open(BackgroundOptions.defaults(), "no-merge");
        flushed(2_000);
        flushed(2_000);
        disk.fault(FaultScript.with(Fault.EIO)
                .on(OperationKind.WRITE)
                .named(name -> name.endsWith(".component"))
                .forever());
        assertThatThrownBy(() -> dataset().mergeAll()).isInstanceOf(StorageIoException.class);
        assertThatThrownBy(() -> dataset().mergeAll()).isInstanceOf(StoreFailedException.class);
        disk.clearFaults();
    }

    private long gauge(String name) {
        return sim().store.meters().instruments().stream()
                .filter(instrument -> instrument.name().equals(name))
                .map(Reading.class::cast)
                .findFirst()
                .orElseThrow()
                .value();
    }

    private long counter(String name) {
        return sim().store.meters().counter(name).sum();
    }

    private Latency.Summary latency(String name) {
        return sim().store.meters().latency(name).summary();
    }

    @Test
    void a_store_that_is_closed_amid_merges_leaves_nothing_behind() {
        BackgroundOptions background = BackgroundOptions.defaults();
        open(background, "constant(componentCountMax=2)");
        for (int i = 0; i < 3; i++) {
            flushed(2_000);
        }
        while (Inside.background(sim().store).mergeCount() == 0) {
            sim().tasks.step();
        }
        sim().tasks.step();
        sim().close();
        assertThat(disk.openHandles()).isEmpty();
        open(background);
    }
}
