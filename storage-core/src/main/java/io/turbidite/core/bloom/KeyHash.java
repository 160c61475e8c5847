package io.turbidite.core.bloom;

import com.dynatrace.hash4j.hashing.ByteAccess;
import com.dynatrace.hash4j.hashing.Hasher64;
import com.dynatrace.hash4j.hashing.Hashing;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;

import java.lang.foreign.MemorySegment;

/**
 * XXH3 with 64 bits and no seed, of keys. Those of four to sixteen bytes, which most are, are hashed here, from
 * their first bytes and their last: the library's way to them is as long as a search in a filter. For all others
 * it is asked.
 *
 * <p>Source: the xxHash specification, XXH3, "Small inputs", with words of its default secret.
 */
final class KeyHash {
    private static final Hasher64 HASHER = Hashing.xxh3_64();
    private static final ByteAccess<MemorySegment> ACCESS =
            ByteAccess.forMemorySegment(MemorySegment.class);

    private static final int BYTES_MIN = 4;
    private static final int BYTES_MAX = 2 * Long.BYTES;

    /** For up to eight bytes: the secret at 8 and 16. */
    private static final long FLIP = 0x1cad21f72c81017cL ^ 0xdb979083e96dd4deL;

    /** For more: the secret at 24 and 32, and at 40 and 48. */
    private static final long FLIP_LOW = 0x1f67b3b7a4a44072L ^ 0x78e5c0cc4ee679cbL;

    private static final long FLIP_HIGH = 0x2172ffcc7dd05a82L ^ 0x8e2443f7744608b8L;

    private static final long MIX_1 = 0x165667919E3779F9L;
    private static final long MIX_2 = 0x9FB21C651E98DF25L;

    private KeyHash() {}

    static long of(Slice key) {
        int length = key.length();
        MemorySegment segment = key.segment();
        long offset = key.offset();
        if (length < BYTES_MIN || length > BYTES_MAX) {
            return HASHER.hashBytesToLong(segment, offset, length, ACCESS);
        }
        if (length <= Long.BYTES) {
            int first = segment.get(Bytes.I32, offset);
            int last = segment.get(Bytes.I32, offset + length - Integer.BYTES);
            return ofUpToEight(first, last, length);
        }
        long first = segment.get(Bytes.I64, offset);
        long last = segment.get(Bytes.I64, offset + length - Long.BYTES);
        return ofUpToSixteen(first, last, length);
    }

    /** Of a key of sixteen bytes at most: its first eight as {@link Bytes#prefix}, and the next eight. */
    static long of(long prefix, long second, int length) {
        if (length < BYTES_MIN) {
            byte[] bytes = new byte[Long.BYTES];
            MemorySegment.ofArray(bytes).set(Bytes.I64_BE, 0, prefix);
            return HASHER.hashBytesToLong(bytes, 0, length);
        }
        if (length <= Long.BYTES) {
            int first = (int) (prefix >>> Integer.SIZE);
            int last = (int) (prefix >>> (Byte.SIZE * (Long.BYTES - length)));
            return ofUpToEight(Integer.reverseBytes(first), Integer.reverseBytes(last), length);
        }
        // the last eight bytes begin in the first word, unless the key has all sixteen
        int shift = Byte.SIZE * (BYTES_MAX - length);
        long last = shift == 0 ? second : (second >>> shift) | (prefix << (Long.SIZE - shift));
        return ofUpToSixteen(Long.reverseBytes(prefix), Long.reverseBytes(last), length);
    }

    /** By the first four bytes and the last four, which may overlap, little-endian. */
    private static long ofUpToEight(int first, int last, int length) {
        long hash = (Integer.toUnsignedLong(last) + ((long) first << Integer.SIZE)) ^ FLIP;
        hash ^= Long.rotateLeft(hash, 49) ^ Long.rotateLeft(hash, 24);
        hash *= MIX_2;
        hash ^= (hash >>> 35) + length;
        hash *= MIX_2;
        return hash ^ (hash >>> 28);
    }

    /** By the first eight bytes and the last eight, likewise. */
    private static long ofUpToSixteen(long first, long last, int length) {
        long low = first ^ FLIP_LOW;
        long high = last ^ FLIP_HIGH;
        long folded = (low * high) ^ Math.unsignedMultiplyHigh(low, high);
        long hash = length + Long.reverseBytes(low) + high + folded;
        hash = (hash ^ (hash >>> 37)) * MIX_1;
        return hash ^ (hash >>> 32);
    }
}
