package io.turbidite.pm.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.sim.Seeds;
import io.turbidite.pm.region.RegionMode;

import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;

/** The simulation keeps the rules of the processor, and no others. */
class SimMemoryTest {
    private final SplittableRandom random = new SplittableRandom(Seeds.of("SimMemoryTest"));

    private static SimMemory memory(RegionMode mode) {
        SimMemory memory = SimMemory.create(mode, 1 << 16);
        assertEquals(true, memory.grow(8_192));
        return memory;
    }

    /** The words at some offsets, in each image that is possible. */
    private Set<String> images(SimMemory memory, long... offsets) {
        Set<String> images = new TreeSet<>();
        int count = memory.eachImage(5_000, random, image -> {
            StringBuilder text = new StringBuilder();
            for (long offset : offsets) {
                text.append(MemorySegment.ofArray(image).get(Bytes.I64, offset)).append(' ');
            }
            images.add(text.toString().trim());
        });
        assertFalse(count == 0);
        return images;
    }

    @Test
    void storesToOneLineBecomeDurableInTheirOrder() {
        SimMemory memory = memory(RegionMode.DAX);
        memory.putLong(64, 1);
        memory.putLong(72, 2);
        assertEquals(Set.of("0 0", "1 0", "1 2"), images(memory, 64, 72));
    }

    @Test
    void linesBecomeDurableInAnyOrder() {
        SimMemory memory = memory(RegionMode.DAX);
        memory.putLong(64, 1);
        memory.putLong(128, 2);
        assertEquals(Set.of("0 0", "1 0", "0 2", "1 2"), images(memory, 64, 128));
    }

    @Test
    void aFenceMakesDurableWhatWasWrittenBackBefore() {
        SimMemory memory = memory(RegionMode.DAX);
        memory.putLong(64, 1);
        memory.writeBack(64, 8);
        assertEquals(Set.of("0", "1"), images(memory, 64));
        memory.putLong(72, 2); // behind the write-back
        memory.fence();
        assertEquals(Set.of("1 0", "1 2"), images(memory, 64, 72));
        assertThrows(AssertionError.class, memory::checkSettled);
        memory.writeBack(72, 8);
        memory.fence();
        memory.checkSettled();
        assertEquals(Set.of("1 2"), images(memory, 64, 72));
        assertEquals(2, memory.fenceCount());
        assertEquals(2, memory.lineCount());
    }

    @Test
    void aCopyIsTornAtItsWords() {
        SimMemory memory = memory(RegionMode.DAX);
        MemorySegment source = MemorySegment.ofArray(new byte[20]).fill((byte) 1);
        memory.putBytes(64, source, 0, 20);
        long ones = 0x0101010101010101L;
        assertEquals(
                Set.of(
                        "0 0 0",
                        ones + " 0 0",
                        ones + " " + ones + " 0",
                        ones + " " + ones + " " + 0x01010101L),
                images(memory, 64, 72, 80));
    }

    @Test
    void aLineWrittenBackTwiceOrForNothingIsAFault() {
        SimMemory memory = memory(RegionMode.DAX);
        assertThrows(AssertionError.class, () -> memory.writeBack(0, 8));
        memory.putLong(0, 1);
        memory.writeBack(0, 8);
        assertThrows(AssertionError.class, () -> memory.writeBack(0, 8));
        memory.putLong(0, 2);
        assertThrows(AssertionError.class, () -> memory.writeBack(0, 8));
    }

    @Test
    void aFileIsWrittenByPages() {
        SimMemory memory = memory(RegionMode.FILE);
        memory.putLong(0, 1);
        memory.putLong(8, 1);
        memory.putLong(4_096, 2);
        memory.writeBack(0, 16);
        memory.fence();
        assertEquals(Set.of("0 0 0", "1 1 0", "0 0 2", "1 1 2"), images(memory, 0, 8, 4_096));
        memory.force();
        assertEquals(Set.of("1 1 2"), images(memory, 0, 8, 4_096));
    }

    @Test
    void whatIsTooMuchIsDrawn() {
        SimMemory memory = memory(RegionMode.DAX);
        for (int i = 0; i < 20; i++) {
            memory.putLong(i * 64L, 1);
        }
        assertEquals(300, memory.eachImage(300, random, image -> {}));
    }
}
