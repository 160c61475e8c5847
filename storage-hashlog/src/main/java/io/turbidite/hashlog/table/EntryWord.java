package io.turbidite.hashlog.table;

/**
 * A slot of a bucket as a 64-bit word. <em>Stateless.</em>
 *
 * <pre>
 * bit bits field
 *   0   48 address    of the newest key pointer of the chain; 0 with the rest: the slot is free
 *  48   14 tag        the upper 14 bits of the hash
 *  62    1 zero
 *  63    1 frozen     the bucket has moved to a larger table; the rest is its last content
 * </pre>
 *
 * <p>The last slot of a bucket is its overflow word: the index of the next bucket in bits 0 to 31
 * (0 is none), {@link #FOLDED} and frozen.
 */
final class EntryWord {
    static final int ADDRESS_BITS = 48;
    static final int TAG_BITS = 14;
    static final long ADDRESS_MASK = (1L << ADDRESS_BITS) - 1;
    static final long TAG_MASK = ((1L << TAG_BITS) - 1) << ADDRESS_BITS;
    static final long ZERO_MASK = 1L << 62;
    static final long FROZEN = 1L << 63;

    /**
     * In an overflow word: no more entries in this bucket; further tags share the chain of slot 0.
     */
    static final long FOLDED = 1L << 32;

    static final long OVERFLOW_MASK = FOLDED - 1;

    private EntryWord() {}

    /** The tag bits of a hash, in place. */
    static long tagOf(long hash) {
        return hash >>> (64 - TAG_BITS) << ADDRESS_BITS;
    }

    static long address(long word) {
        return word & ADDRESS_MASK;
    }

    static boolean isFrozen(long word) {
        return word < 0;
    }

    /** Whether the slot is an entry of this tag. */
    static boolean hasTag(long word, long tag) {
        return (word & TAG_MASK) == tag && (word & ~FROZEN) != 0;
    }
}
