package io.turbidite.lsm.sort;

import io.turbidite.core.Limits;

/**
 * The file of a sorted run, version 1 (little-endian): a header of the envelope, blocks one behind the other,
 * a payload with the counts, the envelope's footer.
 *
 * <pre>
 * block
 * offset bytes field
 *      0     4 checksum       masked CRC32C of everything behind it, entries included
 *      4     4 number         of the block, from 0
 *      8     8 fileId         a block of another file is no block of this one
 *     16     4 payloadBytes   behind this header
 *     20     4 entryCount     at least 1
 *
 * entry, in order (key ascending, timestamp descending)
 * offset bytes field
 *      0     4 keyBytes
 *      4     4 valueBytes
 *      8     8 version        timestamp * 2, plus 1 for anti-matter
 *     16     n key
 * 16 + n     m value
 *
 * payload of the footer
 * offset bytes field
 *      0     8 entryCount     of all blocks
 *      8     4 blockCount
 *     12     4 zero
 * </pre>
 *
 * <p>A block fits a chunk of the site, unless it holds one entry that doesn't. The file is never synced: it
 * means nothing after a crash.
 */
final class RunFormat {
    /** Name in the file header. */
    static final String FORMAT = "sort-run";

    static final int VERSION = 1;

    static final int CHECKSUM_OFFSET = 0;
    static final int NUMBER_OFFSET = CHECKSUM_OFFSET + 4;
    static final int FILE_ID_OFFSET = NUMBER_OFFSET + 4;
    static final int PAYLOAD_BYTES_OFFSET = FILE_ID_OFFSET + 8;
    static final int ENTRY_COUNT_OFFSET = PAYLOAD_BYTES_OFFSET + 4;
    static final int BLOCK_HEADER_BYTES = ENTRY_COUNT_OFFSET + 4;

    static final int KEY_BYTES_OFFSET = 0;
    static final int VALUE_BYTES_OFFSET = KEY_BYTES_OFFSET + 4;
    static final int VERSION_OFFSET = VALUE_BYTES_OFFSET + 4;
    static final int KEY_OFFSET = VERSION_OFFSET + 8;

    /** The longest key that can be sorted. */
    static final int KEY_BYTES_MAX = (1 << 14) - 1;

    static final int TOTAL_ENTRIES_OFFSET = 0;
    static final int TOTAL_BLOCKS_OFFSET = TOTAL_ENTRIES_OFFSET + 8;
    static final int TOTAL_ZERO_OFFSET = TOTAL_BLOCKS_OFFSET + 4;
    static final int TOTAL_BYTES = TOTAL_ZERO_OFFSET + 4;

    /** The longest block that is believed: one entry with the largest key and value, or a chunk. */
    static final int PAYLOAD_BYTES_MAX =
            Math.max(64 << 20, KEY_OFFSET + KEY_BYTES_MAX + Limits.RECORD_BYTES_MAX);

    private RunFormat() {}
}
