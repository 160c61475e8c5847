package io.turbidite.ops.intersect;

import java.util.Arrays;

/**
 * Says of most primary keys that one index lacks that they need not be kept of the next: two bits
 * for each key in a table (a Bloom filter of 16 bits a key has 1.4 % of false answers with two).
 * <em>Confined to one thread.</em>
 */
final class CandidateBits {
    private static final int BITS_A_KEY = 16;
    private static final long WORDS_MIN = 64;

    private final long[] words;
    private final long mask;

    private CandidateBits(int wordCount) {
        this.words = new long[wordCount];
        this.mask = (long) wordCount * Long.SIZE - 1;
    }

    /**
     * An empty one.
     *
     * @param bytesMax most bytes that it takes, or a few hundred where that is less
     */
    static CandidateBits of(long expectedKeys, long bytesMax) {
        long wanted = Math.max(WORDS_MIN, expectedKeys * BITS_A_KEY / Long.SIZE);
        long words = Math.min(wanted, Math.max(WORDS_MIN, bytesMax / Long.BYTES));
        return new CandidateBits((int) Math.min(1 << 28, Long.highestOneBit(words)));
    }

    void clear() {
        Arrays.fill(words, 0);
    }

    void add(long hash) {
        long first = hash & mask;
        long second = (((hash >>> 32) * 0x9E3779B97F4A7C15L) >>> 20) & mask;
        words[(int) (first >>> 6)] |= 1L << first;
        words[(int) (second >>> 6)] |= 1L << second;
    }

    boolean mayContain(long hash) {
        long first = hash & mask;
        if ((words[(int) (first >>> 6)] & 1L << first) == 0) {
            return false;
        }
        long second = (((hash >>> 32) * 0x9E3779B97F4A7C15L) >>> 20) & mask;
        return (words[(int) (second >>> 6)] & 1L << second) != 0;
    }
}
