package io.turbidite.lsm.strategy.bitmap;

/**
 * The file of a component's invalid entries, version 1 (little-endian): a header of the envelope,
 * one payload, the envelope's footer, whose checksum covers the payload.
 *
 * <pre>
 * payload
 * offset bytes field
 *      0     8 componentFileId  the component whose entries they are
 *      8     8 entryCount       of the component; no ordinal is at or above it
 *     16     8 deadCount        bits that are set, at least 1
 *     24     n bitmap           Roaring, in its portable format
 * </pre>
 *
 * <p>The file is replaced whole: a new bitmap is a new file with a number of its own.
 */
final class ValidityBitmapFormat {
    /** Name in the file header. */
    static final String FORMAT = "dead-entries";

    static final int VERSION = 1;

    static final int COMPONENT_FILE_ID_OFFSET = 0;
    static final int ENTRY_COUNT_OFFSET = COMPONENT_FILE_ID_OFFSET + 8;
    static final int INVALID_COUNT_OFFSET = ENTRY_COUNT_OFFSET + 8;
    static final int BITMAP_OFFSET = INVALID_COUNT_OFFSET + 8;

    /** 2^32 bits, and what Roaring puts beside them for 2^16 containers. */
    static final long BITMAP_BYTES_MAX = (1L << 29) + (1L << 20);

    private ValidityBitmapFormat() {}
}
