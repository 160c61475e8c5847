package io.turbidite.pm.region;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.FormatVersionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.epoch.EpochSession;
import io.turbidite.core.epoch.Epochs;
import io.turbidite.core.format.Crc32c;
import io.turbidite.core.index.RegionSessions;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.pm.sim.SimMemory;

import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.SplittableRandom;

/** Header, roots, pages and the sum of a region. */
class RegionTest {
    private static final int BYTES_MAX = 1 << 20;
    private static final RegionSpec SPEC = new RegionSpec(7, 3, 512, BYTES_MAX);

    private final Epochs epochs = Epochs.create(4, new SimClock());

    private Region create(RegionMemory memory) {
        Region region = Region.create(memory, SPEC, epochs);
        long tree = region.pages().allocate(1_280);
        memory.putLong(tree, 11);
        region.dirty().add(tree, 8);
        region.setRoots(tree, tree);
        region.begin(5);
        region.commit(5);
        return region;
    }

    private Region reopen(RegionMode mode, byte[] image) {
        return Region.open(SimMemory.of(mode, image, BYTES_MAX), SPEC, epochs, 0);
    }

    @Test
    void aHeaderTellsWhatWasCommitted() {
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        Region region = create(memory);
        Region found = reopen(RegionMode.DAX, memory.contents());
        assertEquals(5, found.absorbedThrough());
        assertEquals(region.treeRoot(), found.treeRoot());
        assertFalse(found.isAbsorbing());
        region.begin(9);
        assertTrue(reopen(RegionMode.DAX, memory.contents()).isAbsorbing());
        region.commit(9);
        region.close();
        memory.checkSettled();
        assertEquals(9, reopen(RegionMode.DAX, memory.contents()).absorbedThrough());
    }

    /** A cut absorption says where it was to end, and whoever takes it back does not forget it. */
    @Test
    void aHeaderTellsHowFarAnyAbsorptionWasToGo() {
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        Region region = create(memory);
        assertEquals(5, region.reachedThrough());
        region.begin(5);
        region.begin(9);
        Region cut = reopen(RegionMode.DAX, memory.contents());
        assertEquals(5, cut.absorbedThrough());
        assertEquals(9, cut.reachedThrough());
        assertThrows(InvalidRequestException.class, () -> region.commit(10));
        region.commit(5);
        assertEquals(9, reopen(RegionMode.DAX, memory.contents()).reachedThrough());
        region.begin(6);
        region.commit(6);
        region.close();
        Region closed = reopen(RegionMode.DAX, memory.contents());
        assertEquals(6, closed.absorbedThrough());
        assertEquals(9, closed.reachedThrough());
    }

    private Region reopen(byte[] image, long last, long now) {
        RegionSpec spec = new RegionSpec(7, 3, 512, BYTES_MAX, new RegionSessions(last, now));
        return Region.open(SimMemory.of(RegionMode.DAX, image, BYTES_MAX), spec, epochs, 0);
    }

    private static byte[] contents(Region region) {
        return ((SimMemory) region.memory()).contents();
    }

    /** Two copies of a store have one region: which of them it went on with is not forgotten. */
    @Test
    void aRegionIsOfTheSessionThatChangedItLast() {
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        create(memory);
        Region first = reopen(memory.contents(), 0, 21);
        first.beginSession();
        byte[] untouched = contents(first);
        reopen(untouched, 0, 22); // the manifest did not name the session yet
        reopen(untouched, 21, 22);
        first.beginTakingBack(5);
        first.commit(5);
        reopen(contents(first), 0, 22);
        first.begin(9);
        byte[] changed = contents(first);
        reopen(changed, 21, 22);
        assertThrows(CorruptionException.class, () -> reopen(changed, 0, 22));
        first.commit(9);
        first.close();
        byte[] closed = contents(first);
        reopen(closed, 21, 22);
        assertThrows(CorruptionException.class, () -> reopen(closed, 0, 22));
        assertThrows(CorruptionException.class, () -> reopen(closed, 22, 23));
    }

    /** Each opening of a store names its session; one that fails soon does so again and again. */
    @Test
    void aSessionThatChangedNothingLeavesTheOneBefore() {
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        create(memory);
        byte[] image = memory.contents();
        for (long now = 30; now < 40; now++) {
            Region region = reopen(image, 0, now);
            region.beginSession();
            region.close();
            image = contents(region);
        }
        for (long now = 39; now < 45; now++) {
            Region region = reopen(image, now, now + 1);
            region.beginSession();
            image = contents(region);
        }
        byte[] last = image;
        assertThrows(CorruptionException.class, () -> reopen(last, 43, 50));
        assertEquals(5, reopen(last, 45, 50).absorbedThrough());
    }

