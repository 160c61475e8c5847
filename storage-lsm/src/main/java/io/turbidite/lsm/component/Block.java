package io.turbidite.lsm.component;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.format.Crc32c;

import java.lang.foreign.MemorySegment;

/**
 * The header of a block. Between its header and its table of contents a component file is blocks,
 * one behind the other without gaps.
 *
 * <pre>
 * offset bytes field
 *      0     4 checksum       masked CRC32C of everything behind it, payload included
 *      4     1 kind           1 record leaf, 2 key leaf, 3 record interior, 4 key interior, 5 Bloom,
 *                           6 boxes, 7 sample
 *      5     1 compression    0 none, 1 LZ4, 2 Zstandard
 *      6     2 zero
 *      8     4 payloadBytes   behind this header
 *     12     4 rawBytes       of the payload once decompressed
 *     16     4 number         of the page in its tree; 0 if there is only one
 *     20     4 zero
 *     24     8 fileId         a block of another file is no block of this one
 * </pre>
 */
final class Block {
    static final int CHECKSUM_OFFSET = 0;
    static final int KIND_OFFSET = CHECKSUM_OFFSET + 4;
    static final int COMPRESSION_OFFSET = KIND_OFFSET + 1;
    static final int ZERO_OFFSET = COMPRESSION_OFFSET + 1;
    static final int PAYLOAD_BYTES_OFFSET = ZERO_OFFSET + 2;
    static final int RAW_BYTES_OFFSET = PAYLOAD_BYTES_OFFSET + 4;
    static final int NUMBER_OFFSET = RAW_BYTES_OFFSET + 4;
    static final int MORE_ZERO_OFFSET = NUMBER_OFFSET + 4;
    static final int FILE_ID_OFFSET = MORE_ZERO_OFFSET + 4;
    static final int HEADER_BYTES = FILE_ID_OFFSET + 8;

    private Block() {}

    /** What a block holds. The codes are on disk. */
    enum Kind {
        RECORD_LEAF(1, "record leaf page"),
        KEY_LEAF(2, "key leaf page"),
        RECORD_INTERIOR(3, "record interior"),
        KEY_INTERIOR(4, "key interior"),
        BLOOM(5, "Bloom filter"),
        BOXES(6, "boxes"),
        SAMPLE(7, "sample");

        final int code;
        final String description;

        Kind(int code, String description) {
            this.code = code;
            this.description = description;
        }

        String name(int number) {
            return this == RECORD_LEAF || this == KEY_LEAF
                    ? description + " " + number
                    : description;
        }
    }

    /** Writes the header, all but the checksum. */
    static void writeHeader(MemorySegment target, long offset, Kind kind, int number, long fileId) {
        target.set(Bytes.I32, offset + CHECKSUM_OFFSET, 0);
        target.set(Bytes.U8, offset + KIND_OFFSET, (byte) kind.code);
        target.set(Bytes.U8, offset + COMPRESSION_OFFSET, (byte) 0);
        target.set(Bytes.I16, offset + ZERO_OFFSET, (short) 0);
        target.set(Bytes.I32, offset + NUMBER_OFFSET, number);
        target.set(Bytes.I32, offset + MORE_ZERO_OFFSET, 0);
        target.set(Bytes.I64, offset + FILE_ID_OFFSET, fileId);
    }

    static void writeLengths(
            MemorySegment target,
            long offset,
            Compression compression,
            int payloadBytes,
            int rawBytes) {
        target.set(Bytes.U8, offset + COMPRESSION_OFFSET, (byte) compression.code());
        target.set(Bytes.I32, offset + PAYLOAD_BYTES_OFFSET, payloadBytes);
        target.set(Bytes.I32, offset + RAW_BYTES_OFFSET, rawBytes);
    }

    /**
     * Checks that the block at {@code offset} of {@code source} is the expected one and whole.
     *
     * @return its compression
     * @throws CorruptionException otherwise
     */
    static Compression check(
            MemorySegment source, long offset, Expected expected, int blockBytes, Crc32c crc) {
        int stored = source.get(Bytes.I32, offset + CHECKSUM_OFFSET);
        int computed = crc.compute(source, offset + KIND_OFFSET, blockBytes - (long) KIND_OFFSET);
        if (stored != computed) {
            throw expected.damaged(CHECKSUM_OFFSET, "checksum", hex(computed), hex(stored));
        }
        int kind = source.get(Bytes.U8, offset + KIND_OFFSET);
        if (kind != expected.kind.code) {
            throw expected.damaged(KIND_OFFSET, "kind", hex(expected.kind.code), hex(kind));
        }
        int number = source.get(Bytes.I32, offset + NUMBER_OFFSET);
        if (number != expected.number) {
            throw expected.damaged(NUMBER_OFFSET, "number", hex(expected.number), hex(number));
        }
        long fileId = source.get(Bytes.I64, offset + FILE_ID_OFFSET);
        if (fileId != expected.fileId) {
            throw expected.damaged(
                    FILE_ID_OFFSET,
                    "file id",
                    Long.toString(expected.fileId),
                    Long.toString(fileId));
        }
        int payloadBytes = source.get(Bytes.I32, offset + PAYLOAD_BYTES_OFFSET);
        if (payloadBytes != blockBytes - HEADER_BYTES) {
            throw expected.damaged(
                    PAYLOAD_BYTES_OFFSET,
                    "length",
                    Integer.toString(blockBytes - HEADER_BYTES),
                    Integer.toString(payloadBytes));
        }
        if (source.get(Bytes.I16, offset + ZERO_OFFSET) != 0
                || source.get(Bytes.I32, offset + MORE_ZERO_OFFSET) != 0) {
            throw expected.damaged(ZERO_OFFSET, "padding", "0", "something else");
        }
        int code = source.get(Bytes.U8, offset + COMPRESSION_OFFSET);
        Compression compression = Compression.ofCode(code);
        if (compression == null) {
            throw expected.damaged(COMPRESSION_OFFSET, "compression", "0 to 2", hex(code));
        }
        return compression;
    }

    private static String hex(int value) {
        return "0x" + Integer.toHexString(value);
    }

    /** Which block is meant, and where it lies. */
    record Expected(String file, long fileOffset, Kind kind, int number, long fileId) {
        CorruptionException damaged(long at, String what, String expected, String found) {
            return new CorruptionException(
                    file, fileOffset + at, kind.name(number) + " " + what, expected, found);
        }

        CorruptionException malformed(String problem) {
            return new CorruptionException(
                    file, fileOffset, kind.name(number), "well-formed", problem);
        }
    }
}
