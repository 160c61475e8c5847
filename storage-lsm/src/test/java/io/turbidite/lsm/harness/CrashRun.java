package io.turbidite.lsm.harness;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.file.Disk;
import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.StoreOptions;

import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/** Random histories with power cuts; counts what it did. */
public final class CrashRun {
    private static final int COMMITS_A_RUN = 120;

    /** So that a run shows many places and many histories are seen. */
    private static final int CUT_INTERVAL = 3;

    private final UnaryOperator<Disk> lens;
    private final Supplier<Regions> newRegions;
    private final int cutInterval;
    private long cutCount;
    private long nestedCount;

    /**
     * @param lens what the store under test sees of the disk; stores that recover see the disk
     *     itself
     */
    public CrashRun(UnaryOperator<Disk> lens) {
        this(lens, Regions::heap, CUT_INTERVAL);
    }

    /**
     * @param newRegions where a history's regions lie
     * @param cutInterval steps of the disk between two cuts, about
     */
    public CrashRun(UnaryOperator<Disk> lens, Supplier<Regions> newRegions, int cutInterval) {
        this.lens = lens;
        this.newRegions = newRegions;
        this.cutInterval = cutInterval;
    }

    public long cutCount() {
        return cutCount;
    }

    /** Cuts during recovery. */
    public long nestedCount() {
        return nestedCount;
    }

    /** One history; throws at the first thing that is not as it must be. */
    public void run(long seed) {
        run(seed, workload -> {});
    }

    /**
     * One history of a workload of its own.
     *
     * @param choice says how it differs from what the seed gives
     */
    public void run(long seed, Consumer<Workload> choice) {
        Oracle oracle = new Oracle();
        Workload workload = new Workload(seed, oracle, 40).withRegion(seed);
        choice.accept(workload);
        Durability durability = List.of(Durability.values()).get((int) (seed >>> 8 & 3));
        Regions regions = newRegions.get();
        StoreOptions options = SimStore.options(durability)
                .withDirectIo((seed >>> 20 & 3) == 0)
                .withIndexKinds(regions.kind());
        SimDisk disk = new SimDisk(seed, Profile.STRICT);
        SimStore sim = SimStore.open(disk, seed, options, lens);
        workload.create(sim.store);
        disk.onOperation(step -> {
            if (Long.remainderUnsigned(Seeds.mix(seed, step.index()), cutInterval) == 0) {
                cut(disk, regions, Seeds.mix(seed, step.index()), oracle, options);
            }
        });
        for (int i = 0; i < COMMITS_A_RUN; i++) {
            workload.write(sim.store);
            if (durability == Durability.SYNC) {
                oracle.acknowledge();
            } else if (i % 16 == 0) {
                sim.store.sync();
                oracle.acknowledge();
            }
            workload.disturb(sim.store);
        }
        sim.close();
    }

    /** What regions hold is cut together with the disk, in the middle of an absorption perhaps. */
    private void cut(
            SimDisk disk, Regions regions, long seed, Oracle oracle, StoreOptions options) {
        cutCount++;
        Profile profile = List.of(Profile.values()).get((int) (seed >>> 4 & 3) % 3);
        SimDisk image = disk.crashImage(seed, profile);
        Regions left = regions.cut(seed);
        boolean nest = seed % 4 == 0;
        if (nest) {
            image.onOperation(step -> {
                long stepSeed = Seeds.mix(seed, step.index());
                if (Long.remainderUnsigned(stepSeed, 5) == 0) {
                    nestedCount++;
                    recover(
                            image.crashImage(stepSeed, profile),
                            stepSeed,
                            oracle,
                            options.withIndexKinds(left.cut(stepSeed).kind()));
                }
            });
        }
        long first = recover(image, seed, oracle, options.withIndexKinds(left.kind()));
        image.onOperation(step -> {});
        long second = recover(
                image.crashImage(seed),
                seed + 1,
                oracle,
                options.withIndexKinds(left.cut(seed + 1).kind()));
        assertThat(second).as("the second recovery").isEqualTo(first);
    }

    private static long recover(SimDisk image, long seed, Oracle oracle, StoreOptions options) {
        try (SimStore sim = SimStore.open(image, seed, options)) {
            long hash = sim.contentHash();
            assertThat(oracle.prefixWith(hash))
                    .as(
                            "prefix of %d commits, %d durable, after a cut at%n%s",
                            oracle.commitCount(), oracle.durableCount(), image.trace())
                    .isGreaterThanOrEqualTo(0);
            sim.verify();
            return hash;
        }
    }
}