    /** Whatever is torn when the header is written: one of two neighbours is found. */
    @Test
    void aTornHeaderLeavesItsPredecessor() {
        SplittableRandom random = new SplittableRandom(Seeds.of("RegionTest#torn"));
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        Region region = create(memory);
        for (int i = 6; i < 12; i++) {
            long before = region.absorbedThrough();
            region.begin(i);
            memory.beforeFence(() -> {
                var _ = memory.eachImage(200, random, image -> {
                    Region found = reopen(RegionMode.DAX, image);
                    assertTrue(found.absorbedThrough() >= before, "older than its predecessor");
                });
            });
            region.commit(i);
            memory.beforeFence(null);
        }
        memory.checkSettled();
    }

    @Test
    void anyFlippedBitOfTheHeaderIsFound() {
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        Region region = create(memory);
        region.close();
        byte[] sound = memory.contents();
        // the newest slot is the one without which an older state is found
        for (int slot = 0; slot < 2; slot++) {
            for (int bit = 0; bit < RegionHeader.SLOT_BYTES * 8; bit++) {
                byte[] image = sound.clone();
                image[slot * RegionHeader.SLOT_STRIDE + bit / 8] ^= (byte) (1 << bit % 8);
                image[(1 - slot) * RegionHeader.SLOT_STRIDE] ^= 1;
                assertThrows(
                        CorruptionException.class, () -> reopen(RegionMode.DAX, image), "" + bit);
            }
        }
    }

    @Test
    void anothersRegionIsRefused() {
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        create(memory).close();
        byte[] image = memory.contents();
        for (RegionSpec other : new RegionSpec[] {
            new RegionSpec(8, 3, 512, BYTES_MAX),
            new RegionSpec(7, 4, 512, BYTES_MAX),
            new RegionSpec(7, 3, 768, BYTES_MAX)
        }) {
            SimMemory copy = SimMemory.of(RegionMode.DAX, image, BYTES_MAX);
            assertThrows(CorruptionException.class, () -> Region.open(copy, other, epochs, 0));
        }
        SimMemory stale = SimMemory.of(RegionMode.DAX, image, BYTES_MAX);
        assertThrows(CorruptionException.class, () -> Region.open(stale, SPEC, epochs, 6));
    }

    /** Its file was copied: what it went by is no proof where it lies now. */
    @Test
    void aRegionOfAnotherModeIsRefused() {
        for (RegionMode made : List.of(RegionMode.DAX, RegionMode.FILE)) {
            SimMemory memory = SimMemory.create(made, BYTES_MAX);
            create(memory).close();
            RegionMode other = made == RegionMode.DAX ? RegionMode.FILE : RegionMode.DAX;
            CorruptionException refused =
                    assertThrows(CorruptionException.class, () -> reopen(other, memory.contents()));
            assertTrue(String.valueOf(refused.getMessage()).contains(made.name()));
            SimMemory copy = SimMemory.of(other, memory.contents(), BYTES_MAX);
            assertEquals(made, Region.keptMode(copy, SPEC));
            reopen(made, memory.contents()).close();
        }
    }

    @Test
    void anotherVersionIsNamed() {
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        create(memory).close();
        byte[] image = memory.contents();
        MemorySegment bytes = MemorySegment.ofArray(image);
        for (int slot = 0; slot < 2; slot++) {
            long at = (long) slot * RegionHeader.SLOT_STRIDE;
            bytes.set(Bytes.I16, at + 24, (short) 3);
            Crc32c crc = new Crc32c();
            bytes.set(Bytes.I32, at + 60, crc.compute(bytes, at, 60));
            bytes.set(
                    Bytes.I32,
                    at + RegionHeader.CHECKSUM_OFFSET,
                    crc.compute(bytes, at, RegionHeader.CHECKSUM_OFFSET));
        }
        assertThrows(FormatVersionException.class, () -> reopen(RegionMode.DAX, image));
    }

    @Test
    void aTruncatedRegionIsRefused() {
        assertThrows(CorruptionException.class, () -> reopen(RegionMode.DAX, new byte[0]));
        assertThrows(CorruptionException.class, () -> reopen(RegionMode.DAX, new byte[1 << 16]));
    }

    @Test
    void anOlderRegionInTheSameMemoryIsGone() {
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        Region old = create(memory);
        for (int i = 6; i < 20; i++) {
            old.begin(i);
            old.commit(i);
        }
        var _ = create(memory);
        assertEquals(5, reopen(RegionMode.DAX, memory.contents()).absorbedThrough());
    }

