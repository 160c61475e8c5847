package io.turbidite.lsm.write;

import io.turbidite.core.sim.Tier;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;

import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Test;

/**
 * What is read and written under a stripe, or under several, is one moment's: numbers without any
 * other protection are counted and moved by several threads, in single steps and in pairs.
 */
@Param(name = "key", gen = IntGen.class, conf = "0:2")
public class KeyStripesLincheckTest {
    private static final Tasks TASKS = ThreadTasks.create("lincheck");
    private static final int KEY_COUNT = 3;

    private final KeyStripes stripes = new KeyStripes(TASKS);
    private final int[] numbers = new int[KEY_COUNT];

    private int stripe(int key) {
        return stripes.stripeOf(1, (long) key << 20);
    }

    /** Counts on; long enough for others to come in between if they could. */
    @Operation
    public int count(@Param(name = "key") int key) {
        int stripe = stripe(key);
        stripes.lock(stripe);
        try {
            int before = numbers[key];
            Thread.onSpinWait();
            numbers[key] = before + 1;
            return before;
        } finally {
            stripes.unlock(stripe);
        }
    }

    @Operation
    public int move(@Param(name = "key") int from, @Param(name = "key") int to) {
        int[] both = {Math.min(stripe(from), stripe(to)), Math.max(stripe(from), stripe(to))};
        int count = from == to ? 1 : 2;
        stripes.lockAll(both, count);
        try {
            int moved = numbers[from];
            Thread.onSpinWait();
            numbers[from] = 0;
            numbers[to] += moved;
            return numbers[to];
        } finally {
            stripes.unlockAll(both, count);
        }
    }

    @Validate
    public void noStripeIsHeld() {
        if (!stripes.allFree()) {
            throw new IllegalStateException("a stripe is held by nobody");
        }
    }

    @Test
    void what_is_under_a_stripe_is_linearizable() {
        Tier.notQuick("a run of Lincheck");
        new StressOptions()
                .iterations(Tier.count(3, 5, 200))
                .invocationsPerIteration(Tier.count(25, 200, 5_000))
                .threads(3)
                .actorsPerThread(5)
                .actorsBefore(1)
                .actorsAfter(KEY_COUNT)
                .sequentialSpecification(Model.class)
                .check(KeyStripesLincheckTest.class);
    }

    /** The same without other threads; what a run of Lincheck is compared with. */
    public static final class Model {
        private final int[] numbers = new int[KEY_COUNT];

        public int count(int key) {
            return numbers[key]++;
        }

        public int move(int from, int to) {
            int moved = numbers[from];
            numbers[from] = 0;
            numbers[to] += moved;
            return numbers[to];
        }
    }
}
