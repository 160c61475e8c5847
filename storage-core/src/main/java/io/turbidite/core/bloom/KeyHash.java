package io.turbidite.core.bloom;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.bytes.Xxh3;

import java.lang.foreign.MemorySegment;

/**
 * The hash of keys: XXH3 with 64 bits and no seed, of a longer key's bytes, and of the two words of
 * one of up to sixteen bytes, which most are. Bytes are a long way through the library, as long as
 * a search in a filter (4 to 7 % of a merge); of two words there are but a few instructions, and
 * who has the words need not put the bytes together.
 *
 * <p>The words are filled up with zeros, and the second one has the length in its last byte, so
 * that a key and the same with a zero behind it differ. Part of the format of filters, and of which
 * partition a key belongs to.
 */
final class KeyHash {
    private static final int WORDS_BYTES_MAX = 2 * Long.BYTES;

    private KeyHash() {}

    static long of(Slice key) {
        int length = key.length();
        MemorySegment segment = key.segment();
        long offset = key.offset();
        if (length > WORDS_BYTES_MAX) {
            return Xxh3.hash(segment, offset, length);
        }
        long prefix = Bytes.prefix(segment, offset, length);
        long second = length <= Long.BYTES
                ? 0
                : Bytes.prefix(segment, offset + Long.BYTES, length - Long.BYTES);
        return of(prefix, second, length);
    }

    /**
     * Of a key of sixteen bytes at most: its first eight as {@link Bytes#prefix}, and the next
     * eight.
     */
    static long of(long prefix, long second, int length) {
        return Xxh3.hash(prefix, second ^ length);
    }
}
