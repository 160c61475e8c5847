package io.turbidite.hashlog.parse;

import io.turbidite.core.bytes.Bytes;

import java.lang.foreign.MemorySegment;

/** The same in plain Java, 32 bytes at a time. <em>Stateless.</em> */
final class WordLineEnds implements LineEnds {
    private static final long NEWLINES = 0x0A0A_0A0A_0A0A_0A0AL;
    private static final long LOW_BITS = 0x0101_0101_0101_0101L;
    private static final long HIGH_BITS = 0x8080_8080_8080_8080L;

    @Override
    public long end(MemorySegment segment, long from, long to) {
        long at = from;
        for (; at + 32 <= to; at += 32) {
            long a = newlines(segment.get(Bytes.I64, at));
            long b = newlines(segment.get(Bytes.I64, at + 8));
            long c = newlines(segment.get(Bytes.I64, at + 16));
            long d = newlines(segment.get(Bytes.I64, at + 24));
            if ((a | b | c | d) != 0) {
                break;
            }
        }
        for (; at + 8 <= to; at += 8) {
            long found = newlines(segment.get(Bytes.I64, at));
            if (found != 0) {
                return at + (Long.numberOfTrailingZeros(found) >>> 3);
            }
        }
        for (; at < to; at++) {
            if (segment.get(Bytes.U8, at) == '\n') {
                return at;
            }
        }
        return to;
    }

    /**
     * Marks newlines: the lowest set bit is in the first byte that is a newline; higher bits may be
     * wrong.
     */
    private static long newlines(long word) {
        long x = word ^ NEWLINES;
        return (x - LOW_BITS) & ~x & HIGH_BITS;
    }
}
