package io.turbidite.lsm.memory;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.order.Timestamps;

import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Test;

import java.util.TreeSet;

/**
 * What a cursor shows at a snapshot, backwards, forwards and from the middle, is what was there at
 * one moment, while puts split the leaves under it. As in a store, a put is drawn a timestamp and
 * returns when that is visible, and a reader passes over what is above its snapshot.
 */
@Param(name = "key", gen = IntGen.class, conf = "0:7")
public class MemoryCursorLincheckTest {
    private static final Tasks TASKS = ThreadTasks.create("lincheck");

    /** A full leaf, so that the first puts split it. */
    private static final int FILL = Node.SLOTS;

    private final MemoryComponent component = MemoryComponent.create(new CollectedChunks());
    private final Timestamps timestamps = new Timestamps(1, TASKS, Clock.system(), () -> false);

    public MemoryCursorLincheckTest() {
        for (int i = 0; i < FILL; i++) {
            component.put(key(i * 2 + 1), 1, false, new Slice());
        }
    }

    private static Slice key(int number) {
        return Slice.of(new byte[] {1, (byte) (number >> 8), (byte) number});
    }

    /** Even numbers, which are absent at first; half of them lie where the leaf is split. */
    private static int number(int drawn) {
        return drawn < 4 ? FILL - 4 + drawn * 2 : 2 * FILL - 8 + drawn * 2;
    }

    @Operation
    public void put(@Param(name = "key") int key) {
        write(key, false);
    }

    @Operation
    public void delete(@Param(name = "key") int key) {
        write(key, true);
    }

    private void write(int key, boolean antimatter) {
        long draw = timestamps.draw(1);
        long timestamp = Timestamps.lastOf(draw);
        component.put(key(number(key)), timestamp, antimatter, new Slice());
        timestamps.complete(draw);
        timestamps.awaitVisible(timestamp);
    }

    /** The drawn keys that are there, from the highest to the lowest. */
    @Operation
    public String backwards() {
        try (EntryCursor cursor = component.cursor()) {
            long snapshot = timestamps.watermark();
            cursor.seekEnd();
            return below(cursor, snapshot);
        }
    }

    /** Those below one of them. */
    @Operation
    public String backwardsFrom(@Param(name = "key") int key) {
        try (EntryCursor cursor = component.cursor()) {
            long snapshot = timestamps.watermark();
            cursor.seek(key(number(key)));
            return below(cursor, snapshot);
        }
    }

    /** Of each key the versions come from the oldest to the newest. */
    private static String below(EntryCursor cursor, long snapshot) {
        StringBuilder found = new StringBuilder();
        int number = -1;
        boolean there = false;
        while (cursor.previous()) {
            int next = number(cursor);
            if (next != number) {
                append(found, number, there);
                there = false;
            }
            number = next;
            if (cursor.timestamp() <= snapshot) {
                there = !cursor.isAntimatter();
            }
        }
        return append(found, number, there).toString();
    }

    /** And from the newest to the oldest. */
    @Operation
    public String forwards() {
        StringBuilder found = new StringBuilder();
        int settled = -1;
        try (EntryCursor cursor = component.cursor()) {
            long snapshot = timestamps.watermark();
            while (cursor.next()) {
                int number = number(cursor);
                if (number != settled && cursor.timestamp() <= snapshot) {
                    append(found, number, !cursor.isAntimatter());
                    settled = number;
                }
            }
        }
        return found.toString();
    }

    private static int number(EntryCursor cursor) {
        return (cursor.key().byteAt(1) & 0xFF) << 8 | (cursor.key().byteAt(2) & 0xFF);
    }

    private static StringBuilder append(StringBuilder found, int number, boolean there) {
        return there && number % 2 == 0 ? found.append(number).append(' ') : found;
    }

    @Test
    void cursors_are_linearizable_at_snapshots() {
        Tier.notQuick("a run of Lincheck");
        new StressOptions()
                .iterations(Tier.count(3, 6, 300))
                .invocationsPerIteration(Tier.count(15, 120, 5_000))
                .threads(3)
                .actorsPerThread(4)
                .actorsBefore(1)
                .actorsAfter(2)
                .sequentialSpecification(Model.class)
                .check(MemoryCursorLincheckTest.class);
    }

    /** The same operations on a set; what a run of Lincheck is compared with. */
    public static final class Model {
        private final TreeSet<Integer> there = new TreeSet<>();

        public void put(int key) {
            there.add(number(key));
        }

        public void delete(int key) {
            there.remove(number(key));
        }

        public String backwards() {
            return list(there.descendingSet());
        }

        public String backwardsFrom(int key) {
            return list(there.headSet(number(key), false).descendingSet());
        }

        public String forwards() {
            return list(there);
        }

        private static String list(Iterable<Integer> numbers) {
            StringBuilder text = new StringBuilder();
            numbers.forEach(number -> text.append(number).append(' '));
            return text.toString();
        }
    }
}
