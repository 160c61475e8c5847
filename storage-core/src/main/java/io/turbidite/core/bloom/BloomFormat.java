package io.turbidite.core.bloom;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.FormatVersionException;
import io.turbidite.core.bytes.Bytes;

import java.lang.foreign.MemorySegment;

/**
 * The bytes of a Bloom filter. The checksum is the business of the file it lies in.
 *
 * <pre>
 * offset  bytes  what
 *      0      4  magic "TbBF" (0x46426254)
 *      4      2  format version, 2
 *      6      2  probes per key, 1..16
 *      8      8  block count, at least 1
 *     16      8  keys added
 *     24     40  zero
 *     64   64*n  blocks of 512 bits; bit b of a block is bit b%64 of its little-endian word b/64
 * </pre>
 *
 * The header is as long as a block, so that blocks keep the alignment the filter was put at.
 */
final class BloomFormat {
    static final int MAGIC = 0x46426254;
    static final int VERSION = 2;

    static final int MAGIC_OFFSET = 0;
    static final int VERSION_OFFSET = MAGIC_OFFSET + Integer.BYTES;
    static final int PROBES_OFFSET = VERSION_OFFSET + Short.BYTES;
    static final int BLOCK_COUNT_OFFSET = PROBES_OFFSET + Short.BYTES;
    static final int KEY_COUNT_OFFSET = BLOCK_COUNT_OFFSET + Long.BYTES;
    static final int ZERO_OFFSET = KEY_COUNT_OFFSET + Long.BYTES;
    static final int BLOCK_BYTES = 64;
    static final int HEADER_BYTES = BLOCK_BYTES;

    static final int PROBES_MAX = 16;

    /** 2^31 blocks are 128 GiB: the block is chosen by 32 bits of the hash. */
    static final long BLOCK_COUNT_MAX = 1L << 31;

    private BloomFormat() {}

    static void writeHeader(MemorySegment target, int probes, long blockCount, long keyCount) {
        target.asSlice(0, HEADER_BYTES).fill((byte) 0);
        target.set(Bytes.I32, MAGIC_OFFSET, MAGIC);
        target.set(Bytes.I16, VERSION_OFFSET, (short) VERSION);
        target.set(Bytes.I16, PROBES_OFFSET, (short) probes);
        target.set(Bytes.I64, BLOCK_COUNT_OFFSET, blockCount);
        target.set(Bytes.I64, KEY_COUNT_OFFSET, keyCount);
    }

    /** Checks everything that {@link BloomFilter#mayContain} relies on. */
    static void check(MemorySegment filter, String file, long fileOffset) {
        long bytes = filter.byteSize();
        if (bytes < HEADER_BYTES + BLOCK_BYTES) {
            throw damaged(file, fileOffset, "length", "at least 128", bytes);
        }
        int magic = filter.get(Bytes.I32, MAGIC_OFFSET);
        if (magic != MAGIC) {
            throw damaged(file, fileOffset + MAGIC_OFFSET, "magic", "" + MAGIC, magic);
        }
        int version = filter.get(Bytes.I16, VERSION_OFFSET) & 0xFFFF;
        if (version < 1) {
            throw damaged(file, fileOffset + VERSION_OFFSET, "version", "" + VERSION, version);
        }
        if (version != VERSION) {
            throw new FormatVersionException(file, "Bloom filter", version, VERSION);
        }
        int probes = filter.get(Bytes.I16, PROBES_OFFSET) & 0xFFFF;
        if (probes < 1 || probes > PROBES_MAX) {
            throw damaged(file, fileOffset + PROBES_OFFSET, "probe count", "1 to 16", probes);
        }
        long blockCount = filter.get(Bytes.I64, BLOCK_COUNT_OFFSET);
        long fitting = (bytes - HEADER_BYTES) / BLOCK_BYTES;
        if (blockCount != fitting || (bytes - HEADER_BYTES) % BLOCK_BYTES != 0) {
            throw damaged(
                    file, fileOffset + BLOCK_COUNT_OFFSET, "block count", "" + fitting, blockCount);
        }
        long keyCount = filter.get(Bytes.I64, KEY_COUNT_OFFSET);
        if (keyCount < 0) {
            throw damaged(file, fileOffset + KEY_COUNT_OFFSET, "key count", "0 or more", keyCount);
        }
        for (int at = ZERO_OFFSET; at < HEADER_BYTES; at += Long.BYTES) {
            long zero = filter.get(Bytes.I64, at);
            if (zero != 0) {
                throw damaged(file, fileOffset + at, "padding", "0", zero);
            }
        }
    }

    private static CorruptionException damaged(
            String file, long offset, String what, String expected, long found) {
        return new CorruptionException(
                file, offset, "Bloom filter " + what, expected, Long.toString(found));
    }
}
