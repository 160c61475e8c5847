package io.turbidite.hashlog.chain;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.hashlog.log.LogReader;
import io.turbidite.hashlog.log.RecordHeader;
import io.turbidite.hashlog.psf.PropertyHash;

import java.lang.foreign.MemorySegment;

/**
 * A record's membership in one chain: the link, and which property it stands for (FISH19 figure 6).
 *
 * <p><em>Stateless.</em> 12 bytes in two places, so that the part that is swapped stays aligned:
 * the links of a record stand behind its header word, then the values of all of them. A key
 * pointer's address is its link's. Little-endian:
 *
 * <pre>
 * link  bit bits field
 *         0   45 previous   address of the chain's next older key pointer in words of 8 bytes, 0 for none; the
 *                           only part that changes, by compare-and-swap, while a record below is in flight
 *        45   14 index      of this key pointer in its record: the header is 8 + 8 * index bytes before
 *        59    3 mode       0 inline, 1 wide, 2 payload, 3 region, 4 far payload, 5 far region
 *        62    2 what       upper bits
 * value bit bits field
 *         0   14 psfId
 *        14   18 what       lower bits
 *
 * what (20 bits): inline                   the integer, signed
 *                 wide, far                which word of the region
 *                 payload, region bit 0    12 offset of the value's bytes from the start of payload or region
 *                                 bit 12    8 length
 * </pre>
 *
 * <p>What doesn't fit has a word of 8 bytes at the start of the optional region: a wide integer
 * itself, of a far value the offset (lower half) and the length. So most key pointers take 12 bytes
 * where FishStore's take 16, no value is cut (FishStore cuts to 32 bits, research §5, bug 4), and a
 * record of any size has a place for them.
 *
 * <p>Methods that take a {@code value} want both parts of what in it, as {@link #loadValue} gives
 * them.
 */
public final class KeyPointer {
    /** Bytes of a link in a chain. */
    public static final int LINK_BYTES = RecordHeader.LINK_BYTES;

    /** The value is an integer in the pointer. */
    public static final int INLINE = 0;

    /** The value is an integer in a word of the region. */
    public static final int WIDE = 1;

    /** The value's bytes are a part of the payload. */
    public static final int PAYLOAD = 2;

    /** The value's bytes lie in the region behind the key pointers. */
    public static final int REGION = 3;

    /** As {@link #PAYLOAD}; where they lie and how many they are is a word of the region. */
    public static final int FAR_PAYLOAD = 4;

    /** As {@link #REGION}; where they lie and how many they are is a word of the region. */
    public static final int FAR_REGION = 5;

    /** Addresses are multiples of 8. */
    private static final int ADDRESS_SHIFT = 3;

    static final int PREVIOUS_BITS = 48 - ADDRESS_SHIFT;
    static final long PREVIOUS_MASK = (1L << PREVIOUS_BITS) - 1;
    static final int INDEX_BITS = 14;
    static final int INDEX_MASK = (1 << INDEX_BITS) - 1;
    static final int MODE_SHIFT = PREVIOUS_BITS + INDEX_BITS;
    static final int MODE_MASK = 7;
    static final int UPPER_SHIFT = MODE_SHIFT + 3;
    static final int PSF_BITS = 14;
    static final int PSF_MASK = (1 << PSF_BITS) - 1;
    static final int WHAT_BITS = 20;
    static final int WHAT_MASK = (1 << WHAT_BITS) - 1;
    static final int NEAR_OFFSET_BITS = 12;
    static final int NEAR_LENGTH_BITS = WHAT_BITS - NEAR_OFFSET_BITS;
    static final int NEAR_OFFSET_MASK = (1 << NEAR_OFFSET_BITS) - 1;

    /** In place of a reference: what the key pointer says can't be; references are positive. */
    static final long DAMAGED = -1;

    /** Of a word of the region. */
    static final int WORD_BYTES = 8;

    private KeyPointer() {}

    // ---- writing
    // ---------------------------------------------------------------------------------

    /** The link of a key pointer that no chain has yet. */
    static long link(int index, int mode, long value) {
        return ((value >>> Integer.SIZE) << UPPER_SHIFT)
                | ((long) mode << MODE_SHIFT)
                | ((long) index << PREVIOUS_BITS);
    }

    /** Whether an integer needs no word of the region. */
    static boolean fitsInline(long integer) {
        return integer << (Long.SIZE - WHAT_BITS) >> (Long.SIZE - WHAT_BITS) == integer;
    }

    /** Whether a reference needs no word of the region. */
    static boolean isNear(long offset, int length) {
        return offset <= NEAR_OFFSET_MASK && length < (1 << NEAR_LENGTH_BITS);
    }

    static long near(int offset, int length) {
        return ((long) length << NEAR_OFFSET_BITS) | offset;
    }

    static long far(int offset, int length) {
        return ((long) length << Integer.SIZE) | offset;
    }

    /** PSF and what there is of it: 34 bits, of which the lower 32 are stored as the value. */
    static long value(int psfId, long what) {
        return ((what & WHAT_MASK) << PSF_BITS) | psfId;
    }

    static long withPrevious(long link, long previous) {
        return (link & ~PREVIOUS_MASK) | (previous >>> ADDRESS_SHIFT);
    }

