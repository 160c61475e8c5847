package io.turbidite.lsm;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.DuplicateKeyException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;

import org.junit.jupiter.api.Test;

import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A unique index whose build overtakes a write: the write has looked for its key before what is built was there,
 * and comes to memory when the build looks for duplicates, or later (design §4 rule 11).
 */
class UniqueBuildTest {
    private static final int ROUNDS = 60;
    private static final int TAKEN = 10;

    @Test
    void a_write_under_way_brings_no_duplicate_in_behind_the_builds_back() {
        int refusedBuilds = 0;
        int refusedWrites = 0;
        for (int round = 0; round < ROUNDS; round++) {
            long seed = Seeds.mix(Seeds.of("UniqueBuildTest"), round);
            String replay = Seeds.replay("UniqueBuildTest", Seeds.of("UniqueBuildTest"));
            SimDisk disk = new SimDisk(seed, Profile.STRICT);
            try (SimStore sim = SimStore.open(disk, seed, SimStore.options(Durability.NONE))) {
                Dataset dataset = sim.store.createDataset(Row.blindSpec("T").partitions(2));
                for (long id = 0; id < TAKEN; id++) {
                    dataset.upsert(row(id, "u" + id, "").toMap());
                }
                dataset.flush();
                IndexBuild build =
                        dataset.startIndex(IndexSpec.btree("by_user", "user").asUnique());
                for (long id = TAKEN; id < 3 * TAKEN && !build.isDone(); id++) {
                    // so large that its place in the log has to be waited for, and the build gets
                    // on
                    Row row = row(id, "u" + id % TAKEN, "x".repeat(50_000));
                    try {
                        dataset.upsert(row.toMap());
                    } catch (DuplicateKeyException taken) {
                        refusedWrites++;
                    }
                }
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
        // both come first now and then
        assertThat(refusedBuilds).isPositive();
        assertThat(refusedWrites).isPositive();
    }

    private static Row row(long id, String user, String body) {
        return new Row(id, user, 1, null, body);
    }
}
