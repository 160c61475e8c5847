package io.turbidite.lsm.btree;

import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Collects entries until a leaf page is full and lays them out as {@link LeafLayout} says.
 *
 * <p><em>Confined to one thread.</em> Reused from page to page; allocates only to grow. The exact size of
 * the page is known at every moment, so pages are filled to the brim and never padded: a shorter shared
 * prefix makes tails longer, and these are summed again when it shrinks.
 */
public final class LeafBuilder {
    private static final int U16_MAX = 0xFFFF;

    private final int pageBytesMax;

    /** All keys, whole, one behind the other. */
    private final ByteSink keys;

    /** All values, one behind the other. */
    private final ByteSink values;

    private int[] keyEnds = new int[256];
    private int[] valueEnds = new int[256];
    private long[] versions = new long[256];
    private int count;

    private int prefixBytes;
    private int keyBytesMin;
    private int keyBytesMax;
    private int valueBytesMin;
    private int valueBytesMax;
    private long versionMin;
    private long versionMax;

    /** Sum of the tails of all keys at the present prefix. */
    private long tailBytes;

    /**
     * @param pageBytesMax most bytes of a page, envelope included; a page of one entry may be longer
     */
    public LeafBuilder(int pageBytesMax) {
        this.pageBytesMax = pageBytesMax;
        int entryBytesMax = Limits.RECORD_BYTES_MAX + pageBytesMax;
        this.keys = new ByteSink(pageBytesMax, entryBytesMax);
        this.values = new ByteSink(pageBytesMax, entryBytesMax);
    }

    public int entryCount() {
        return count;
    }

    /** The version of an entry as it is stored. */
    public static long version(long timestamp, boolean antimatter) {
        return timestamp << 1 | (antimatter ? 1 : 0);
    }

    /**
     * Adds an entry that is above all others; false, and nothing is added, if the page is full. The
     * first entry of a page always finds room.
     *
     * @param sharedBytes how many first bytes the key shares with the key before it
     */
    public boolean add(Slice key, int sharedBytes, long version, Slice value) {
        if (count == 0) {
            begin(key, version, value);
            append(key, version, value);
            return true;
        }
        int newPrefix = Math.min(prefixBytes, sharedBytes);
        long newTails = newPrefix == prefixBytes ? tailBytes : tailsBehind(newPrefix);
        newTails += LeafLayout.tailBytes(key.length() - newPrefix);
        int newKeyMin = Math.min(keyBytesMin, key.length());
        int newKeyMax = Math.max(keyBytesMax, key.length());
        int newValueMin = Math.min(valueBytesMin, value.length());
        int newValueMax = Math.max(valueBytesMax, value.length());
        long newVersionMin = Math.min(versionMin, version);
        long newVersionMax = Math.max(versionMax, version);
        boolean sameKeyBytes = newKeyMin == newKeyMax;
        long heap = newTails + values.length() + value.length();
        long wanted = pageBytes(
                count + 1,
                newPrefix,
                sameKeyBytes ? heap : heap + 2L * (count + 1),
                sameKeyBytes && newValueMin == newValueMax,
                LeafLayout.versionBytes(newVersionMax - newVersionMin));
        if (wanted > pageBytesMax) {
            return false;
        }
        prefixBytes = newPrefix;
        tailBytes = newTails;
        keyBytesMin = newKeyMin;
        keyBytesMax = newKeyMax;
        valueBytesMin = newValueMin;
        valueBytesMax = newValueMax;
        versionMin = newVersionMin;
        versionMax = newVersionMax;
        append(key, version, value);
        return true;
    }

    /** Bytes of the page as it is now, envelope included. */
    public int pageBytes() {
        return Math.toIntExact(
                pageBytes(count, prefixBytes, heapBytes(), heapIsEven(), versionBytes()));
    }

    /**
     * Writes the page of {@link #pageBytes()} bytes, except for the envelope, and begins the next one.
     *
     * @param firstOrdinal the place of the page's first entry among all entries
     */
    public void build(MemorySegment target, long offset, long firstOrdinal) {
        int versionBytes = versionBytes();
        int endBytes = endBytes(heapIsEven(), heapBytes());
        boolean sameKeyBytes = keyBytesMin == keyBytesMax;
        int stride = 0;
        if (endBytes == 0) {
            stride = LeafLayout.tailBytes(keyBytesMin - prefixBytes) + valueBytesMin;
        }
        target.set(Bytes.I32, offset + LeafLayout.ENTRY_COUNT_OFFSET, count);
        target.set(Bytes.I16, offset + LeafLayout.KEY_PREFIX_BYTES_OFFSET, (short) prefixBytes);
        target.set(Bytes.I16, offset + LeafLayout.KEY_SUFFIX_BYTES_OFFSET, (short)
                (sameKeyBytes ? keyBytesMin - prefixBytes : LeafLayout.SUFFIX_BYTES_DIFFER));
        target.set(Bytes.I64, offset + LeafLayout.FIRST_ORDINAL_OFFSET, firstOrdinal);
        target.set(Bytes.I64, offset + LeafLayout.VERSION_BASE_OFFSET, versionMin);
        target.set(Bytes.U8, offset + LeafLayout.VERSION_BYTES_OFFSET, (byte) versionBytes);
        target.set(Bytes.U8, offset + LeafLayout.END_BYTES_OFFSET, (byte) endBytes);
        target.set(Bytes.I16, offset + LeafLayout.ZERO_OFFSET, (short) 0);
        target.set(Bytes.I32, offset + LeafLayout.HEAP_STRIDE_OFFSET, stride);

        long at = writeHeads(target, offset + LeafLayout.HEADS_OFFSET);
        at = writeVersions(target, at, versionBytes);
        long ends = at;
        at += (long) count * endBytes;
        MemorySegment.copy(keys.segment(), 0, target, at, prefixBytes);
        at += prefixBytes;
        writeHeap(target, at, ends, endBytes);
        clear();
    }

