package io.turbidite.hashlog.parse;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * One record on the heap, copied as far as it is read: it has to come into the cache anyway, and a
 * byte of an array costs a fraction of one of a segment, whose owner and state are asked about
 * every time. <em>Confined to one thread.</em>
 */
final class RecordBytes {
    private static final int STEP_BYTES = 1024;

    private MemorySegment segment = MemorySegment.NULL;
    private long base;
    private int length;
    private int copied;
    /** Whole blocks of 64 bytes. */
    private byte[] bytes = new byte[STEP_BYTES];

    /** Turns to the record of {@code recordBytes} at {@code offset}; nothing is read yet. */
    void start(MemorySegment newSegment, long offset, int recordBytes) {
        segment = newSegment;
        base = offset;
        length = recordBytes;
        copied = 0;
        if (bytes.length < recordBytes) {
            // room to grow; half a gibibyte is far above the largest page of a log
            int room = Math.min(2 * bytes.length, 1 << 29);
            bytes = new byte[Math.max((recordBytes + 63) & -64, room)];
        }
    }

    int length() {
        return length;
    }

    /** The record from index 0 on, as far as it was asked for; the same until the next start. */
    byte[] array() {
        return bytes;
    }

    /**
     * The array with the bytes before {@code end}; what it holds after the end of the record is
     * anything.
     */
    byte[] copiedTo(int end) {
        int until = Math.min(length, end);
        if (until > copied) {
            MemorySegment.copy(
                    segment, ValueLayout.JAVA_BYTE, base + copied, bytes, copied, until - copied);
            copied = until;
        }
        return bytes;
    }

    /** The byte at {@code position}, as 0..255; -1 after the end of the record. */
    int at(int position) {
        return position < copied ? bytes[position] & 0xFF : later(position);
    }

    private int later(int position) {
        if (position >= length) {
            return -1;
        }
        return copiedTo(position + STEP_BYTES)[position] & 0xFF;
    }

    /** The eight bytes at {@code position}; zeros after the end of the record. */
    long wordAt(int position) {
        if (position + 8 <= copied) {
            return MachineWords.at(bytes, position);
        }
        long word = 0;
        for (int i = 0; i < 8 && position + i < length; i++) {
            word |= (long) at(position + i) << (8 * i);
        }
        return word;
    }
}
