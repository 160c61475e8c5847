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
    /** The group's first entry among those of the page. */
    int firstEntry;

    int count;

    /** What all its keys share, from their first byte on. */
    int prefixBytes;

    private int keyBytesMin;
    private int keyBytesMax;
    private long keyBytes;

    /** Of its first and last key, the first eight bytes behind the prefix ({@link Heads#of}). */
    private long firstHead;

    private long lastHead;

    /** Sum of the tails of all keys at the present prefix. */
    private long tailBytes;

    private int valueBytesMin;
    private int valueBytesMax;
    private long valueBytes;
    private long versionMin;
    private long versionMax;

    /** Has its lowest bit if there are both matter and anti-matter. */
    private long versionsDiffer;

    private long bytes;

    /** Becomes a group of one entry. */
    void begin(int newFirstEntry, int keyLength, long version, int valueLength) {
        firstEntry = newFirstEntry;
        count = 1;
        prefixBytes = keyLength;
        keyBytesMin = keyLength;
        keyBytesMax = keyLength;
        keyBytes = keyLength;
        firstHead = 0;
        lastHead = 0;
        tailBytes = 0;
        valueBytesMin = valueLength;
        valueBytesMax = valueLength;
        valueBytes = valueLength;
        versionMin = version;
        versionMax = version;
        versionsDiffer = 0;
        bytes = calculatedBytes();
    }

    void set(GroupShape other) {
        firstEntry = other.firstEntry;
        count = other.count;
        prefixBytes = other.prefixBytes;
        keyBytesMin = other.keyBytesMin;
        keyBytesMax = other.keyBytesMax;
        keyBytes = other.keyBytes;
        firstHead = other.firstHead;
        lastHead = other.lastHead;
        tailBytes = other.tailBytes;
        valueBytesMin = other.valueBytesMin;
        valueBytesMax = other.valueBytesMax;
        valueBytes = other.valueBytes;
        versionMin = other.versionMin;
        versionMax = other.versionMax;
        versionsDiffer = other.versionsDiffer;
        bytes = other.bytes;
    }

    /**
     * Gives up a part of the prefix.
     *
     * @param head of the first key behind the new one
     * @param tailsAgain the sum of the tails of all keys at the new one
     */
    void shorten(int newPrefixBytes, long head, long tailsAgain) {
        prefixBytes = newPrefixBytes;
        firstHead = head;
        tailBytes = tailsAgain;
    }

    /**
     * Gets one entry more, whose key begins with the group's prefix.
     *
     * @param head of the key behind it
     */
    void add(int keyLength, long head, long version, int valueLength) {
        count++;
        keyBytesMin = Math.min(keyBytesMin, keyLength);
        keyBytesMax = Math.max(keyBytesMax, keyLength);
        keyBytes += keyLength;
        lastHead = head;
        tailBytes += GroupLayout.tailBytes(keyLength - prefixBytes);
        valueBytesMin = Math.min(valueBytesMin, valueLength);
        valueBytesMax = Math.max(valueBytesMax, valueLength);
        valueBytes += valueLength;
        versionsDiffer |= version ^ versionMin;
        versionMin = Math.min(versionMin, version);
        versionMax = Math.max(versionMax, version);
        bytes = calculatedBytes();
    }

    /** Whether the tails at a shorter prefix follow from sums, and no key need be looked at. */
    boolean tailsAreEven(int shorterPrefixBytes) {
        return keyBytesMax - shorterPrefixBytes <= Heads.BYTES
                || keyBytesMin - shorterPrefixBytes >= Heads.BYTES;
    }

    /** The sum of the tails at a shorter prefix, if {@link #tailsAreEven}. */
    long evenTails(int shorterPrefixBytes) {
        return keyBytesMax - shorterPrefixBytes <= Heads.BYTES
                ? 0
                : keyBytes - (long) count * (shorterPrefixBytes + Heads.BYTES);
    }

    /** Bytes of the group on a page without a prefix of its own. */
    long bytes() {
        return bytes;
    }

    private long calculatedBytes() {
        return GroupLayout.PREFIX_OFFSET
                + prefixBytes
                + headBytes()
                + Column.bytes(count, headBits())
                + Column.bytes(count, versionBits())
                + Column.bytes(count, lengthBits())
                + Column.bytes(count, endBits())
                + heapBytes();
    }

    boolean hasTails() {
        return tailBytes > 0;
    }

    int keyBytesMin() {
        return keyBytesMin;
    }

    int headBytes() {
        return GroupLayout.headBytes(keyBytesMax - prefixBytes);
    }

    /** The number that the heads are above. */
    long headBase() {
        return firstHead >>> (Long.SIZE - Byte.SIZE * headBytes());
    }

    int headBits() {
        int shift = Long.SIZE - Byte.SIZE * headBytes();
        return Column.bits((lastHead >>> shift) - (firstHead >>> shift));
    }

    int versionBits() {
        return Column.bits((versionMax - versionMin) >>> versionStep());
    }

    int versionStep() {
        return (int) (~versionsDiffer & 1);
    }

    long versionBase() {
        return versionMin;
    }

    int lengthBits() {
        return Column.bits(keyBytesMax - keyBytesMin);
    }

    int endBits() {
        return heapIsEven() ? 0 : Column.bits(heapBytes());
    }

    /** Writes the header, up to the prefix; returns where that begins. */
    long writeHeader(MemorySegment target, long offset, int pagePrefixBytes) {
        target.set(
                Bytes.I64,
                offset,
                versionMin
                        | (long) headBits() << (Byte.SIZE * GroupLayout.HEAD_BITS_OFFSET)
                        | (long) versionBits() << (Byte.SIZE * GroupLayout.VERSION_BITS_OFFSET));
        int endBits = endBits();
        long shape = GroupLayout.shape(
                prefixBytes - pagePrefixBytes,
                keyBytesMin - prefixBytes,
                headBytes(),
                lengthBits(),
                endBits,
                versionStep(),
                endBits != 0 ? 0 : heapBytes() / count);
        target.set(Bytes.I64, offset + GroupLayout.SHAPE_OFFSET, shape);
        return offset + GroupLayout.PREFIX_OFFSET;
    }

    /** Whether all heap entries are equally long. */
    private boolean heapIsEven() {
        boolean sameTails = keyBytesMin == keyBytesMax || keyBytesMax - prefixBytes <= Heads.BYTES;
        return sameTails && valueBytesMin == valueBytesMax;
    }

    private long heapBytes() {
        return tailBytes + valueBytes;
    }
}
