package io.turbidite.core.sort;

/**
 * The file of a sorted run, version 2 (little-endian): a header of the envelope, then blocks one
 * behind the other to the end of the file.
 *
 * <pre>
 * block
 * offset bytes field
 *      0     4 checksum       masked CRC32C of everything behind it, entries included
 *      4     4 number         of the block, from 0
 *      8     8 fileId         a block of another file is no block of this one
 *     16     4 payloadBytes   behind this header
 *     20     4 entryCount     at least 1
 *     24       entries        in order, as {@link EntryFormat} has them
 * </pre>
 *
 * <p>The file is temporary: it is never synced, means nothing after a crash, and is read by the
 * sort that wrote it alone. That knows how many bytes and blocks there are, so the file has no
 * footer.
 */
final class RunFormat {
    /** Name in the file header. */
    static final String FORMAT = "sort-run";

    static final int VERSION = 2;

    static final int CHECKSUM_OFFSET = 0;
    static final int NUMBER_OFFSET = CHECKSUM_OFFSET + 4;
    static final int FILE_ID_OFFSET = NUMBER_OFFSET + 4;
    static final int PAYLOAD_BYTES_OFFSET = FILE_ID_OFFSET + 8;
    static final int ENTRY_COUNT_OFFSET = PAYLOAD_BYTES_OFFSET + 4;
    static final int BLOCK_HEADER_BYTES = ENTRY_COUNT_OFFSET + 4;

    private RunFormat() {}
}
