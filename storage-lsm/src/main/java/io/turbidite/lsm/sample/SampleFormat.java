package io.turbidite.lsm.sample;

/**
 * The sample of a primary's component, the payload of one of its blocks, whose checksum it has.
 *
 * <pre>
 * bytes field
 *     1 shift        keys are in here whose mixed hash has so many zeros in front, 0 to 63
 *     3 zero
 *     4 count        entries, at least 1
 *       entries      in the order of their keys:
 *     1   flags      1: anti-matter; 2: a record that is too long for a sample; else 0
 *     1   zero
 *     2   keyBytes
 *     4   valueBytes 0 with a flag
 *         key, value
 * </pre>
 */
final class SampleFormat {
    static final int SHIFT_OFFSET = 0;
    static final int ZERO_OFFSET = SHIFT_OFFSET + 1;
    static final int COUNT_OFFSET = ZERO_OFFSET + 3;
    static final int HEAD_BYTES = COUNT_OFFSET + 4;

    static final int FLAGS_OFFSET = 0;
    static final int ENTRY_ZERO_OFFSET = FLAGS_OFFSET + 1;
    static final int KEY_BYTES_OFFSET = ENTRY_ZERO_OFFSET + 1;
    static final int VALUE_BYTES_OFFSET = KEY_BYTES_OFFSET + 2;
    static final int ENTRY_HEAD_BYTES = VALUE_BYTES_OFFSET + 4;

    static final int ANTIMATTER = 1;
    static final int TOO_LONG = 2;

    static final int SHIFT_MAX = 63;

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

    /** Whether a key of this mixed hash is in a sample with this shift. */
    static boolean isIn(long mixed, int shift) {
        return mixed >>> 1 >>> (SHIFT_MAX - shift) == 0;
    }
}
