package io.turbidite.pm.validate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.epoch.Epochs;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.sim.SimClock;
import io.turbidite.pm.region.Region;
import io.turbidite.pm.region.RegionSpec;
import io.turbidite.pm.region.SegmentMemory;

import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;

/** An empty table is filled by as many keys at once as there is memory for. */
class EmptyTableTest {
    private static final int KEY_COUNT = 300_000;
    private static final RegionSpec SPEC =
            new RegionSpec(1, 2, RegionSpec.PAGE_BYTES_DEFAULT, 256 << 20);

    private final Epochs epochs = Epochs.create(4, new SimClock());
    private final MemorySegment bytes = MemorySegment.ofArray(new byte[8]);
    private final Slice key = new Slice().set(bytes, 0, 8);

    private Slice key(int number) {
        bytes.set(Bytes.I64_BE, 0, number);
        return key;
    }

    /** A region with empty tables, in the middle of an absorption. */
    private Region empty(SegmentMemory memory) {
        Region made = Region.create(memory, SPEC, epochs);
        long root = Validation.create(made);
        made.setRoots(root, root);
        made.commit(0);
        Region region = Region.open(memory, SPEC, epochs, 0);
        region.begin(2L * KEY_COUNT);
        return region;
    }

    /** Fills a table, looks at all of it, and gives the blocks that were written for a key. */
    private double blocksWrittenAKey(MemoryBudget.Account lender) {
        try (SegmentMemory memory = SegmentMemory.inMemory("region", 1 << 22)) {
            Region region = empty(memory);
            try (Validation validation = Validation.open(region, lender)) {
                for (int i = 0; i < KEY_COUNT; i++) {
                    validation.absorb(key(i), i + 1, true, 1);
                }
                validation.flush();
                assertEquals(0, lender.bytesUsed(), "what was borrowed");
                assertEquals(KEY_COUNT, validation.keyCount());
                for (int i = 0; i < KEY_COUNT; i++) {
                    assertEquals(i + 1, validation.newest(key(i)));
                }
                // a second layer borrows nothing
                for (int i = 0; i < KEY_COUNT; i++) {
                    validation.absorb(key(i), KEY_COUNT + i + 1, true, 1);
                    assertEquals(validation.staleBytes(), lender.bytesUsed());
                }
                validation.flush();
                assertEquals(KEY_COUNT + 1, validation.newest(key(0)));
            }
            assertEquals(0, lender.bytesUsed());
            return region.dirty().blocksWritten() / (double) KEY_COUNT;
        }
    }

    @Test
    void an_empty_table_borrows_memory_and_writes_each_bucket_once() {
        MemoryBudget budget = MemoryBudget.of(1 << 30);
        MemoryBudget.Account rich = budget.account("rich");
        MemoryBudget.Account poor = budget.account("poor", 1 << 20);
        double all = blocksWrittenAKey(rich);
        double slices = blocksWrittenAKey(poor);
        assertTrue(rich.bytesPeak() > 0);
        assertTrue(all < 0.8 * slices, all + " and " + slices + " blocks a key");
    }

    @Test
    void what_was_borrowed_goes_back_if_the_fill_is_given_up() {
        MemoryBudget.Account lender = MemoryBudget.of(1 << 30).account("lender");
        try (SegmentMemory memory = SegmentMemory.inMemory("region", 1 << 22)) {
            try (Validation validation = Validation.open(empty(memory), lender)) {
                for (int i = 0; i < KEY_COUNT; i++) {
                    validation.absorb(key(i), i + 1, true, 1);
                }
                assertTrue(lender.bytesUsed() > 0);
            }
            assertEquals(0, lender.bytesUsed());
        }
    }
}
