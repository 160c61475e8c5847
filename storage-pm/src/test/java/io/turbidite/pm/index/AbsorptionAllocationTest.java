package io.turbidite.pm.index;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.epoch.Epochs;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.pm.region.RegionSpec;
import io.turbidite.pm.region.SegmentMemory;

import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * An index whose tables have grown absorbs layers of updates, collects what is garbage, and makes
 * next to no object: what is left is the sort's, some bytes for a thousand entries that share their
 * fences, and tables that double.
 */
class AbsorptionAllocationTest {
    private static final int RECORD_COUNT = 20_000;
    private static final int KEY_COUNT = RECORD_COUNT / 25;
    private static final int LAYER_COUNT = RECORD_COUNT / 8;
    private static final int ROUND_COUNT_MAX = 60;
    private static final double BYTES_EACH_MAX = 4;
    private static final RegionSpec SPEC =
            new RegionSpec(1, 2, RegionSpec.PAGE_BYTES_DEFAULT, 64 << 20);

    private final MemorySegment primaryBytes = MemorySegment.ofArray(new byte[8]);
    private final MemorySegment secondaryBytes = MemorySegment.ofArray(new byte[8]);
    private final Slice primary = new Slice().set(primaryBytes, 0, 8);
    private final Slice secondary = new Slice().set(secondaryBytes, 0, 8);

    /** Secondary key, number in the layer. */
    private final long[] bySecondary = new long[LAYER_COUNT];

    private final int[] records = new int[LAYER_COUNT];
    private long time;

    private Slice primary(int number) {
        primaryBytes.set(Bytes.I64, 0, Long.reverseBytes(number));
        return primary;
    }

    private Slice secondary(long number) {
        secondaryBytes.set(Bytes.I64, 0, Long.reverseBytes(number));
        return secondary;
    }

    /** An update of each eighth record, or the first of them. */
    private void absorb(PmIndex index, SplittableRandom random, int first) {
        for (int i = 0; i < LAYER_COUNT; i++) {
            records[i] = (first + i * 8) % RECORD_COUNT;
            bySecondary[i] = (long) random.nextInt(KEY_COUNT) << 32 | i;
        }
        Arrays.sort(bySecondary);
        long before = time;
        time += LAYER_COUNT;
        index.begin(time, time);
        for (int i = 0; i < LAYER_COUNT; i++) {
            index.addVersion(primary(records[i]), before + 1 + i, true, 1);
        }
        for (long entry : bySecondary) {
            int i = (int) entry;
            index.addEntry(secondary(entry >>> 32), primary(records[i]), before + 1 + i);
        }
        index.commit(time);
    }

    @Test
    void an_entry_absorbed_makes_no_object() {
        SplittableRandom random = new SplittableRandom(Seeds.of("AbsorptionAllocationTest"));
        Epochs epochs = Epochs.create(4, new SimClock());
        MemoryBudget.Account account = MemoryBudget.of(64 << 20).account("stale keys");
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (SegmentMemory memory = SegmentMemory.inMemory("allocation", 1 << 20);
                PmIndex index = PmIndex.create(memory, SPEC, epochs, account)) {
            double least = Double.MAX_VALUE;
            // the first rounds link, compile, and let tables and buffers grow
            for (int round = 0; round < ROUND_COUNT_MAX && least > BYTES_EACH_MAX; round++) {
                long before = threads.getCurrentThreadAllocatedBytes();
                absorb(index, random, round % 8);
                long bytes = threads.getCurrentThreadAllocatedBytes() - before;
                least = Math.min(least, bytes / (double) LAYER_COUNT);
            }
            assertTrue(
                    index.tree().entryCount() < 2 * RECORD_COUNT,
                    () -> "nothing was collected: " + index.tree().entryCount());
            assertTrue(least <= BYTES_EACH_MAX, least + " bytes an entry");
        }
    }
}
