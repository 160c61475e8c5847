package io.turbidite.lsm.indexbuild;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.DuplicateKeyException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.IndexBuild;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;

import org.junit.jupiter.api.Test;

import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;

/**
 * A unique index whose build overtakes a write: the write has looked for its key before what is
 * built was there, and comes to memory when the build looks for duplicates, or later (design §4
 * rule 11).
 */
class UniqueBuildTest {
    private static final int ROUNDS = 20;
    private static final int TAKEN = 10;

    /** More than a build takes from its first to its last. */
    private static final int STEPS = 40;

    @Test
    void a_write_under_way_brings_no_duplicate_in_behind_the_builds_back() {
        int refusedBuilds = 0;
        for (int round = 0; round < ROUNDS; round++) {
            long seed = Seeds.mix(Seeds.of("UniqueBuildTest"), round);
            String replay = Seeds.replay("UniqueBuildTest", Seeds.of("UniqueBuildTest"));
            SimDisk disk = new SimDisk(seed, Profile.STRICT);
            try (SimStore sim = SimStore.open(disk, seed, SimStore.options(Durability.BUFFERED))) {
                Dataset dataset = sim.store.createDataset(Row.blindSpec("T").partitions(2));
                for (long id = 0; id < TAKEN; id++) {
                    dataset.upsert(row(id, "u" + id, "").toMap());
                }
                dataset.flush();
                IndexBuild build =
                        dataset.startIndex(IndexSpec.btree("by_user", "user").asUnique());
                AtomicBoolean writes = new AtomicBoolean();
                // a write that waits for its place in the log is in flight: the build gets on
                // meanwhile
                disk.onOperation(step -> {
                    if (writes.compareAndSet(true, false)) {
                        for (int i = 0; i < STEPS && !build.isDone(); i++) {
                            sim.tasks.step();
                        }
                    }
                });
                for (long id = TAKEN; id < 2 * TAKEN && !build.isDone(); id++) {
                    // the first one finds its place at once
                    String user = id == TAKEN ? "first" : "u" + id % TAKEN;
                    Row row = row(id, user, "x".repeat(40_000));
                    writes.set(true);
                    try {
                        dataset.upsert(row.toMap());
                    } catch (DuplicateKeyException taken) {
                        assertThat(taken).as(replay).hasMessageContaining(user);
                    }
                    writes.set(false);
                }
                disk.onOperation(step -> {});
                try {
                    build.await();
                } catch (DuplicateKeyException duplicates) {
                    refusedBuilds++;
                }
                if (dataset.indexes().stream().anyMatch(index -> index.name().equals("by_user"))) {
                    Set<String> users = SimStore.rows(dataset).values().stream()
                            .map(one -> Objects.requireNonNull(one.user()))
                            .collect(Collectors.toSet());
                    assertThat(SimStore.rows(dataset)).as(replay).hasSameSizeAs(users);
                }
                sim.verify();
            }
        }
        assertThat(refusedBuilds).isPositive();
    }

    private static Row row(long id, String user, String body) {
        return new Row(id, user, 1, null, body);
    }
}
