package io.turbidite.core.sort;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;

import java.lang.foreign.MemorySegment;

/**
 * An entry in memory and in run files (little-endian).
 *
 * <pre>
 * offset bytes field
 *      0     4 keyBytes
 *      4     4 payloadBytes
 *      8     8 number         orders entries with the same key
 *     16     n key
 * 16 + n     m payload
 * </pre>
 */
final class EntryFormat {
    static final int KEY_BYTES_OFFSET = 0;
    static final int PAYLOAD_BYTES_OFFSET = KEY_BYTES_OFFSET + 4;
    static final int NUMBER_OFFSET = PAYLOAD_BYTES_OFFSET + 4;
    static final int KEY_OFFSET = NUMBER_OFFSET + 8;

    private EntryFormat() {}

    static long bytes(Slice key, Slice payload) {
        return (long) KEY_OFFSET + key.length() + payload.length();
    }

    static void write(Slice key, long number, Slice payload, MemorySegment target, long at) {
        target.set(Bytes.I32, at + KEY_BYTES_OFFSET, key.length());
        target.set(Bytes.I32, at + PAYLOAD_BYTES_OFFSET, payload.length());
        target.set(Bytes.I64, at + NUMBER_OFFSET, number);
        long keyAt = at + KEY_OFFSET;
        MemorySegment.copy(key.segment(), key.offset(), target, keyAt, key.length());
        long payloadAt = keyAt + key.length();
        MemorySegment.copy(
                payload.segment(), payload.offset(), target, payloadAt, payload.length());
    }

    static int keyBytes(MemorySegment source, long at) {
        return source.get(Bytes.I32, at + KEY_BYTES_OFFSET);
    }

    static int payloadBytes(MemorySegment source, long at) {
        return source.get(Bytes.I32, at + PAYLOAD_BYTES_OFFSET);
    }

    static long number(MemorySegment source, long at) {
        return source.get(Bytes.I64, at + NUMBER_OFFSET);
    }

    static Slice key(MemorySegment source, long at, Slice slice) {
        return slice.set(source, at + KEY_OFFSET, keyBytes(source, at));
    }

    static Slice payload(MemorySegment source, long at, Slice slice) {
        long payloadAt = at + KEY_OFFSET + keyBytes(source, at);
        return slice.set(source, payloadAt, payloadBytes(source, at));
    }

    /** How many first bytes two keys have in common, as far as {@code bytesMax}. */
    static int sharedBytes(Slice a, Slice b, int bytesMax) {
        int limit = Math.min(bytesMax, Math.min(a.length(), b.length()));
        int shared = 0;
        while (shared < limit
                && a.segment().get(Bytes.U8, a.offset() + shared)
                        == b.segment().get(Bytes.U8, b.offset() + shared)) {
            shared++;
        }
        return shared;
    }
}
