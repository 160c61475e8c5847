package io.turbidite.it.pm;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.Tier;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.harness.AnswerCheck;
import io.turbidite.lsm.harness.Regions;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.pm.PmKind;
import io.turbidite.pm.region.RegionMode;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * Random histories of datasets that keep their records for a while, with an index of kind pm: what
 * was dropped is stale in the region, and the index never has another answer than a scan; through
 * updates that move records in time, deletes, views that are held, reopenings and cuts of disk and
 * memory together.
 */
class RegionRetentionTest {
    private static final int ROUNDS = Tier.count(1, 2, 40);
    private static final int STEPS = Tier.count(250, 500, 2_000);
    private static final Duration AGE = Duration.ofDays(30);
    private static final long DAY_MICROS = 86_400_000_000L;
    private static final List<String> POLICIES = List.of(
            "correlated-prefix(mergeableBytesMax=16KiB,toleranceCount=2)",
            "correlated-tiering(mergeableBytesMax=16KiB)");

    private final SimClock clock = new SimClock();

    @ParameterizedTest
    @EnumSource(RegionMode.class)
    void what_was_dropped_is_stale(RegionMode mode) {
        long base = Seeds.of("RegionRetentionTest");
        long dropCount = 0;
        for (int i = 0; i < ROUNDS; i++) {
            long seed = Seeds.isReplay() ? base : Seeds.mix(base, i);
            try (Round round = new Round(mode, seed)) {
                round.run();
                dropCount += round.dropCount;
            } catch (Throwable failure) {
                throw new AssertionError(
                        mode + ": " + Seeds.replay("RegionRetentionTest", seed), failure);
            }
        }
        assertThat(dropCount).isPositive();
    }

    /**
     * Ever new records: the region has room for a fifth of them, and for all that are there at a
     * time. It is built anew when it is full, and not given up.
     */
    @Test
    @Timeout(120)
    void a_region_that_is_full_of_what_was_dropped_is_built_anew() {
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        try (SimStore sim = SimStore.open(
                disk,
                1,
                SimStore.options(Durability.SYNC).withIndexKinds(new PmKind()),
                same -> same,
                clock)) {
            Dataset dataset = sim.store.createDataset(Row.blindSpec("T")
                    .filter("created")
                    .mergePolicy(MergePolicySpec.parse(POLICIES.getFirst()))
                    .maintenance(Maintenance.VALIDATION)
                    .retain(AGE)
                    .index(IndexSpec.pm("by_region", "user")
                            .withParameter("mode", "volatile")
                            .withParameter("bytes", "512KiB")));
            for (int day = 0; day < 600; day++) {
                clock.advanceMicros(DAY_MICROS);
                Instant now = Instant.EPOCH.plusNanos(1_000 * clock.wallMicros());
                for (int i = 0; i < 60; i++) {
                    long id = day * 60L + i;
                    dataset.upsert(new Row(id, "user" + i, 0, now, "b").toMap());
                }
                if (day % 5 == 0) {
                    dataset.flush();
                    sim.tasks.runForMicros(4_000_000);
                }
            }
            long fullCount = sim.store.events().recent().stream()
                    .filter(StoreEvent.RegionRefused.class::isInstance)
                    .count();
            sim.tasks.await(() -> !dataset.indexes().isEmpty());
            assertThat(fullCount).isPositive();
            try (ReadView view = dataset.openView()) {
                NavigableMap<Long, Row> rows = SimStore.rows(dataset, view);
                assertThat(rows).hasSizeBetween(30 * 60, 100 * 60);
                AnswerCheck.run(dataset, view, rows);
            }
            sim.verify();
        }
        assertThat(disk.openHandles()).isEmpty();
    }

    private final class Round implements AutoCloseable {
        private final SplittableRandom random;
        private final NavigableMap<Long, Row> written = new TreeMap<>();
        private Regions regions;
        private SimDisk disk;
        private SimStore sim;
        private @Nullable ReadView held;
        private NavigableMap<Long, Row> shown = new TreeMap<>();
        private long dropCount;