    /** R5 in file mode: pages become durable in any order, and each mixture is refused. */
    @Test
    void aMixtureOfPagesIsRefused() {
        SplittableRandom random = new SplittableRandom(Seeds.of("RegionTest#pages"));
        SimMemory memory = SimMemory.create(RegionMode.FILE, BYTES_MAX);
        Region region = create(memory);
        region.close();
        Region open = Region.open(memory, SPEC, epochs, 5);
        open.begin(6);
        for (int i = 0; i < 6; i++) {
            long page = open.pages().allocate(512);
            for (int at = 0; at < 512; at += 8) {
                memory.putLong(page + at, 100 + i);
            }
            open.dirty().add(page, 512);
            // several of 4 KiB
            for (int skipped = 0; skipped < 9; skipped++) {
                var _ = open.pages().allocate(512);
            }
        }
        open.commit(6);
        byte[] whole = memory.contents();
        int[] accepted = new int[2];
        int[] refused = new int[1];
        int shown = memory.eachImage(5_000, random, image -> {
            try {
                Region found = reopen(RegionMode.FILE, image);
                accepted[found.absorbedThrough() == 6 ? 1 : 0]++;
                if (found.absorbedThrough() == 6) {
                    // but for the header's other slot
                    for (int i = 2 * RegionHeader.SLOT_STRIDE; i < image.length; i++) {
                        assertEquals(whole[i], image[i]);
                    }
                }
            } catch (CorruptionException e) {
                refused[0]++;
            }
        });
        assertTrue(shown >= 64, "pages that make " + shown + " images");
        assertEquals(shown, accepted[0] + accepted[1] + refused[0]);
        // the new state with either of the other slot's states; the old one, where nothing moved
        assertTrue(accepted[1] >= 1 && accepted[1] <= 2, "accepted: " + accepted[1]);
        assertTrue(accepted[0] <= 1, "old states accepted: " + accepted[0]);
    }

    @Test
    void aCutAbsorptionOfAFileIsRefused() {
        SimMemory memory = SimMemory.create(RegionMode.FILE, BYTES_MAX);
        Region region = create(memory);
        assertEquals(5, reopen(RegionMode.FILE, memory.contents()).absorbedThrough());
        region.begin(6);
        assertThrows(CorruptionException.class, () -> reopen(RegionMode.FILE, memory.contents()));
    }

    @Test
    void aPageIsUsedAgainWhenItsReadersAreGone() {
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        Pages pages = create(memory).pages();
        EpochSession reader = epochs.open("reader");
        reader.protect();
        long page = pages.allocate(512);
        pages.retire(page);
        assertThrows(IllegalStateException.class, () -> pages.retire(page));
        assertNotEquals(page, pages.allocate(512), "before its release");
        pages.release();
        assertNotEquals(page, pages.allocate(512), "before its reader is gone");
        reader.close();
        assertEquals(page, pages.allocate(512));
    }

    @Test
    void whatIsNotClaimedIsFree() {
        SimMemory memory = SimMemory.create(RegionMode.DAX, BYTES_MAX);
        Region region = create(memory);
        long used = region.pages().allocate(512);
        long lost = region.pages().allocate(512);
        Pages found = reopen(RegionMode.DAX, memory.contents()).pages();
        assertTrue(found.claim(region.treeRoot(), 1_280));
        assertTrue(found.claim(used, 512));
        assertFalse(found.claim(used, 512), "twice");
        assertFalse(found.claim(used + 256, 512), "in the middle");
        assertFalse(found.claim(0, 512), "the header");
        assertFalse(found.claim(memory.byteSize(), 512), "behind the end");
        assertFalse(found.claim(region.treeRoot() + 1_280, 512), "among others");
        found.freeTheRest();
        assertEquals(2, found.inUseCount());
        assertEquals(lost, found.allocate(512));
    }

    @Test
    void aFullRegionSaysSo() {
        RegionSpec small = new RegionSpec(7, 3, 512, Region.BYTES_MIN);
        Region region = Region.create(SimMemory.create(RegionMode.DAX, BYTES_MAX), small, epochs);
        StorageIoException full = assertThrows(StorageIoException.class, () -> {
            for (int i = 0; i < 1_000; i++) {
                var _ = region.pages().allocate(512);
            }
        });
        assertEquals(StorageIoException.Kind.NO_SPACE, full.kind());
        Region refused = Region.create(SimMemory.create(RegionMode.DAX, 1 << 16), SPEC, epochs);
        assertThrows(StorageIoException.class, () -> refused.pages().allocate(512));
    }

    @Test
    void badSizesAreRefused() {
        assertThrows(InvalidRequestException.class, () -> new RegionSpec(1, 1, 500, BYTES_MAX));
        assertThrows(InvalidRequestException.class, () -> new RegionSpec(1, 1, 0, BYTES_MAX));
        assertThrows(InvalidRequestException.class, () -> new RegionSpec(1, 1, 65_536, BYTES_MAX));
        assertThrows(InvalidRequestException.class, () -> new RegionSpec(1, 1, 512, 1_000));
    }

    @Test
    void aCheckedWordFindsEachFlippedBit() {
        for (long payload : new long[] {0, 1, 12_345_678, CheckedWord.PAYLOAD_MAX}) {
            long word = CheckedWord.of(payload, 99);
            assertTrue(CheckedWord.isSound(word, 99));
            assertEquals(payload, CheckedWord.payload(word));
            assertFalse(CheckedWord.isSound(word, 98));
            for (int bit = 0; bit < 64; bit++) {
                assertFalse(CheckedWord.isSound(word ^ 1L << bit, 99), "bit " + bit);
            }
        }
        assertFalse(CheckedWord.isSound(0, 99), "memory that nobody wrote");
    }
}
