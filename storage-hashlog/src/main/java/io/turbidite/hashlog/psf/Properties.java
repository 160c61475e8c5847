package io.turbidite.hashlog.psf;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Objects;

/**
 * The properties of one record (FISH19 definition 2.2), flat and reused from record to record:
 * {@link PropertyExtractor#extract} fills it. <em>Confined to one thread.</em> What it shows is
 * valid until the next extraction; it allocates only while it grows to the largest record so far.
 */
public final class Properties {
    /** PSF ids are 14 bits of a key pointer. */
    public static final int PSF_ID_MAX = (1 << 14) - 1;

    /** As much as evaluated values of one record may take. */
    static final int REGION_BYTES_MAX = 256 << 20;

    private int count;
    private int[] psfIds = new int[16];
    private PropertyMode[] modes = new PropertyMode[16];
    /** The integer, or offset in the upper and length in the lower half. */
    private long[] words = new long[16];

    private long[] hashes = new long[16];
    private final ByteSink region = new ByteSink(256, REGION_BYTES_MAX);

    /** How many properties the record has. */
    public int count() {
        return count;
    }

    /** The PSF of property {@code i}, 0 to {@link #PSF_ID_MAX}. */
    public int psfId(int i) {
        return psfIds[Objects.checkIndex(i, count)];
    }

    /** How the value of a property is kept, by its place from 0. */
    public PropertyMode mode(int i) {
        return modes[Objects.checkIndex(i, count)];
    }

    /** The value of a property of mode {@link PropertyMode#INLINE}. */
    public long inlineValue(int i) {
        assert modes[i] == PropertyMode.INLINE : modes[i];
        return words[Objects.checkIndex(i, count)];
    }

    /** Where the value starts: bytes from the start of the record, or of {@link #region()}. */
    public int offset(int i) {
        assert modes[i] != PropertyMode.INLINE;
        return (int) (words[Objects.checkIndex(i, count)] >>> 32);
    }

    /** Bytes of a value that is not inline. */
    public int length(int i) {
        assert modes[i] != PropertyMode.INLINE;
        return (int) words[Objects.checkIndex(i, count)];
    }

    /** {@link PropertyHash} of PSF and value: equal properties have equal hashes in every mode. */
    public long hash(int i) {
        return hashes[Objects.checkIndex(i, count)];
    }

    /** Holds the {@link #regionBytes()} bytes of evaluated values from offset 0 on. */
    public MemorySegment region() {
        return region.segment();
    }

    /** Bytes of all values that lie behind the payload. */
    public int regionBytes() {
        return region.length();
    }

    void clear() {
        count = 0;
        region.clear();
    }

    void addInline(int psfId, long value) {
        add(psfId, PropertyMode.INLINE, value, PropertyHash.ofInline(psfId, value));
    }

    /** Bytes of the record, of which {@code record} is a copy. */
    void addPayload(int psfId, byte[] record, int offset, int length) {
        long hash = PropertyHash.ofBytes(psfId, record, offset, length);
        add(psfId, PropertyMode.PAYLOAD, word(offset, length), hash);
    }

    /** Bytes from elsewhere, copied to the region. */
    void addRegion(int psfId, byte[] bytes, int offset, int length) {
        int at = region.reserve(length);
        MemorySegment.copy(bytes, offset, region.segment(), Bytes.U8, at, length);
        long hash = PropertyHash.ofBytes(psfId, bytes, offset, length);
        add(psfId, PropertyMode.REGION, word(at, length), hash);
    }

    private static long word(int offset, int length) {
        return ((long) offset << 32) | length;
    }

    private void add(int psfId, PropertyMode mode, long word, long hash) {
        if (count == psfIds.length) {
            int room = 2 * count;
            psfIds = Arrays.copyOf(psfIds, room);
            modes = Arrays.copyOf(modes, room);
            words = Arrays.copyOf(words, room);
            hashes = Arrays.copyOf(hashes, room);
        }
        psfIds[count] = psfId;
        modes[count] = mode;
        words[count] = word;
        hashes[count] = hash;
        count++;
    }
}
