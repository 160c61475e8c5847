package io.turbidite.pm.cells;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.pm.region.CheckedWord;
import io.turbidite.pm.region.Region;

import java.lang.foreign.MemorySegment;

/**
 * Makes nodes: on the heap first, then by one copy into a page that nobody knows yet.
 *
 * <p><em>Confined to the writer.</em>
 */
public final class NodeBuilder {
    private final KeySum sums = new KeySum();
    private final MemorySegment bytes = MemorySegment.ofArray(new byte[Node.BYTES]);
    private int count;
    private int end;

    public NodeBuilder() {
        reset();
    }

    /** Begins a node without entries. */
    public void reset() {
        for (int at = 0; at < Node.CELLS_OFFSET; at += 8) {
            bytes.set(Bytes.I64, at, 0);
        }
        count = 0;
        end = Node.CELLS_OFFSET;
    }

    /** How many entries it has. */
    public int count() {
        return count;
    }

    /** Whether a key of this length would fit. */
    public boolean fits(int keyBytes) {
        return count < Node.SLOT_COUNT && end + Node.cellBytes(keyBytes) <= Node.BYTES;
    }

    /** Bytes that {@code keyBytes} take among those that {@link #capacity} counts. */
    public static int bytesOf(int keyBytes) {
        return Node.cellBytes(keyBytes);
    }

    /** Bytes that all entries of a node may take. */
    public static int capacity() {
        return Node.BYTES - Node.CELLS_OFFSET;
    }

    /**
     * Adds an entry that {@linkplain #fits fits}.
     *
     * @return the offset of its cell in the node
     */
    public int add(long word, Slice key, long hash) {
        return add(word, sums.head(key), key, hash);
    }

    /** The same with the {@link #head} of the key, which its word may be salted with. */
    public int add(long word, long head, Slice key, long hash) {
        int length = key.length();
        writeCell(bytes, end, word, head, key);
        bytes.set(Bytes.U8, Node.FINGERPRINTS_OFFSET + count, (byte) hash);
        bytes.set(Bytes.U8, Node.PLACES_OFFSET + count, (byte) (end / 8));
        count++;
        int place = end;
        end += Node.cellBytes(length);
        return place;
    }

    /** The head of the cell of a key. */
    public long head(Slice key) {
        return sums.head(key);
    }

    /** What {@link NodeImage#keySum} will say of a key with this head. */
    public static int keySum(long head) {
        return (int) (head >>> 32);
    }

    static void writeCell(MemorySegment target, int at, long word, long head, Slice key) {
        int length = key.length();
        target.set(Bytes.I64, at, word);
        target.set(Bytes.I64, at + Node.HEAD_OFFSET, head);
        int padded = Node.cellBytes(length) - Node.KEY_OFFSET;
        if (padded > length) {
            target.set(Bytes.I64, at + Node.KEY_OFFSET + padded - 8L, 0);
        }
        MemorySegment.copy(key.segment(), key.offset(), target, at + Node.KEY_OFFSET, length);
    }

    /** Writes the node to a page, with {@code next} behind it; begins another. */
    public void store(Region region, long node, Node.Kind kind, long low, long next) {
        bytes.set(Bytes.I64, Node.LINK_OFFSET, Node.linkWord(node, next));
        bytes.set(
                Bytes.I64,
                Node.VALID_OFFSET,
                CheckedWord.of((1L << count) - 1, Node.validSalt(node)));
        bytes.set(Bytes.I64, Node.LOW_OFFSET, low);
        bytes.set(
                Bytes.I64, Node.SEAL_OFFSET, CheckedWord.of(kind.code(), Node.sealSalt(node, low)));
        region.memory().putBytes(node, bytes, 0, end);
        region.dirty().add(node, end);
        reset();
    }
}
