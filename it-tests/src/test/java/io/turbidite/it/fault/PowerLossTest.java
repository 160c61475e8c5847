package io.turbidite.it.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.Tier;
import io.turbidite.lsm.Store;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * R7: a file system loses its power under a child that commits with {@code sync}. What the parent
 * had read as acknowledged before the cut is there after it, with a prefix of the history and no
 * half batch. Every fifth time the child is killed first; else it lives on, has every write
 * refused, and closes.
 */
class PowerLossTest {
    /** Of each file system. */
    private static final int CUTS = Tier.count(3, 25, 1_000);

    private static final int KILLED_EVERY = 5;
    private static final int COMMITS_MAX = 300;

    private final SplittableRandom random = new SplittableRandom(Seeds.of("PowerLossTest"));
    private final long seed = Seeds.of("PowerLossTest");

    @ParameterizedTest
    @EnumSource
    void what_was_acknowledged_survives_a_power_cut(
            LoopFileSystem.Kind kind, @TempDir Path directory)
            throws IOException, InterruptedException {
        String refusal = LoopFileSystem.refusal(kind);
        if (refusal != null) {
            System.out.printf("PowerLossTest: no %s here, skipped: %s%n", kind.type(), refusal);
        }
        Assumptions.assumeTrue(refusal == null, refusal);
        CutHistory history = new CutHistory(seed);
        CutChild child = CutChild.start(Map.of());
        long lost = 0;
        try (LoopFileSystem system = LoopFileSystem.create(kind, directory)) {
            Path store = system.directory().resolve("store");
            try {
                for (int cut = 0; cut < CUTS; cut++) {
                    String as = "%s, cut %d; %s"
                            .formatted(kind, cut, Seeds.replay("PowerLossTest", seed));
                    child.write(store, history, seed, Long.MAX_VALUE >> 1);
                    child.await(random.nextInt(COMMITS_MAX));
                    boolean killed = cut % KILLED_EVERY == KILLED_EVERY - 1;
                    if (killed) {
                        child.kill();
                    }
                    // an fdatasync that the shutdown meets may still say that it went well
                    long acknowledged = child.acknowledged();
                    system.cutPower();
                    if (killed) {
                        child = CutChild.start(Map.of());
                    } else {
                        child.awaitClosed();
                        assertThat(child.refusals()).as(as).isNotEmpty();
                        lost += child.acknowledged() - acknowledged;
                    }
                    system.unmount();
                    system.mount();
                    try (Store opened = Store.open(store, CutWriter.options())) {
                        history.check(opened, acknowledged, as);
                    }
                }
            } finally {
                child.close();
            }
        }
        System.out.printf(
                "PowerLossTest: %d cuts of %s, %d commits, %d said during a cut%n",
                CUTS, kind.type(), history.number(), lost);
    }
}
