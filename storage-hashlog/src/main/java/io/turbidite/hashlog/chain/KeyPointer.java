package io.turbidite.hashlog.chain;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.hashlog.log.RecordHeader;
import io.turbidite.hashlog.psf.PropertyHash;

import java.lang.foreign.MemorySegment;

/**
 * A record's membership in one chain: the link, and which property it stands for (FISH19 figure 6).
 *
 * <p><em>Stateless.</em> Two little-endian words behind the record's header word:
 *
 * <pre>
 * word bit bits field
 *   0    0   48 previous   address of the chain's next older key pointer, 0 for none; the only part that
 *                          changes, by compare-and-swap, while a record below is in flight
 *   0   48   14 index      of this key pointer in its record: the header is 8 + 16 * index bytes before
 *   0   62    2 mode       0 inline, 1 wide, 2 payload, 3 region
 *   1    0   14 psfId
 *   1   14   50 value      inline: the integer, signed
 *   1   14   25 offset     others: of the value's bytes from the start of the payload or the region
 *   1   39   25 length     others: of the value in bytes; 8 for wide
 * </pre>
 *
 * <p>A 64-bit integer that needs more than 50 bits is <em>wide</em>: it lies in the optional region, so that
 * key pointers keep 16 bytes and no value is cut (FishStore cuts to 32 bits, research §5, bug 4). A record
 * is smaller than a page and a page at most 32 MiB, so 25 bits hold every offset and length.
 */
public final class KeyPointer {
    public static final int BYTES = RecordHeader.KEY_POINTER_BYTES;

    public static final int INLINE = 0;
    public static final int WIDE = 1;
    public static final int PAYLOAD = 2;
    public static final int REGION = 3;

    static final int ADDRESS_BITS = 48;
    static final long PREVIOUS_MASK = (1L << ADDRESS_BITS) - 1;
    static final int INDEX_BITS = 14;
    static final int INDEX_MASK = (1 << INDEX_BITS) - 1;
    static final int MODE_SHIFT = ADDRESS_BITS + INDEX_BITS;
    static final int PSF_BITS = 14;
    static final int PSF_MASK = (1 << PSF_BITS) - 1;
    static final int PLACE_BITS = 25;
    static final int PLACE_MASK = (1 << PLACE_BITS) - 1;
    static final int LENGTH_SHIFT = PSF_BITS + PLACE_BITS;
    static final int SECOND_WORD = 8;

    private KeyPointer() {}

    /** The first word of a key pointer that no chain has yet. */
    static long link(int index, int mode) {
        return (long) mode << MODE_SHIFT | (long) index << ADDRESS_BITS;
    }

    /** Whether {@code value} has a place in the second word. */
    static boolean fitsInline(long value) {
        return value << PSF_BITS >> PSF_BITS == value;
    }

    static long inline(int psfId, long value) {
        return value << PSF_BITS | psfId;
    }

    static long reference(int psfId, int offset, int length) {
        return (long) length << LENGTH_SHIFT | (long) offset << PSF_BITS | psfId;
    }

    /** The first word of the key pointer at {@code offset}; acquires what its link leads to. */
    public static long loadLink(MemorySegment segment, long offset) {
        return RecordHeader.loadAcquire(segment, offset);
    }

    /** The second word. */
    public static long loadValue(MemorySegment segment, long offset) {
        return segment.get(RecordHeader.WORD, offset + SECOND_WORD);
    }

    /** From the first word: the next older key pointer's address, 0 for none. */
    public static long previous(long link) {
        return link & PREVIOUS_MASK;
    }

    static long withPrevious(long link, long previous) {
        return (link & ~PREVIOUS_MASK) | previous;
    }

    /** From the first word: the mode. */
    public static int mode(long link) {
        return (int) (link >>> MODE_SHIFT);
    }

    /** From address and first word: where the record starts. */
    public static long recordAddress(long address, long link) {
        int index = (int) (link >>> ADDRESS_BITS) & INDEX_MASK;
        return address - RecordHeader.BYTES - (long) index * BYTES;
    }

    /** From the second word: the PSF. */
    public static int psfId(long value) {
        return (int) value & PSF_MASK;
    }

    /** From the second word: the integer of an inline value. */
    public static long inlineValue(long value) {
        return value >> PSF_BITS;
    }

    /** From the second word: where the value's bytes start in the payload or region. */
    public static int offset(long value) {
        return (int) (value >>> PSF_BITS) & PLACE_MASK;
    }

    /**
     * Where the bytes of a value that is not inline lie.
     *
     * @param header the record's header word
     * @param record where the record starts
     */
    static long valuePlace(long link, long value, long header, long record) {
        return record
                + offset(value)
                + (mode(link) == PAYLOAD
                        ? RecordHeader.payloadOffset(header)
                        : RecordHeader.regionOffset(header));
    }

    /**
     * The hash of the property that a key pointer stands for: recovery finds the chain's entry by it.
     *
     * @param segment holds the whole record, which starts at {@code record}
     */
    public static long hash(
            long link, long value, long header, MemorySegment segment, long record) {
        int psfId = psfId(value);
        if (mode(link) == INLINE) {
            return PropertyHash.ofInline(psfId, inlineValue(value));
        }
        long at = valuePlace(link, value, header, record);
        return mode(link) == WIDE
                ? PropertyHash.ofInline(psfId, segment.get(Bytes.I64, at))
                : PropertyHash.ofBytes(psfId, segment, at, length(value));
    }

    /** From the second word: how many bytes the value has. */
    public static int length(long value) {
        return (int) (value >>> LENGTH_SHIFT) & PLACE_MASK;
    }
}
