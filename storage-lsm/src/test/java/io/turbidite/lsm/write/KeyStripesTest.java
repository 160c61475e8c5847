package io.turbidite.lsm.write;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.Tier;
import io.turbidite.core.task.ThreadTasks;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

class KeyStripesTest {
    private static final int ROUNDS = Tier.count(50_000, 300_000, 20_000_000);

    private final KeyStripes stripes = new KeyStripes(ThreadTasks.create("stripes"));

    /** Counts that have no other guard than the stripe of their number. */
    private final int[] counts = new int[4];

    private Callable<Integer> counting(int... locked) {
        return () -> {
            for (int i = 0; i < ROUNDS; i++) {
                stripes.lockAll(locked, locked.length);
                for (int stripe : locked) {
                    counts[stripe]++;
                }
                stripes.unlockAll(locked, locked.length);
            }
            return 0;
        };
    }

    /** Stripe 2 is the second of one writer and the first of the other. */
    @Test
    void each_of_several_stripes_has_one_holder() throws Exception {
        try (ExecutorService pool = Executors.newFixedThreadPool(2)) {
            for (Future<Integer> one : pool.invokeAll(List.of(counting(1, 2), counting(2, 3)))) {
                one.get();
            }
        }
        assertThat(counts).containsExactly(0, ROUNDS, 2 * ROUNDS, ROUNDS);
        assertThat(stripes.allFree()).isTrue();
    }
}
