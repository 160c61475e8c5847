package io.turbidite.lsm.strategy.bitmap;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.sim.LeaksOnPurpose;
import io.turbidite.core.sim.Tier;
import io.turbidite.lsm.entry.EntryStream;

import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Test;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Invalidating entries of a component and of a frozen layer while a builder copies them is
 * linearizable: a copy is invalid from the invalidation on, whichever came first.
 */
@LeaksOnPurpose("Lincheck closes nothing")
@Param(name = "entry", gen = IntGen.class, conf = "1:3")
@Param(name = "time", gen = IntGen.class, conf = "1:4")
public class LockMethodLincheckTest {
    private static final int ENTRIES = 4;
    private static final Slice NO_KEY = Slice.of(new byte[0]);

    private final MemoryBudget.Account account = MemoryBudget.of(1 << 20).account("test");
    private final MutableValidityBitmap source = MutableValidityBitmap.create(
            new MutableValidityBitmap.Memory(account, account), ENTRIES);
    private final MutableValidityBitmap target = MutableValidityBitmap.create(
            new MutableValidityBitmap.Memory(account, account), 2 * ENTRIES);
    private final BuildConcurrency.Shared shared = new BuildConcurrency.Shared(
            account, account, () -> 0, new BuildConcurrencyMeter(new Meters()));
    private final BuildConcurrency component = Objects.requireNonNull(LockMethod.ofComponents(
            List.of(new BuildConcurrency.Source(source, () -> null)), shared));
    private final BuildConcurrency layer =
            Objects.requireNonNull(LockMethod.ofLayer(ENTRIES, shared));
    private final boolean[] superseded = new boolean[ENTRIES];
    private final Object[] stripes = {new Object(), new Object(), new Object(), new Object()};

    public LockMethodLincheckTest() {
        component.begin(target);
        layer.begin(target);
    }

    /** As a writer does, who has the stripe of the key. */
    @Operation
    public boolean invalidateInComponent(
            @Param(name = "entry") int entry, @Param(name = "time") int time) {
        synchronized (stripes[entry]) {
            boolean invalidated = source.invalidate(entry, time, () -> 0);
            if (invalidated) {
                component.sink(0).invalidated(entry, NO_KEY, time);
            }
            return invalidated;
        }
    }

    /** As a writer does, who finds an entry of the layer as long as nobody has superseded it. */
    @Operation
    public boolean invalidateInLayer(
            @Param(name = "entry") int entry, @Param(name = "time") int time) {
        synchronized (stripes[entry]) {
            boolean invalidated = !superseded[entry];
            if (invalidated) {
                superseded[entry] = true;
                layer.sink(0).invalidated(entry, NO_KEY, time);
            }
            return invalidated;
        }
    }

    /** One builder. */
    @Operation(nonParallelGroup = "builder")
    public void copyOfComponent(@Param(name = "entry") int entry) {
        component.copied(new Entry(entry), entry);
    }

    @Operation(nonParallelGroup = "builder")
    public void copyOfLayer(@Param(name = "entry") int entry) {
        layer.copied(new Entry(entry), ENTRIES + entry);
    }

    @Operation
    public long copyInComponent(@Param(name = "entry") int entry) {
        return target.invalidatedAt(entry);
    }

    @Operation
    public long copyInLayer(@Param(name = "entry") int entry) {
        return target.invalidatedAt(ENTRIES + entry);
    }

    @Test
    void is_linearizable() {
        Tier.notQuick("a run of Lincheck");
        new StressOptions()
                .iterations(Tier.count(3, 10, 300))
                .invocationsPerIteration(Tier.count(12, 100, 5_000))
                .threads(3)
                .actorsPerThread(4)
                .actorsBefore(1)
                .actorsAfter(4)
                .sequentialSpecification(Model.class)
                .check(LockMethodLincheckTest.class);
    }

    /** The same operations on maps; what a run of Lincheck is compared with. */
    public static final class Model {
        private final Map<Integer, Long> invalidatedInComponent = new HashMap<>();
        private final Map<Integer, Long> invalidatedInLayer = new HashMap<>();
        private final Set<Integer> copiedOfComponent = new HashSet<>();
        private final Set<Integer> copiedOfLayer = new HashSet<>();

        public boolean invalidateInComponent(int entry, int time) {
            return invalidatedInComponent.putIfAbsent(entry, (long) time) == null;
        }

        public boolean invalidateInLayer(int entry, int time) {
            return invalidatedInLayer.putIfAbsent(entry, (long) time) == null;
        }

        public void copyOfComponent(int entry) {
            copiedOfComponent.add(entry);
        }

        public void copyOfLayer(int entry) {
            copiedOfLayer.add(entry);
        }

        public long copyInComponent(int entry) {
            return time(copiedOfComponent, invalidatedInComponent, entry);
        }

        public long copyInLayer(int entry) {
            return time(copiedOfLayer, invalidatedInLayer, entry);
        }

        private static long time(Set<Integer> copied, Map<Integer, Long> invalidated, int entry) {
            return copied.contains(entry)
                    ? invalidated.getOrDefault(entry, MutableValidityBitmap.VALID)
                    : MutableValidityBitmap.VALID;
        }
    }

    /** An entry that the builder stands on and knows no successor of. */
    private record Entry(long position) implements EntryStream {
        @Override
        public boolean next() {
            return false;
        }

        @Override
        public Slice key() {
            return NO_KEY;
        }

        @Override
        public long timestamp() {
            return 0;
        }

        @Override
        public boolean isAntimatter() {
            return false;
        }

        @Override
        public Slice value() {
            return NO_KEY;
        }

        @Override
        public void close() {}
    }
}
