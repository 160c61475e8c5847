package io.turbidite.pm.cells;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.bytes.Xxh3;
import io.turbidite.pm.region.CheckedWord;
import io.turbidite.pm.region.RegionMemory;

import java.lang.foreign.MemorySegment;

/**
 * The format of a node, and what readers do with one. Layout (little-endian; words marked * are
 * {@linkplain CheckedWord checked}, with the node's offset in the salt):
 *
 * <pre>
 * offset bytes field
 *      0     8 link*         offset of the next node, divided by 256; 0 if there is none
 *      8     8 valid*        a bit for each slot whose entry counts
 *     16     8 low           of a bucket: the smallest hash that belongs here, the same in all
 *                           nodes of it; of a leaf: 0
 *     24     8 seal*         kind: 1 leaf, 2 bucket; its salt has low
 *     32    40 fingerprints  of each slot: the low byte of its key's hash
 *     72    40 places        of each slot: offset of its cell in the node, divided by 8
 *    112    16 zero
 *    128  1152 cells
 * </pre>
 *
 * <p>A cell is a word, whose meaning and check are the owner's; a head (length of the key in 16
 * bits, 16 of zero, CRC32C of key and length in 32); and the key, zero-padded to 8 bytes.
 *
 * <p><em>Stateless.</em> A reader sees a node as it was at some time after it came here: one word
 * says which entries count, and theirs were written before.
 */
public final class Node {
    /** Length of a node: five blocks. */
    public static final int BYTES = 1_280;

    /** How many entries a node has at most. */
    public static final int SLOT_COUNT = CheckedWord.PAYLOAD_BITS;

    static final int LINK_OFFSET = 0;
    static final int VALID_OFFSET = LINK_OFFSET + 8;
    static final int LOW_OFFSET = VALID_OFFSET + 8;
    static final int SEAL_OFFSET = LOW_OFFSET + 8;
    static final int FINGERPRINTS_OFFSET = SEAL_OFFSET + 8;
    static final int PLACES_OFFSET = FINGERPRINTS_OFFSET + SLOT_COUNT;
    static final int ZERO_OFFSET = PLACES_OFFSET + SLOT_COUNT;
    static final int CELLS_OFFSET = 128;

    static final int HEAD_OFFSET = 8;
    static final int KEY_OFFSET = 16;

    static final int LINK_UNIT = RegionMemory.BLOCK_BYTES;

    static {
        assert CELLS_OFFSET + cellBytes(Limits.KEY_BYTES_MAX) <= BYTES;
    }

    /** What a node is of. */
    public enum Kind {
        LEAF(1),
        BUCKET(2);

        private final int code;

        Kind(int code) {
            this.code = code;
        }

        /** What stands for it in a region. */
        int code() {
            return code;
        }
    }

    private Node() {}

    /** The hash that fingerprints and buckets go by. */
    public static long hash(Slice key) {
        return Xxh3.hash(key.segment(), key.offset(), key.length());
    }

    static int cellBytes(int keyBytes) {
        return KEY_OFFSET + (keyBytes + 7 & -8);
    }

    static long linkSalt(long node) {
        return node * 4 + 1;
    }

    static long validSalt(long node) {
        return node * 4 + 2;
    }

    static long sealSalt(long node, long low) {
        return CheckedWord.mix(low) ^ (node * 4 + 3);
    }

    /** The offset of the node behind this one; 0 if there is none. */
    public static long next(RegionMemory memory, long node) {
        long word = memory.getLong(node + LINK_OFFSET);
        require(memory, node + LINK_OFFSET, "link of a node", word, linkSalt(node));
        return CheckedWord.payload(word) * LINK_UNIT;
    }

    /** The word that makes {@code next} the node behind {@code node}. */
    static long linkWord(long node, long next) {
        return CheckedWord.of(next / LINK_UNIT, linkSalt(node));
    }

    /** The smallest hash of a bucket. */
    public static long low(RegionMemory memory, long node) {
        return memory.getLong(node + LOW_OFFSET);
    }

    /**
     * The offset of the cell of a key, in the region; -1 if the node has none. The cell's word is
     * there.
     *
     * @throws CorruptionException if the node does not say soundly which entries count
     */
    public static long find(RegionMemory memory, long node, Slice key, long hash) {
        long validWord = memory.getLong(node + VALID_OFFSET);
        require(memory, node + VALID_OFFSET, "entries of a node", validWord, validSalt(node));
        long valid = CheckedWord.payload(validWord);
        long pattern = pattern(hash);
        for (int eight = 0; eight < SLOT_COUNT; eight += 8) {
            if ((valid >>> eight & 0xFF) == 0) {
                continue;
            }
            long matches = zeroBytes(memory.getLong(node + FINGERPRINTS_OFFSET + eight) ^ pattern);
            while (matches != 0) {
                int bit = Long.numberOfTrailingZeros(matches) & ~7; // of the byte
                matches &= matches - 1;
                if ((valid >>> (eight + bit / 8) & 1) == 1) {
                    long places = memory.getLong(node + PLACES_OFFSET + eight);
                    long cell = node + (places >>> bit & 0xFF) * 8;
                    if (hasKey(memory, cell, key)) {
                        return cell;
                    }
                }
            }
        }
        return -1;
    }

    /** Eight times the fingerprint of a key. */
    static long pattern(long hash) {
        return (hash & 0xFF) * 0x0101_0101_0101_0101L;
    }

    /** A bit for each byte, of words in which bytes have their high bit alone. */
    static long eachByte(long highBits) {
        return ((highBits >>> 7) * 0x0102_0408_1020_4080L) >>> 56;
    }

    /** The high bit of each byte that is zero. */
    static long zeroBytes(long word) {
        long low7 = 0x7F7F_7F7F_7F7F_7F7FL;
        return ~((word & low7) + low7 | word | low7);
    }

    /** Whether a cell has this key; compares word by word. */
    public static boolean hasKey(RegionMemory memory, long cell, Slice key) {
        int length = key.length();
        if ((memory.getLong(cell + HEAD_OFFSET) & 0xFFFF) != length) {
            return false;
        }
        MemorySegment bytes = key.segment();
        long from = key.offset();
        int i = 0;
        for (; i + 8 <= length; i += 8) {
            if (memory.getLong(cell + KEY_OFFSET + i) != bytes.get(Bytes.I64, from + i)) {
                return false;
            }
        }
        return i == length
                || memory.getLong(cell + KEY_OFFSET + i) == lastWord(bytes, from + i, length - i);
    }

    /** Fewer than eight bytes, zero-padded. */
    static long lastWord(MemorySegment bytes, long from, int byteCount) {
        long word = 0;
        for (int i = 0; i < byteCount; i++) {
            word |= (bytes.get(Bytes.U8, from + i) & 0xFFL) << (8 * i);
        }
        return word;
    }

    static void require(RegionMemory memory, long at, String what, long word, long salt) {
        if (!CheckedWord.isSound(word, salt)) {
            throw new CorruptionException(
                    memory.name(),
                    at,
                    what,
                    Long.toHexString(CheckedWord.of(CheckedWord.payload(word), salt)),
                    Long.toHexString(word));
        }
    }
}
