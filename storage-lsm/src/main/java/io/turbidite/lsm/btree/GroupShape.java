package io.turbidite.lsm.btree;

import io.turbidite.core.bytes.Bytes;

import java.lang.foreign.MemorySegment;

/**
 * What a group that is being collected will look like: the widths of its columns and its size,
 * known at every moment.
 *
 * <p><em>Confined to one thread.</em> Owned by a {@link LeafBuilder}, which also holds the entries.
 */
final class GroupShape {
    private static final int U16_MAX = 0xFFFF;

    /** The group's first entry among those of the page. */
    int firstEntry;

    int count;

    /** What all its keys share, from their first byte on. */
    int prefixBytes;

    private int keyBytesMin;
    private int keyBytesMax;
    private long keyBytes;

    /** Sum of the tails of all keys at the present prefix. */
    private long tailBytes;

    private int valueBytesMin;
    private int valueBytesMax;
    private long valueBytes;
    private long versionMin;
    private long versionMax;

    /** Becomes a group of one entry. */
    void begin(int newFirstEntry, int keyLength, long version, int valueLength) {
        firstEntry = newFirstEntry;
        count = 1;
        prefixBytes = keyLength;
        keyBytesMin = keyLength;
        keyBytesMax = keyLength;
        keyBytes = keyLength;
        tailBytes = 0;
        valueBytesMin = valueLength;
        valueBytesMax = valueLength;
        valueBytes = valueLength;
        versionMin = version;
        versionMax = version;
    }

    /**
     * Becomes {@code other} with one entry more.
     *
     * @param newPrefixBytes what the keys share then
     * @param tailsAgain the sum of the tails of {@code other}'s keys at that prefix
     */
    void extend(
            GroupShape other, int newPrefixBytes, long tailsAgain, int keyLength, int valueLength) {
        firstEntry = other.firstEntry;
        count = other.count + 1;
        prefixBytes = newPrefixBytes;
        keyBytesMin = Math.min(other.keyBytesMin, keyLength);
        keyBytesMax = Math.max(other.keyBytesMax, keyLength);
        keyBytes = other.keyBytes + keyLength;
        tailBytes = tailsAgain + GroupLayout.tailBytes(keyLength - newPrefixBytes);
        valueBytesMin = Math.min(other.valueBytesMin, valueLength);
        valueBytesMax = Math.max(other.valueBytesMax, valueLength);
        valueBytes = other.valueBytes + valueLength;
        versionMin = other.versionMin;
        versionMax = other.versionMax;
    }

    /** Notes the version of the entry that {@link #extend} has added. */
    void addVersion(long version) {
        versionMin = Math.min(versionMin, version);
        versionMax = Math.max(versionMax, version);
    }

    /**
     * Gets one entry more, whose key begins with the group's prefix.
     *
     * @return false, and nothing has changed, if its {@link #bytes} would be more than
     *     {@code bytesMax}
     */
    boolean grow(long bytesMax, int keyLength, long version, int valueLength) {
        int keyMin = keyBytesMin;
        int keyMax = keyBytesMax;
        int valueMin = valueBytesMin;
        int valueMax = valueBytesMax;
        long oldest = versionMin;
        long newest = versionMax;
        int tail = GroupLayout.tailBytes(keyLength - prefixBytes);
        keyBytesMin = Math.min(keyMin, keyLength);
        keyBytesMax = Math.max(keyMax, keyLength);
        valueBytesMin = Math.min(valueMin, valueLength);
        valueBytesMax = Math.max(valueMax, valueLength);
        versionMin = Math.min(oldest, version);
        versionMax = Math.max(newest, version);
        count++;
        keyBytes += keyLength;
        tailBytes += tail;
        valueBytes += valueLength;
        if (bytes() <= bytesMax) {
            return true;
        }
        keyBytesMin = keyMin;
        keyBytesMax = keyMax;
        valueBytesMin = valueMin;
        valueBytesMax = valueMax;
        versionMin = oldest;
        versionMax = newest;
        count--;
        keyBytes -= keyLength;
        tailBytes -= tail;
        valueBytes -= valueLength;
        return false;
    }

    /** Whether the tails at a shorter prefix follow from sums, and no key need be looked at. */
    boolean tailsAreEven(int shorterPrefixBytes) {
        return shorterPrefixBytes == prefixBytes
                || keyBytesMax - shorterPrefixBytes <= Heads.BYTES
                || keyBytesMin - shorterPrefixBytes >= Heads.BYTES;
    }

    /** The sum of the tails at a shorter prefix, if {@link #tailsAreEven}. */
    long evenTails(int shorterPrefixBytes) {
        if (shorterPrefixBytes == prefixBytes) {
            return tailBytes;
        }
        return keyBytesMax - shorterPrefixBytes <= Heads.BYTES
                ? 0
                : keyBytes - (long) count * (shorterPrefixBytes + Heads.BYTES);
    }

    /** Bytes of the group on a page without a prefix of its own. */
    long bytes() {
        int columns = headBytes() + versionBytes() + endBytes();
        return GroupLayout.HEADS_OFFSET + (long) count * columns + prefixBytes + heapBytes();
    }

    boolean sameKeyBytes() {
        return keyBytesMin == keyBytesMax;
    }

    boolean hasTails() {
        return tailBytes > 0;
    }

    int lengthBytes() {
        return sameKeyBytes() ? 0 : GroupLayout.lengthBytes(keyBytesMax - prefixBytes);
    }

    int headBytes() {
        return GroupLayout.headBytes(keyBytesMax - prefixBytes);
    }

    int versionBytes() {
        return GroupLayout.versionBytes(versionMax - versionMin);
    }

    long versionBase() {
        return versionMin;
    }

    int endBytes() {
        if (heapIsEven()) {
            return 0;
        }
        return heapBytes() <= U16_MAX ? 2 : 4;
    }

    /** Writes the header; returns where the heads begin. */
    long writeHeader(MemorySegment target, long offset, int pagePrefixBytes) {
        int suffixBytes =
                sameKeyBytes() ? keyBytesMin - prefixBytes : GroupLayout.SUFFIX_BYTES_DIFFER;
        int stride = endBytes() != 0 ? 0 : (int) (heapBytes() / count);
        target.set(Bytes.I16, offset + GroupLayout.KEY_PREFIX_BYTES_OFFSET, (short)
                (prefixBytes - pagePrefixBytes));
        target.set(Bytes.I16, offset + GroupLayout.KEY_SUFFIX_BYTES_OFFSET, (short) suffixBytes);
        target.set(Bytes.U8, offset + GroupLayout.HEAD_BYTES_OFFSET, (byte) headBytes());
        target.set(Bytes.U8, offset + GroupLayout.VERSION_BYTES_OFFSET, (byte) versionBytes());
        target.set(Bytes.U8, offset + GroupLayout.END_BYTES_OFFSET, (byte) endBytes());
        target.set(Bytes.U8, offset + GroupLayout.LENGTH_BYTES_OFFSET, (byte) lengthBytes());
        target.set(Bytes.I64, offset + GroupLayout.VERSION_BASE_OFFSET, versionMin);
        target.set(Bytes.I32, offset + GroupLayout.HEAP_STRIDE_OFFSET, stride);
        return offset + GroupLayout.HEADS_OFFSET;
    }

    /** Whether all heap entries are equally long. */
    private boolean heapIsEven() {
        boolean sameTails = sameKeyBytes() || keyBytesMax - prefixBytes <= Heads.BYTES;
        return sameTails && valueBytesMin == valueBytesMax;
    }

    private long heapBytes() {
        return (long) lengthBytes() * count + tailBytes + valueBytes;
    }
}
