package io.turbidite.lsm.strategy.bitmap;

import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.sim.LeaksOnPurpose;
import io.turbidite.core.sim.Tier;

import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Test;

import java.util.HashMap;
import java.util.Map;

/**
 * Setting bits of one word and asking for them at snapshots is linearizable, the list of
 * invalidations growing meanwhile. As in the store, only one thread invalidates a given entry: the
 * others' invalidations go elsewhere.
 */
@LeaksOnPurpose("Lincheck closes nothing")
@Param(name = "entry", gen = IntGen.class, conf = "0:3")
@Param(name = "time", gen = IntGen.class, conf = "1:4")
public class MutableValidityBitmapLincheckTest {
    /** Invalidations that fill the list's first table up to a few places. */
    private static final int FILL = 46;

    private final MutableValidityBitmap bitmap;

    public MutableValidityBitmapLincheckTest() {
        MemoryBudget.Account account = MemoryBudget.of(1 << 20).account("test");
        bitmap = MutableValidityBitmap.create(
                new MutableValidityBitmap.Memory(account, account), 64);
        for (int i = 0; i < FILL; i++) {
            bitmap.invalidate(8 + i, 1, () -> 0);
        }
    }

    /**
     * The stripe's part is played by a monitor, as two invalidations of one entry never overlap.
     */
    @Operation
    public boolean invalidate(@Param(name = "entry") int entry, @Param(name = "time") int time) {
        synchronized (stripe(entry)) {
            return bitmap.invalidate(entry, time, () -> 0);
        }
    }

    private final Object[] stripes = {new Object(), new Object(), new Object(), new Object()};

    private Object stripe(int entry) {
        return stripes[entry];
    }

    @Operation
    public boolean isInvalid(@Param(name = "entry") int entry, @Param(name = "time") int snapshot) {
        return bitmap.isInvalid(entry, snapshot);
    }

    @Operation
    public long invalidatedAt(@Param(name = "entry") int entry) {
        return bitmap.invalidatedAt(entry);
    }

    @Test
    void is_linearizable() {
        Tier.notQuick("a run of Lincheck");
        new StressOptions()
                .iterations(Tier.count(3, 5, 300))
                .invocationsPerIteration(Tier.count(12, 100, 5_000))
                .threads(3)
                .actorsPerThread(4)
                .actorsBefore(1)
                .actorsAfter(4)
                .sequentialSpecification(Model.class)
                .check(MutableValidityBitmapLincheckTest.class);
    }

    /** The same operations on a map; what a run of Lincheck is compared with. */
    public static final class Model {
        private final Map<Integer, Integer> times = new HashMap<>();

        public boolean invalidate(int entry, int time) {
            return times.putIfAbsent(entry, time) == null;
        }

        public boolean isInvalid(int entry, int snapshot) {
            return times.getOrDefault(entry, Integer.MAX_VALUE) <= snapshot;
        }

        public long invalidatedAt(int entry) {
            Integer time = times.get(entry);
            return time == null ? MutableValidityBitmap.VALID : time;
        }
    }
}
