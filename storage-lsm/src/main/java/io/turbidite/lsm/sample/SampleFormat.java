package io.turbidite.lsm.sample;

/**
 * The sample of a primary's component, the payload of one of its blocks, whose checksum it has.
 *
 * <pre>
 * bytes field
 *     8 bound        all keys are in here whose mixed hash is not above it, unsigned
 *     4 count        entries, at least 1
 *     4 zero
 *       entries      in the order of their keys:
 *     1   flags      1: anti-matter; 2: a record that is too long for a sample; else 0
 *     1   zero
 *     2   keyBytes
 *     4   valueBytes 0 with a flag
 *         key, value
 * </pre>
 */
final class SampleFormat {
    static final int BOUND_OFFSET = 0;
    static final int COUNT_OFFSET = BOUND_OFFSET + 8;
    static final int ZERO_OFFSET = COUNT_OFFSET + 4;
    static final int HEAD_BYTES = ZERO_OFFSET + 4;

    static final int FLAGS_OFFSET = 0;
    static final int ENTRY_ZERO_OFFSET = FLAGS_OFFSET + 1;
    static final int KEY_BYTES_OFFSET = ENTRY_ZERO_OFFSET + 1;
    static final int VALUE_BYTES_OFFSET = KEY_BYTES_OFFSET + 2;
    static final int ENTRY_HEAD_BYTES = VALUE_BYTES_OFFSET + 4;

    static final int ANTIMATTER = 1;
    static final int TOO_LONG = 2;

    /**
     * Records that are longer are not kept: one of a megabyte would be all of a sample. Their share
     * is known, what is in them is not.
     */
    static final int VALUE_BYTES_MAX = 4 << 10;

    /** Bits of a hash that decide about partitions and Bloom filters shall not decide here too. */
    private static final long MIXER = 0x9E37_79B9_7F4A_7C15L;

    private SampleFormat() {}

    /** The hash that is compared with a sample's bound. */
    static long mixed(long keyHash) {
        return keyHash * MIXER;
    }

    /** Whether a key of this mixed hash is in a sample with this bound. */
    static boolean isIn(long mixed, long bound) {
        return Long.compareUnsigned(mixed, bound) <= 0;
    }
}