    private void begin(Slice key, long version, Slice value) {
        prefixBytes = key.length();
        keyBytesMin = key.length();
        keyBytesMax = key.length();
        valueBytesMin = value.length();
        valueBytesMax = value.length();
        versionMin = version;
        versionMax = version;
        tailBytes = 0;
    }

    private void append(Slice key, long version, Slice value) {
        if (count == versions.length) {
            keyEnds = Arrays.copyOf(keyEnds, count * 2);
            valueEnds = Arrays.copyOf(valueEnds, count * 2);
            versions = Arrays.copyOf(versions, count * 2);
        }
        keys.putBytes(key);
        values.putBytes(value);
        keyEnds[count] = keys.length();
        valueEnds[count] = values.length();
        versions[count] = version;
        count++;
    }

    private void clear() {
        keys.clear();
        values.clear();
        count = 0;
    }

    private long tailsBehind(int prefix) {
        if (keyBytesMax - prefix <= Heads.BYTES) {
            return 0;
        }
        long sum = 0;
        int start = 0;
        for (int i = 0; i < count; i++) {
            sum += LeafLayout.tailBytes(keyEnds[i] - start - prefix);
            start = keyEnds[i];
        }
        return sum;
    }

    private int versionBytes() {
        return LeafLayout.versionBytes(versionMax - versionMin);
    }

    private boolean heapIsEven() {
        return keyBytesMin == keyBytesMax && valueBytesMin == valueBytesMax;
    }

    private long heapBytes() {
        long lengths = keyBytesMin == keyBytesMax ? 0 : 2L * count;
        return lengths + tailBytes + values.length();
    }

    private static int endBytes(boolean heapIsEven, long heapBytes) {
        if (heapIsEven) {
            return 0;
        }
        return heapBytes <= U16_MAX ? 2 : 4;
    }

    private static long pageBytes(
            int count, int prefixBytes, long heapBytes, boolean heapIsEven, int versionBytes) {
        int columns = Heads.BYTES + versionBytes + endBytes(heapIsEven, heapBytes);
        return LeafLayout.HEADS_OFFSET + (long) count * columns + prefixBytes + heapBytes;
    }

    private long writeHeads(MemorySegment target, long offset) {
        MemorySegment source = keys.segment();
        long at = offset;
        int start = 0;
        for (int i = 0; i < count; i++) {
            int suffix = start + prefixBytes;
            long head = Bytes.prefix(source, suffix, keyEnds[i] - suffix);
            target.set(Bytes.I64, at, head);
            at += Heads.BYTES;
            start = keyEnds[i];
        }
        return at;
    }

    /** Writes the low bytes of each version, from the last to the first: a store is 8 bytes wide. */
    private long writeVersions(MemorySegment target, long offset, int versionBytes) {
        if (versionBytes == 0) {
            return offset;
        }
        long end = offset + (long) count * versionBytes;
        long at = end;
        int shift = Long.SIZE - Byte.SIZE * versionBytes;
        long mask = -1L << shift;
        for (int i = count - 1; i >= 0; i--) {
            // the eight bytes that end where the version ends; those before it are kept
            long before = target.get(Bytes.I64, at - Long.BYTES) & ~mask;
            target.set(Bytes.I64, at - Long.BYTES, before | (versions[i] - versionMin) << shift);
            at -= versionBytes;
        }
        return end;
    }

    private void writeHeap(MemorySegment target, long offset, long ends, int endBytes) {
        boolean sameKeyBytes = keyBytesMin == keyBytesMax;
        if (sameKeyBytes && tailBytes == 0) {
            MemorySegment.copy(values.segment(), 0, target, offset, values.length());
            for (int i = 0; i < count; i++) {
                writeEnd(target, ends, endBytes, i, valueEnds[i]);
            }
            return;
        }
        long at = offset;
        for (int i = 0; i < count; i++) {
            int keyStart = i == 0 ? 0 : keyEnds[i - 1];
            int valueStart = i == 0 ? 0 : valueEnds[i - 1];
            int suffixBytes = keyEnds[i] - keyStart - prefixBytes;
            if (!sameKeyBytes) {
                target.set(Bytes.I16, at, (short) suffixBytes);
                at += 2;
            }
            int tail = LeafLayout.tailBytes(suffixBytes);
            MemorySegment.copy(keys.segment(), keyEnds[i] - tail, target, at, tail);
            at += tail;
            int valueBytes = valueEnds[i] - valueStart;
            MemorySegment.copy(values.segment(), valueStart, target, at, valueBytes);
            at += valueBytes;
            writeEnd(target, ends, endBytes, i, at - offset);
        }
    }

    private static void writeEnd(
            MemorySegment target, long ends, int endBytes, int index, long end) {
        if (endBytes == 2) {
            target.set(Bytes.I16, ends + index * 2L, (short) end);
        } else if (endBytes == 4) {
            target.set(Bytes.I32, ends + index * 4L, (int) end);
        }
    }
}
