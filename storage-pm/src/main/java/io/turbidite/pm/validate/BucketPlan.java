package io.turbidite.pm.validate;

import io.turbidite.pm.cells.Node;
import io.turbidite.pm.cells.NodeBuilder;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * How the keys of a full bucket are spread over buckets that replace it. An interval of hashes is
 * halved until its keys fit into one node. Long keys don't wait for that: as soon as a bucket has
 * few keys, it may have several nodes. Else two keys would be parted where their hashes differ for
 * the first time, with an empty bucket for each bit on the way there.
 *
 * <p><em>Confined to the writer</em>, and reused.
 */
final class BucketPlan {
    /** A bucket of that many keys may have several nodes; a node has room for any key. */
    private static final int CHAIN_KEY_COUNT = 8;

    /** An interval of hashes and the nodes of its bucket. */
    record Piece(long low, long width, int nodeCount) {}

    private final List<Piece> pieces = new ArrayList<>();
    private long[] hashes = new long[64];
    private int[] keyBytes = new int[64];
    private int[] pieceOf = new int[64];
    private int[] nodeOf = new int[64];
    private int[] nodeKeys = new int[64];
    private int[] nodeBytes = new int[64];
    private int count;
    private long bucketCountMax;

    /** Begins another plan. */
    void reset() {
        count = 0;
    }

    /** Adds a key. They go into nodes in this order, each into the first that has room. */
    void add(long hash, int keyLength) {
        if (count == hashes.length) {
            hashes = Arrays.copyOf(hashes, count * 2);
            keyBytes = Arrays.copyOf(keyBytes, count * 2);
            pieceOf = Arrays.copyOf(pieceOf, count * 2);
            nodeOf = Arrays.copyOf(nodeOf, count * 2);
            nodeKeys = Arrays.copyOf(nodeKeys, count * 2);
            nodeBytes = Arrays.copyOf(nodeBytes, count * 2);
        }
        hashes[count] = hash;
        keyBytes[count++] = NodeBuilder.bytesOf(keyLength);
    }

    /**
     * Spreads the keys.
     *
     * @param low where the interval begins
     * @param width its length; 0 for all hashes
     * @param placeCountMax no interval gets narrower than its part of so many
     */
    void make(long low, long width, long placeCountMax) {
        pieces.clear();
        bucketCountMax = placeCountMax;
        halve(low, width);
    }

    private void halve(long low, long width) {
        int keyCount = 0;
        int nodeCount = 1;
        for (int i = 0; i < count; i++) {
            if (isWithin(hashes[i], low, width)) {
                keyCount++;
                pieceOf[i] = pieces.size();
            }
        }
        boolean isLast = keyCount <= CHAIN_KEY_COUNT || isNarrow(width);
        if (isLast || keyCount <= Node.SLOT_COUNT) {
            nodeCount = pack(low, width);
        }
        if (isLast || (nodeCount == 1 && keyCount <= Node.SLOT_COUNT)) {
            pieces.add(new Piece(low, width, nodeCount));
        } else {
            long half = width == 0 ? Long.MIN_VALUE : width >>> 1;
            halve(low, half);
            halve(low + half, half);
        }
    }

    private boolean isNarrow(long width) {
        return width != 0
                && 1L << (Long.SIZE - Long.numberOfTrailingZeros(width)) >= bucketCountMax;
    }

    /** Says which node each key of an interval goes to, and how many there are. */
    private int pack(long low, long width) {
        int nodeCount = 1;
        nodeKeys[0] = 0;
        nodeBytes[0] = 0;
        for (int i = 0; i < count; i++) {
            if (!isWithin(hashes[i], low, width)) {
                continue;
            }
            int node = 0;
            while (node < nodeCount
                    && (nodeKeys[node] == Node.SLOT_COUNT
                            || nodeBytes[node] + keyBytes[i] > NodeBuilder.capacity())) {
                node++;
            }
            if (node == nodeCount) {
                nodeKeys[node] = 0;
                nodeBytes[node] = 0;
                nodeCount++;
            }
            nodeOf[i] = node;
            nodeKeys[node]++;
            nodeBytes[node] += keyBytes[i];
        }
        return nodeCount;
    }

    /** The buckets, in the order of their hashes. */
    List<Piece> pieces() {
        return pieces;
    }

    /** Whether the key that was added as the {@code index}th goes to a node of a piece. */
    boolean isIn(int index, int piece, int node) {
        return pieceOf[index] == piece && nodeOf[index] == node;
    }

    /** Whether a hash is in an interval; a width of 0 is all hashes. */
    static boolean isWithin(long hash, long low, long width) {
        return width == 0 || Long.compareUnsigned(hash - low, width) < 0;
    }
}
