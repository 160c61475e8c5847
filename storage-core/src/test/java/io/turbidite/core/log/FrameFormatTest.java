package io.turbidite.core.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.format.Crc32c;
import io.turbidite.core.log.FrameFormat.FrameHead;

import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.util.HexFormat;

/** The frame's descriptor: its table, and what makes a frame invalid. */
class FrameFormatTest {
    private final Crc32c crc = new Crc32c();
    private final MemorySegment bytes = MemorySegment.ofArray(new byte[256]);
    private final FrameHead head = new FrameHead();

    @Test
    void theOffsetsAreThoseOfTheTable() {
        assertEquals(0, FrameFormat.CHECKSUM_OFFSET);
        assertEquals(4, FrameFormat.LENGTH_OFFSET);
        assertEquals(8, FrameFormat.SEQUENCE_OFFSET);
        assertEquals(16, FrameFormat.DURABLE_OFFSET);
        assertEquals(24, FrameFormat.SESSION_OFFSET);
        assertEquals(28, FrameFormat.KIND_OFFSET);
        assertEquals(29, FrameFormat.HEAD_CHECK_OFFSET);
        assertEquals(32, FrameFormat.HEADER_BYTES);
        assertEquals(32, FrameFormat.frameBytes(0));
        assertEquals(40, FrameFormat.frameBytes(1));
        assertEquals(40, FrameFormat.frameBytes(8));
    }

    @Test
    void aFrameHasTheBytesItAlwaysHad() {
        int frameBytes = seal(0, 5, FrameFormat.place(1, 2, 64));
        byte[] frame = bytes.asSlice(0, frameBytes).toArray(Bytes.U8);
        assertEquals(
                "0f536bba05000000e80300000000000084030000000000000400000001"
                        + "37edfd6162636465000000",
                HexFormat.of().formatHex(frame));
    }

    @Test
    void everyFlippedBitIsNoticed() {
        long place = FrameFormat.place(7, 3, 128);
        int frameBytes = seal(8, 21, place);
        assertTrue(valid(8, place));
        for (int bit = 0; bit < frameBytes * 8; bit++) {
            long at = 8L + bit / 8;
            byte sound = bytes.get(Bytes.U8, at);
            bytes.set(Bytes.U8, at, (byte) (sound ^ (1 << (bit % 8))));
            assertFalse(valid(8, place), "bit " + bit);
            bytes.set(Bytes.U8, at, sound);
        }
    }

    @Test
    void aFrameIsValidOnlyWhereItWasWritten() {
        int frameBytes = seal(0, 16, FrameFormat.place(7, 3, 128));
        assertEquals(48, frameBytes);
        assertTrue(valid(0, FrameFormat.place(7, 3, 128)));
        assertFalse(valid(0, FrameFormat.place(7, 3, 136)));
        assertFalse(valid(0, FrameFormat.place(7, 4, 128)));
        assertFalse(valid(0, FrameFormat.place(8, 3, 128)));
    }

    @Test
    void zerosAreNoFrame() {
        for (long offset = 64; offset < 4096; offset += 8) {
            assertFalse(FrameFormat.readHead(bytes, 0, head, FrameFormat.place(1, 1, offset)));
        }
    }

    private int seal(long at, int length, long place) {
        head.kind = FrameFormat.KIND_RECORD;
        head.length = length;
        head.sequence = 1_000;
        head.durable = 900;
        head.session = 4;
        for (int i = 0; i < length; i++) {
            bytes.set(Bytes.U8, at + FrameFormat.HEADER_BYTES + i, (byte) ('a' + i));
        }
        return FrameFormat.seal(bytes, at, head, place, crc);
    }

    private boolean valid(long at, long place) {
        FrameHead read = new FrameHead();
        return FrameFormat.readHead(bytes, at, read, place)
                && at + FrameFormat.frameBytes(read.length) <= bytes.byteSize()
                && FrameFormat.checksumMatches(bytes, at, read, place, crc);
    }
}
