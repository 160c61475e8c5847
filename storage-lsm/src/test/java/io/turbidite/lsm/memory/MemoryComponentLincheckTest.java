package io.turbidite.lsm.memory;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.sim.Tier;
import io.turbidite.lsm.entry.Found;

import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Test;

import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Put and find are linearizable. The component starts with a root that is a full leaf, so that the
 * first puts move the root's content down and split it under the readers.
 */
@Param(name = "key", gen = IntGen.class, conf = "0:7")
@Param(name = "timestamp", gen = IntGen.class, conf = "1:3")
public class MemoryComponentLincheckTest {
    private static final int FILL = Node.SLOTS;

    private final MemoryComponent component = MemoryComponent.create(new CollectedChunks());

    public MemoryComponentLincheckTest() {
        for (int i = 0; i < FILL; i++) {
            component.put(key(i * 2 + 1), 0, false, new Slice());
        }
    }

    private static Slice key(int number) {
        return Slice.of(new byte[] {1, (byte) (number >> 16), (byte) (number >> 8), (byte) number});
    }

    /** Even keys, all in one leaf in the middle or at the end: absent at first. */
    private static Slice drawn(int key) {
        return key(key < 4 ? FILL + key * 2 : 2 * FILL - 8 + key * 2);
    }

    @Operation
    public void put(@Param(name = "key") int key, @Param(name = "timestamp") int timestamp) {
        component.put(drawn(key), timestamp, false, new Slice());
    }

    @Operation
    public void delete(@Param(name = "key") int key, @Param(name = "timestamp") int timestamp) {
        component.put(drawn(key), timestamp, true, new Slice());
    }

    @Operation
    public long find(@Param(name = "key") int key, @Param(name = "timestamp") int snapshot) {
        Found found = new Found(64);
        int code = component.find(drawn(key), snapshot, found, true);
        return code == Found.ABSENT ? -1 : found.timestamp * 10 + code;
    }

    @Test
    void is_linearizable() {
        Tier.notQuick("a run of Lincheck");
        new StressOptions()
                .iterations(Tier.count(3, 5, 300))
                .invocationsPerIteration(Tier.count(12, 60, 5_000))
                .threads(2)
                .actorsPerThread(4)
                .actorsBefore(1)
                .actorsAfter(4)
                .sequentialSpecification(Model.class)
                .check(MemoryComponentLincheckTest.class);
    }

    /** The same operations on a map; what a run of Lincheck is compared with. */
    public static final class Model {
        private final NavigableMap<Long, Integer> versions = new TreeMap<>();

        public void put(int key, int timestamp) {
            versions.put(key * 10L + timestamp, Found.MATTER);
        }

        public void delete(int key, int timestamp) {
            versions.put(key * 10L + timestamp, Found.ANTIMATTER);
        }

        public long find(int key, int snapshot) {
            var newest = versions.floorEntry(key * 10L + snapshot);
            return newest == null || newest.getKey() < key * 10L
                    ? -1
                    : newest.getKey() % 10 * 10 + newest.getValue();
        }
    }
}
