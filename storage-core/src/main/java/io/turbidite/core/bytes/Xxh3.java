package io.turbidite.core.bytes;

import com.dynatrace.hash4j.hashing.ByteAccess;
import com.dynatrace.hash4j.hashing.Hasher64;
import com.dynatrace.hash4j.hashing.Hashing;

import java.lang.foreign.MemorySegment;

/**
 * XXH3 with 64 bits and no seed: the one hash of bytes that formats on disk depend on.
 * <em>Thread-safe: stateless.</em>
 */
public final class Xxh3 {
    private static final Hasher64 HASHER = Hashing.xxh3_64();
    private static final ByteAccess<MemorySegment> ACCESS = new SegmentAccess();

    private Xxh3() {}

    /** The hash of {@code length} bytes of {@code segment}. */
    public static long hash(MemorySegment segment, long offset, long length) {
        return HASHER.hashBytesToLong(segment, offset, length, ACCESS);
    }

    /** The same of bytes on the heap. */
    public static long hash(byte[] bytes, int offset, int length) {
        return HASHER.hashBytesToLong(bytes, offset, length);
    }

    /** The hash of sixteen bytes, given as two words. */
    public static long hash(long first, long second) {
        return HASHER.hashLongLongToLong(first, second);
    }

    /**
     * How the library reads a segment. Its own way lies in a class for newer releases of Java,
     * which a jar that several were poured into no longer offers: there it throws.
     */
    private static final class SegmentAccess implements ByteAccess<MemorySegment> {
        @Override
        public byte getByte(MemorySegment data, long offset) {
            return data.get(Bytes.U8, offset);
        }

        @Override
        public int getInt(MemorySegment data, long offset) {
            return data.get(Bytes.I32, offset);
        }

        @Override
        public long getIntAsUnsignedLong(MemorySegment data, long offset) {
            return data.get(Bytes.I32, offset) & 0xFFFF_FFFFL;
        }

        @Override
        public long getLong(MemorySegment data, long offset) {
            return data.get(Bytes.I64, offset);
        }

        @Override
        public void copyToByteArray(
                MemorySegment data, long offset, byte[] target, int targetOffset, int byteCount) {
            MemorySegment.copy(data, Bytes.U8, offset, target, targetOffset, byteCount);
        }
    }
}