        Round(RegionMode mode, long seed) {
            random = new SplittableRandom(seed);
            regions = SimRegions.of(mode);
            disk = new SimDisk(seed, Profile.STRICT);
            sim = open();
        }

        private SimStore open() {
            return SimStore.open(
                    disk,
                    random.nextLong(),
                    SimStore.options(Durability.SYNC).withIndexKinds(regions.kind()),
                    same -> same,
                    clock);
        }

        private Dataset dataset() {
            return sim.store.dataset("T");
        }

        void run() {
            sim.store.createDataset(Row.blindSpec("T")
                    .filter("created")
                    .mergePolicy(
                            MergePolicySpec.parse(POLICIES.get(random.nextInt(POLICIES.size()))))
                    .maintenance(random.nextBoolean() ? Maintenance.VALIDATION : Maintenance.EAGER)
                    .retain(AGE)
                    .partitions(2)
                    .index(IndexSpec.pm("by_region", "user")));
            for (int i = 0; i < STEPS; i++) {
                clock.advanceMicros(random.nextLong(DAY_MICROS));
                step();
            }
            letGo();
            settle();
            check();
            noteDrops();
        }

        private void step() {
            long id = random.nextInt(120);
            switch (random.nextInt(24)) {
                case 0 -> {
                    dataset().delete(id);
                    written.remove(id);
                }
                case 1 -> upsert(id, now().minus(Duration.ofDays(random.nextInt(60))));
                case 2, 3, 4 -> dataset().flush();
                case 5 -> settle();
                case 6 -> check();
                case 7 -> holdOrLetGo();
                case 8 -> reopen();
                case 9 -> rebuild();
                default -> upsert(id, now());
            }
        }

        private Instant now() {
            return Instant.EPOCH.plusNanos(1_000 * clock.wallMicros());
        }

        private void upsert(long id, Instant created) {
            Row row = new Row(
                    id,
                    "user" + random.nextInt(5),
                    random.nextInt(5),
                    created,
                    "b" + random.nextInt());
            dataset().upsert(row.toMap());
            written.put(id, row);
        }

        /** Lets background work do what it has to. */
        private void settle() {
            for (int i = 0; i < 20; i++) {
                sim.tasks.runForMicros(200_000);
            }
        }

        /** What is there is as it was written last; the index says the same. */
        private void check() {
            try (ReadView view = dataset().openView()) {
                NavigableMap<Long, Row> rows = SimStore.rows(dataset(), view);
                assertThat(written).containsAllEntriesOf(rows);
                AnswerCheck.run(dataset(), view, rows);
            }
            ReadView old = held;
            if (old != null) {
                assertThat(SimStore.rows(dataset(), old)).isEqualTo(shown);
                AnswerCheck.run(dataset(), old, shown);
            }
            sim.verify();
        }

        private void holdOrLetGo() {
            if (held == null) {
                ReadView view = dataset().openView();
                held = view;
                shown = SimStore.rows(dataset(), view);
            } else {
                letGo();
            }
        }

        private void letGo() {
            ReadView old = held;
            if (old != null) {
                AnswerCheck.run(dataset(), old, shown);
                old.close();
                held = null;
            }
        }

        private void reopen() {
            letGo();
            noteDrops();
            if (random.nextBoolean()) {
                long cut = random.nextLong();
                SimDisk image = disk.crashImage(cut);
                Regions left = regions.cut(cut);
                sim.close();
                disk = image;
                regions = left;
            } else {
                sim.close();
            }
            sim = open();
            sim.tasks.await(() -> !dataset().indexes().isEmpty());
            check();
        }

        private void rebuild() {
            if (random.nextInt(4) == 0) {
                letGo(); // it knows the index by its number, and gets no other
                dataset().rebuildIndex("by_region");
                check();
            }
        }

        private void noteDrops() {
            dropCount += sim.store.events().recent().stream()
                    .filter(StoreEvent.Expired.class::isInstance)
                    .count();
        }

        @Override
        public void close() {
            sim.close();
            assertThat(disk.openHandles()).isEmpty();
        }
    }
}
