package io.turbidite.lsm.harness;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SubDisk;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.backup.BackupReport;
import io.turbidite.lsm.backup.CopyMode;

import java.util.TreeMap;
import java.util.function.UnaryOperator;

/**
 * A store and its backup on one disk, under a random load that goes on between the backup's steps.
 */
public final class BackupRound {
    public static final StoreOptions OPTIONS = SimStore.options(Durability.SYNC);

    public final long seed;
    public final SimDisk disk;
    public final SimStore sim;
    public final Oracle oracle = new Oracle();
    public final Workload workload;

    /** Commits made, by the timestamp of the last one. */
    public final TreeMap<Long, Integer> commits = new TreeMap<>();

    private boolean busy;

    public BackupRound(long seed) {
        this(seed, any -> any);
    }

    /**
     * @param options of the workload, which has made nothing yet
     */
    public BackupRound(long seed, UnaryOperator<Workload> options) {
        this.seed = seed;
        this.disk = new SimDisk(seed, Profile.STRICT);
        this.sim = SimStore.open(disk, seed, OPTIONS, same -> SubDisk.of(same, "store"));
        this.workload = options.apply(new Workload(seed, oracle, 40));
        commits.put(0L, 0);
        workload.create(sim.store);
        for (int i = 0; i < 60; i++) {
            write();
        }
    }

    public void write() {
        workload.write(sim.store);
        oracle.acknowledge();
        commits.put(Inside.watermark(sim.store), oracle.commitCount());
        workload.disturb(sim.store);
    }

    /** Before every step of the backup a write, a flush or a merge perhaps, then {@code also}. */
    public void disturb(Runnable also) {
        disk.onOperation(step -> {
            if (step.name().startsWith("backup") && !busy) {
                busy = true;
                write();
                also.run();
                busy = false;
            }
        });
    }

    public BackupReport backup(String directory, CopyMode mode) {
        return sim.store.backup(SubDisk.of(disk, directory), mode);
    }

    public long hashAt(long timestamp) {
        return oracle.hashAfter(commits.floorEntry(timestamp).getValue());
    }

    /**
     * Checks that a backup holds what the store held.
     *
     * @param directory the disk's root if empty
     */
    public void checkBackup(SimDisk image, String directory) {
        try (SimStore copy = openAt(image, directory)) {
            long timestamp = copy.store.describe().lastTimestamp();
            assertThat(copy.contentHash()).isEqualTo(hashAt(timestamp));
            copy.verify();
            // it is a store like any other
            copy.store
                    .dataset(Workload.INDEXED)
                    .upsert(workload.row(7_777)
                            .toMap(copy.store.dataset(Workload.INDEXED).type()));
            copy.store.dataset(Workload.INDEXED).flush();
            copy.verify();
        }
    }

    public SimStore openAt(SimDisk image, String directory) {
        return SimStore.open(
                image,
                seed,
                OPTIONS,
                same -> directory.isEmpty() ? same : SubDisk.of(same, directory));
    }
}
