package io.turbidite.hashlog.log;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The first word of every record: what lies here and how long it is.
 *
 * <p><em>Stateless.</em> Layout of the 64-bit word, little-endian, at a multiple of 8:
 *
 * <pre>
 * bit bits field
 *   0   25 payloadBytes      the record as it came in
 *  25   14 keyPointerCount   12 bytes each, behind this word
 *  39   21 regionWords       the optional region, in 8-byte words
 *  60    2 kind              0 record, 1 filler, 2 session mark, 3 deletion
 *  62    1 zero              deletions are records of their own
 *  63    1 visible           all chains have it; set last
 * </pre>
 *
 * <p>A record is this word, the key pointers (8 bytes of each, then the other 4 of each, padded
 * with zeros to 8), the optional region, and the payload padded with zeros to 8; so its length
 * follows from the word alone, which scans and recovery depend on. The region stands before the
 * payload since whoever asks for a value in it has just read the key pointers: it is in the same or
 * the next cache line. The optional region has 21 bits of words (16 MiB), where FishStore has 8
 * bits of bytes and loses records (research §5, bug 1). There is no checkpoint version: what a
 * checkpoint holds is cut by address. Zero is no header: it says that nothing was written here.
 *
 * <p>Between allocation and insertion the word is stored without the visible bit, and with release
 * order again once every chain has the record; readers load it with acquire order.
 */
public final class RecordHeader {
    /** Length of the word. */
    public static final int BYTES = 8;

    /** Bytes of a key pointer's link; what is in it is the chain room's. */
    public static final int LINK_BYTES = 8;

    /** Bytes of a key pointer with its value, which stands behind all links. */
    private static final int KEY_POINTER_BYTES = LINK_BYTES + 4;

    /** The kind of a record. */
    public static final int RECORD = 0;

    /** Space that no record fits: the rest of a page. */
    public static final int FILLER = 1;

    /** How far a session had come: {@link SessionMark}. */
    public static final int SESSION_MARK = 2;

    /** That a record is deleted: {@link Deletion}. */
    public static final int DELETION = 3;

    static final int PAYLOAD_SHIFT = 0;
    static final int PAYLOAD_BITS = 25;
    static final int COUNT_SHIFT = PAYLOAD_SHIFT + PAYLOAD_BITS;
    static final int COUNT_BITS = 14;
    static final int REGION_SHIFT = COUNT_SHIFT + COUNT_BITS;
    static final int REGION_BITS = 21;
    static final int KIND_SHIFT = REGION_SHIFT + REGION_BITS;
    static final int KIND_BITS = 2;
    static final int ZERO_SHIFT = KIND_SHIFT + KIND_BITS;
    static final int VISIBLE_SHIFT = ZERO_SHIFT + 1;

    /** The largest payload, key pointer count and region that have a place in the word. */
    public static final int PAYLOAD_BYTES_MAX = (1 << PAYLOAD_BITS) - 1;

    /** The most properties of a record. */
    public static final int KEY_POINTER_COUNT_MAX = (1 << COUNT_BITS) - 1;

    /** The most bytes that the region of a record may have. */
    public static final int REGION_BYTES_MAX = ((1 << REGION_BITS) - 1) * 8;

    /** The bit that is set when all of the record is there. */
    public static final long VISIBLE = 1L << VISIBLE_SHIFT;

    /** Words of records, pages and buckets: aligned, so that they can be swapped atomically. */
    public static final ValueLayout.OfLong WORD =
            ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** Access to words with the orders that publication needs: (segment, byte offset). */
    public static final VarHandle WORDS = WORD.varHandle();

    private RecordHeader() {}

    /** An invisible record's word; region bytes are rounded up to words. */
    public static long of(int payloadBytes, int keyPointerCount, int regionBytes) {
        return (long) payloadBytes
                | (long) keyPointerCount << COUNT_SHIFT
                | ((regionBytes + 7L) >>> 3) << REGION_SHIFT;
    }

    /** The visible filler of {@code byteCount} bytes, this word included. */
    public static long filler(int byteCount) {
        return ofKind(FILLER, byteCount - BYTES);
    }

    /** A visible record of another kind, without key pointers. */
    public static long ofKind(int kind, int payloadBytes) {
        return payloadBytes | (long) kind << KIND_SHIFT | VISIBLE;
    }

    /** Length of the payload, in bytes. */
    public static int payloadBytes(long word) {
        return (int) word & PAYLOAD_BYTES_MAX;
    }

    /** How many properties it has. */
    public static int keyPointerCount(long word) {
        return (int) (word >>> COUNT_SHIFT) & KEY_POINTER_COUNT_MAX;
    }

    /** Length of the region behind the payload, in bytes. */
    public static int regionBytes(long word) {
        return ((int) (word >>> REGION_SHIFT) & ((1 << REGION_BITS) - 1)) << 3;
    }

    /** What it is: a record, or one of the marks. */
    public static int kind(long word) {
        return (int) (word >>> KIND_SHIFT) & ((1 << KIND_BITS) - 1);
    }

    /** Whether a mark or a deletion, which are read by fixed places, has what is read. */
    static boolean isOfItsKind(long word) {
        int payloadBytes = payloadBytes(word);
        boolean isBare = keyPointerCount(word) == 0 && regionBytes(word) == 0;
        return switch (kind(word)) {
            case SESSION_MARK -> isBare && payloadBytes >= 8;
            case DELETION -> isBare && payloadBytes == 8;
            default -> true;
        };
    }

    /** Whether all of the record is there. */
    public static boolean isVisible(long word) {
        return word < 0;
    }

    /** From the header word to the values of key pointers, which stand behind their links. */
    public static int valuesOffset(long word) {
        return BYTES + LINK_BYTES * keyPointerCount(word);
    }

    /** From the header word to the optional region. */
    public static int regionOffset(long word) {
        return BYTES + align(KEY_POINTER_BYTES * keyPointerCount(word));
    }

    /** From the header word to the payload. */
    public static int payloadOffset(long word) {
        return regionOffset(word) + regionBytes(word);
    }

    /**
     * From the header word to the next record's; as a long, since a damaged word may say anything.
     */
    public static long recordBytes(long word) {
        return (long) payloadOffset(word) + align(payloadBytes(word));
    }

    /** {@code byteCount} rounded up to a multiple of 8. */
    public static int align(int byteCount) {
        return (byteCount + 7) & -8;
    }

    /** Loads a word so that everything stored before its release is seen. */
    public static long loadAcquire(MemorySegment segment, long offset) {
        return (long) WORDS.getAcquire(segment, offset);
    }

    /** Stores a word behind everything that was stored before. */
    public static void storeRelease(MemorySegment segment, long offset, long word) {
        WORDS.setRelease(segment, offset, word);
    }
}
