package io.turbidite.lsm.component;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;

import java.lang.foreign.MemorySegment;

/**
 * Reads fields one after another out of a checked block. Whatever lies outside the bounds that the
 * format sets is a {@link CorruptionException} with its place in the file. <em>Confined to one
 * thread.</em>
 */
final class MetaReader {
    private final String file;
    private final long fileOffset;
    private final MemorySegment source;
    private long at;

    /** Reads {@code source}, which lies at {@code fileOffset} of the file. */
    MetaReader(String file, long fileOffset, MemorySegment source) {
        this.file = file;
        this.fileOffset = fileOffset;
        this.source = source;
    }

    int u8(String what) {
        return source.get(Bytes.U8, advance(1, what)) & 0xFF;
    }

    int u16(String what) {
        return source.get(Bytes.I16, advance(2, what)) & 0xFFFF;
    }

    /** A byte that is 0 or 1. */
    boolean flag(String what) {
        int value = u8(what);
        require(value <= 1, what, "0 or 1", value);
        return value == 1;
    }

    int i32(String what) {
        return source.get(Bytes.I32, advance(4, what));
    }

    long i64(String what) {
        return source.get(Bytes.I64, advance(8, what));
    }

    /** A number of 64 bits that is never negative. */
    long longCount(String what) {
        long value = i64(what);
        require(value >= 0, what, "0 or more", value);
        return value;
    }

    /** Length u16 and as many bytes; a copy. */
    Slice shortBytes(String what) {
        int length = u16(what);
        byte[] bytes = new byte[length];
        MemorySegment.copy(source, Bytes.U8, advance(length, what), bytes, 0, length);
        return Slice.of(bytes);
    }

    /** Requires that everything has been read. */
    void end(String what) {
        require(at == source.byteSize(), what, at + " bytes", source.byteSize());
    }

    void expect(String what, long expected, long found) {
        require(expected == found, what, Long.toString(expected), found);
    }

    void require(boolean condition, String what, String expected, long found) {
        if (!condition) {
            throw wrong(what, expected, found);
        }
    }

    CorruptionException wrong(String what, String expected, long found) {
        return new CorruptionException(file, fileOffset + at, what, expected, Long.toString(found));
    }

    private long advance(int byteCount, String what) {
        if (byteCount > source.byteSize() - at) {
            throw new CorruptionException(
                    file,
                    fileOffset + at,
                    what,
                    byteCount + " bytes",
                    (source.byteSize() - at) + " bytes");
        }
        long start = at;
        at += byteCount;
        return start;
    }
}
