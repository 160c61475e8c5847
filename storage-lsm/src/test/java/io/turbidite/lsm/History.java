package io.turbidite.lsm;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.schedule.BackgroundOptions;
import io.turbidite.lsm.schedule.MergeScheduler;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A random history against the oracle: writes, flushes, merges, repairs, changes of schema, snapshots, clean
 * reopenings and power cuts. What happens is picked by the seed alone, so that two stores of different
 * making go through the same.
 */
final class History {
    private History() {}

    /** Makes the datasets of a new store. */
    @FunctionalInterface
    interface Beginning {
        void create(Workload workload, Store store);
    }

    /** Looks at the store when all is over; nothing is held any more. */
    @FunctionalInterface
    interface End {
        void check(Workload workload, Store store);
    }

    static void run(long seed, int operations, Beginning beginning, End end) {
        Oracle oracle = new Oracle();
        Workload workload = new Workload(seed, oracle, 20 + (int) (seed & 255));
        Durability durability = List.of(Durability.values()).get((int) (seed >>> 8 & 3) % 3);
        StoreOptions options = SimStore.options(durability)
                .withBackground(background(Seeds.mix(seed, 1)))
                .withDirectIo((seed >>> 20 & 1) == 0);
        SimDisk disk =
                new SimDisk(seed, List.of(Profile.values()).get((int) (seed >>> 16 & 3) % 3));
        SimStore sim = SimStore.open(disk, seed, options);
        beginning.create(workload, sim.store);
        SchemaWorkload changes = new SchemaWorkload(Seeds.mix(seed, 1));
        changes.begin(sim.store);
        List<Workload.Held> held = new ArrayList<>();
        for (int i = 0; i < operations; i++) {
            workload.write(sim.store);
            if (durability == Durability.SYNC) {
                oracle.acknowledge();
            }
            workload.disturb(sim.store);
            if (i % 64 == 0) {
                changes.change(sim.store);
            }
            int dice = workload.random().nextInt(1_000);
            if (dice < 20) {
                workload.check(sim.store);
            } else if (dice < 40 && held.size() < 4) {
                held.add(workload.hold(sim.store));
            } else if (dice < 70 && !held.isEmpty()) {
                Workload.Held old = held.remove(workload.random().nextInt(held.size()));
                old.check();
                old.close();
            } else if (dice < 74) {
                sim.verify();
            } else if (dice > 960 && !held.isEmpty()) {
                held.get(workload.random().nextInt(held.size())).wander();
            } else if (dice < 80) {
                closeAll(held);
                sim.close();
                oracle.acknowledge();
                assertThat(disk.openHandles()).isEmpty();
                sim = SimStore.open(disk, Seeds.mix(seed, i), options);
                changes.checkRecovered(sim.store);
                changes.begin(sim.store);
                workload.check(sim.store);
            } else if (dice < 86) {
                closeAll(held);
                SimDisk before = disk;
                disk = before.crashImage(Seeds.mix(seed, i));
                // what becomes of the old store is of no interest
                sim.close();
                sim = SimStore.open(disk, Seeds.mix(seed, i), options);
                changes.checkRecovered(sim.store);
                changes.begin(sim.store);
                int prefix = oracle.prefixWith(sim.contentHash());
                assertThat(prefix)
                        .as(
                                "prefix of %d commits, %d durable",
                                oracle.commitCount(), oracle.durableCount())
                        .isGreaterThanOrEqualTo(0);
                oracle.rewind(prefix);
                sim.verify();
            }
        }
        changes.settle();
        held.forEach(Workload.Held::check);
        closeAll(held);
        sim.verify();
        workload.check(sim.store);
        end.check(workload, sim.store);
        assertThat(sim.store.holdsNothing()).isTrue();
        sim.close();
        assertThat(disk.openHandles()).isEmpty();
    }

    private static BackgroundOptions background(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        return BackgroundOptions.defaults()
                .withMergeWorkers(1 + random.nextInt(3))
                .withMergeScheduler(
                        random.nextBoolean() ? MergeScheduler.FAIR : MergeScheduler.GREEDY)
                .withIoBytesPerSecond(random.nextInt(3) > 0 ? 0 : 1 << (17 + random.nextInt(6)))
                .withSyncBytes(random.nextBoolean() ? 0 : 1 << 20)
                .withBacklogComponentsMax(4 + random.nextInt(30));
    }

    private static void closeAll(List<Workload.Held> held) {
        held.forEach(Workload.Held::close);
        held.clear();
    }
}
