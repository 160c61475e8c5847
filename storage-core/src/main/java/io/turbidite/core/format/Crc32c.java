package io.turbidite.core.format;

import io.turbidite.core.bytes.Bytes;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * Computes the masked CRC32C that every stored checksum is (D5).
 *
 * <p><em>Confined to one thread at a time.</em> Reused by its owner: it remembers the view of the
 * last segment it saw, so that checksumming ranges of one segment again and again allocates
 * nothing.
 *
 * <p>Masked as LevelDB does it, because a block may hold checksums of its own, and the CRC of bytes
 * that end in their CRC is a constant. The mask has a second use: no run of zeros has the stored
 * checksum 0, so a hole in a file is never a valid block.
 *
 * <p>Segments are native or over a {@code byte[]}, of at most 2 GiB in one range.
 */
public final class Crc32c {
    private static final int MASK_DELTA = 0xa282ead8;

    /** Longest view made of a segment in one piece. */
    private static final long VIEW_BYTES_MAX = Integer.MAX_VALUE;

    private static final int NUMBER_BYTES_MAX = 64;

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final CRC32C crc = new CRC32C();

    /**
     * Numbers not yet given to {@link #crc}: a call for each costs more than the checksum itself.
     */
    private final byte[] numbers = new byte[NUMBER_BYTES_MAX];

    private final MemorySegment numbersSegment = MemorySegment.ofArray(numbers);
    private int numberBytes;
    private MemorySegment viewed = MemorySegment.NULL;
    private ByteBuffer view = NOTHING;

    /** The masked checksum of {@code byteCount} bytes of {@code segment} from {@code offset}. */
    public int compute(MemorySegment segment, long offset, long byteCount) {
        return begin().update(segment, offset, byteCount).value();
    }

    /** The masked checksum of the first bytes of an array: without a view of it. */
    public int compute(byte[] bytes, int byteCount) {
        crc.reset();
        numberBytes = 0;
        crc.update(bytes, 0, byteCount);
        return mask((int) crc.getValue());
    }

    /** Forgets what was seen; then {@link #update} any number of times, then {@link #value()}. */
    public Crc32c begin() {
        crc.reset();
        numberBytes = 0;
        return this;
    }

    // Identity, because an equal segment may be of another arena: the old view would be of a closed
    // one.
    @SuppressWarnings({"MemorySegmentReferenceEquality", "ReferenceEquality"})
    public Crc32c update(MemorySegment segment, long offset, long byteCount) {
        if (byteCount == 0) {
            return this;
        }
        takeNumbers();
        if (segment.byteSize() > VIEW_BYTES_MAX) {
            crc.update(segment.asSlice(offset, byteCount).asByteBuffer());
            return this;
        }
        if (segment != viewed) {
            view = segment.asByteBuffer();
            viewed = segment;
        }
        view.limit(Math.toIntExact(Math.addExact(offset, byteCount)));
        view.position(Math.toIntExact(offset));
        crc.update(view);
        view.clear();
        return this;
    }

    /** The eight bytes of {@code value}, little-endian. */
    public Crc32c updateLong(long value) {
        reserve(8);
        numbersSegment.set(Bytes.I64, numberBytes, value);
        numberBytes += 8;
        return this;
    }

    /** The four bytes of {@code value}, little-endian. */
    public Crc32c updateInt(int value) {
        reserve(4);
        numbersSegment.set(Bytes.I32, numberBytes, value);
        numberBytes += 4;
        return this;
    }

    /** The masked checksum of everything since {@link #begin()}. */
    public int value() {
        takeNumbers();
        return mask((int) crc.getValue());
    }

    /** Drops the remembered view, so that the segment's memory is not held by this object. */
    public void forget() {
        viewed = MemorySegment.NULL;
        view = NOTHING;
    }

    private void reserve(int byteCount) {
        if (numberBytes + byteCount > NUMBER_BYTES_MAX) {
            takeNumbers();
        }
    }

    private void takeNumbers() {
        if (numberBytes > 0) {
            crc.update(numbers, 0, numberBytes);
            numberBytes = 0;
        }
    }

    static int mask(int crc) {
        return Integer.rotateRight(crc, 15) + MASK_DELTA;
    }
}