    // ---- reading
    // ---------------------------------------------------------------------------------

    /** The link at {@code offset}; acquires what it leads to. */
    public static long loadLink(MemorySegment segment, long offset) {
        return RecordHeader.loadAcquire(segment, offset);
    }

    /**
     * PSF and what there is of it.
     *
     * @param header of the record, which starts at {@code record}
     */
    public static long loadValue(MemorySegment segment, long record, long header, long link) {
        long at = record + RecordHeader.valuesOffset(header) + 4L * index(link);
        return (segment.get(Bytes.I32, at) & 0xFFFF_FFFFL)
                | ((link >>> UPPER_SHIFT) << Integer.SIZE);
    }

    /** From the link: the next older key pointer's address, 0 for none. */
    public static long previous(long link) {
        return (link & PREVIOUS_MASK) << ADDRESS_SHIFT;
    }

    /** From the link: the mode. */
    public static int mode(long link) {
        return (int) (link >>> MODE_SHIFT) & MODE_MASK;
    }

    private static int index(long link) {
        return (int) (link >>> PREVIOUS_BITS) & INDEX_MASK;
    }

    /** From address and link: where the record starts. */
    public static long recordAddress(long address, long link) {
        return address - RecordHeader.BYTES - (long) index(link) * LINK_BYTES;
    }

    /**
     * Whether a record of this header word has so many key pointers that the link can be of one.
     */
    public static boolean isOf(long link, long header) {
        return index(link) < RecordHeader.keyPointerCount(header);
    }

    /** From the value: the PSF. */
    public static int psfId(long value) {
        return (int) value & PSF_MASK;
    }

    /** From the value: the integer of mode {@link #INLINE}. */
    public static long inlineValue(long value) {
        int unused = Long.SIZE - WHAT_BITS - PSF_BITS;
        return value << unused >> (Long.SIZE - WHAT_BITS);
    }

    /** From the value: the bytes of one in mode {@link #PAYLOAD} or {@link #REGION}. */
    static int nearLength(long value) {
        return (int) (value >>> (PSF_BITS + NEAR_OFFSET_BITS));
    }

    /**
     * A reference whatever its mode, as offset (lower half) and length; the offset counts from the
     * start of the record. The whole record is at {@code record} of {@code segment}; of a wide
     * integer, its word.
     *
     * @return {@link #DAMAGED} if it leads out of the record, or there is no such mode
     */
    static long reference(long link, long value, long header, MemorySegment segment, long record) {
        int mode = mode(link);
        int region = RecordHeader.regionOffset(header);
        if (mode == PAYLOAD || mode == REGION) {
            int base = mode == PAYLOAD ? RecordHeader.payloadOffset(header) : region;
            int offset = (int) (value >>> PSF_BITS) & NEAR_OFFSET_MASK;
            return within(base + (long) offset, nearLength(value), header);
        }
        int word = region + WORD_BYTES * ((int) (value >>> PSF_BITS) & WHAT_MASK);
        if (word + WORD_BYTES > RecordHeader.payloadOffset(header)
                || (mode != WIDE && mode != FAR_PAYLOAD && mode != FAR_REGION)) {
            return DAMAGED;
        }
        if (mode == WIDE) {
            return far(word, WORD_BYTES);
        }
        int base = mode == FAR_PAYLOAD ? RecordHeader.payloadOffset(header) : region;
        long stored = segment.get(Bytes.I64, record + word);
        return within(base + (stored & 0xFFFF_FFFFL), length(stored), header);
    }

    /** The reference, if it is of bytes of the record. */
    private static long within(long offset, int length, long header) {
        return length >= 0 && offset + length <= RecordHeader.recordBytes(header)
                ? far((int) offset, length)
                : DAMAGED;
    }

    static int offset(long reference) {
        return (int) reference;
    }

    static int length(long reference) {
        return (int) (reference >>> Integer.SIZE);
    }

    /**
     * The hash of the property that a key pointer stands for: recovery finds the chain's entry by
     * it.
     *
     * @param index of the key pointer in its record
     * @param reader is at the record, all of which it holds
     * @param address of the record
     * @throws CorruptionException if no record has such a key pointer
     */
    public static long hash(int index, long link, long header, LogReader reader, long address) {
        if (index(link) != index) {
            throw damaged(reader, address, link);
        }
        MemorySegment segment = reader.segment();
        long record = reader.offset();
        long value = loadValue(segment, record, header, link);
        int psfId = psfId(value);
        if (mode(link) == INLINE) {
            return PropertyHash.ofInline(psfId, inlineValue(value));
        }
        long reference = reference(link, value, header, segment, record);
        if (reference == DAMAGED) {
            throw damaged(reader, address, link);
        }
        long at = record + offset(reference);
        return mode(link) == WIDE
                ? PropertyHash.ofInline(psfId, segment.get(Bytes.I64, at))
                : PropertyHash.ofBytes(psfId, segment, at, length(reference));
    }

    /** What to say of the record at {@code address}. */
    static CorruptionException damaged(LogReader reader, long address, long link) {
        return reader.damaged(address, "key pointer", link);
    }
}
