package io.turbidite.ops.sort;

/**
 * A sorted run on disk: blocks to the end of the file, each
 *
 * <pre>
 * offset  type  what
 * 0       u32   bytes of entries
 * 4       u32   masked CRC32C of them
 * 8       …     entries: u32 key bytes, u32 payload bytes, key, payload
 * </pre>
 *
 * <p>No envelope (D5): the file is deleted with the query that wrote it and never opened by another.
 * Blocks have checksums, so that a flipped bit is an error and not a wrong answer.
 */
final class RunFormat {
    static final int ENTRY_BYTES_OFFSET = 0;
    static final int CHECKSUM_OFFSET = ENTRY_BYTES_OFFSET + 4;
    static final int BLOCK_HEADER_BYTES = CHECKSUM_OFFSET + 4;

    /**
     * A block ends with the entry that reaches this. Each run of a merge has one in memory, so it is
     * smaller than sequential reading would like it.
     */
    static final int BLOCK_BYTES = 64 << 10;

    private RunFormat() {}
}
