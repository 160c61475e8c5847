package io.turbidite.pm.validate;

import io.turbidite.pm.cells.Node;
import io.turbidite.pm.cells.NodeBuilder;

import java.util.Arrays;

/**
 * How the keys of a full bucket are spread over buckets that replace it. An interval of hashes is
 * halved until its keys fit into one node. Long keys don't wait for that: as soon as a bucket has
 * few keys, it may have several nodes. Else two keys would be parted where their hashes differ for
 * the first time, with an empty bucket for each bit on the way there.
 *
 * <p>A piece is an interval of hashes and the nodes of its bucket; pieces and the places of keys
 * are in the order of hashes.
 *
 * <p><em>Confined to the writer</em>, and reused.
 */
final class BucketPlan {
    /** A bucket of that many keys may have several nodes; a node has room for any key. */
    private static final int CHAIN_KEY_COUNT = 8;

    /** Keys of a bucket and of a part of a slice; their numbers take the low bits of the order. */
    private static final int KEY_COUNT_MAX = 1 << 17;

    // ---- keys, numbered in the order they were added
    private long[] hashes = new long[64];
    private int[] keyBytes = new int[64];
    private int[] nodeOf = new int[64];
    private int count;

    /** The keys by their hashes, unsigned. */
    private long[] order = new long[64];

    /** Those that are not in order when they come, while the order is made. */
    private long[] fronts = new long[64];

    // ---- pieces
    private long[] lows = new long[16];
    private long[] widths = new long[16];
    private int[] nodeCounts = new int[16];
    private int[] ends = new int[16];
    private int pieceCount;

    // ---- nodes of the piece that is made
    private int[] nodeKeys = new int[CHAIN_KEY_COUNT];
    private int[] nodeBytes = new int[CHAIN_KEY_COUNT];

    private long bucketCountMax;

    /** Begins another plan. */
    void reset() {
        count = 0;
    }

    /** Adds a key. */
    void add(long hash, int keyLength) {
        assert count < KEY_COUNT_MAX : count;
        if (count == hashes.length) {
            hashes = Arrays.copyOf(hashes, count * 2);
            keyBytes = Arrays.copyOf(keyBytes, count * 2);
            nodeOf = Arrays.copyOf(nodeOf, count * 2);
            order = Arrays.copyOf(order, count * 2);
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
        pieceCount = 0;
        bucketCountMax = placeCountMax;
        for (int i = 0; i < count; i++) {
            // intervals are never so narrow that the low bits matter
            order[i] = ((hashes[i] ^ Long.MIN_VALUE) & -KEY_COUNT_MAX) | i;
        }
        sort();
        halve(low, width, 0, count);
    }

    /**
     * Puts the keys in order. Those of a slice are, behind the few of a bucket: a sort of all made
     * objects, and took longer.
     */
    private void sort() {
        int sortedFrom = count;
        while (sortedFrom > 1 && order[sortedFrom - 2] <= order[sortedFrom - 1]) {
            sortedFrom--;
        }
        int front = Math.max(0, sortedFrom - 1);
        Arrays.sort(order, 0, front);
        if (front > fronts.length) {
            fronts = new long[Math.max(front, fronts.length * 2)];
        }
        System.arraycopy(order, 0, fronts, 0, front);
        int at = 0;
        int next = front;
        for (int to = 0; at < front; to++) {
            order[to] = next < count && order[next] < fronts[at] ? order[next++] : fronts[at++];
        }
    }

    /** The number of the key at a place of the order. */
    int at(int place) {
        return (int) order[place] & KEY_COUNT_MAX - 1;
    }

    /** Spreads the keys at the places from {@code from} to before {@code end}. */
    private void halve(long low, long width, int from, int end) {
        int keyCount = end - from;
        int nodeCount = 1;
        boolean isLast = keyCount <= CHAIN_KEY_COUNT || isNarrow(width);
        if (isLast || keyCount <= Node.SLOT_COUNT) {
            nodeCount = pack(from, end);
        }
        if (isLast || (nodeCount == 1 && keyCount <= Node.SLOT_COUNT)) {
            addPiece(low, width, nodeCount, end);
        } else {
            long half = width == 0 ? Long.MIN_VALUE : width >>> 1;
            int middle = from;
            while (middle < end && isWithin(hashes[at(middle)], low, half)) {
                middle++;
            }
            halve(low, half, from, middle);
            halve(low + half, half, middle, end);
        }
    }

    private boolean isNarrow(long width) {
        return width != 0
                && 1L << (Long.SIZE - Long.numberOfTrailingZeros(width)) >= bucketCountMax;
    }

    /** Says which node each key goes to, the first that has room, and how many there are. */
    private int pack(int from, int end) {
        int nodeCount = 1;
        nodeKeys[0] = 0;
        nodeBytes[0] = 0;
        for (int place = from; place < end; place++) {
            int i = at(place);
            int node = 0;
            while (node < nodeCount
                    && (nodeKeys[node] == Node.SLOT_COUNT
                            || nodeBytes[node] + keyBytes[i] > NodeBuilder.capacity())) {
                node++;
            }
            if (node == nodeCount) {
                if (node == nodeKeys.length) {
                    nodeKeys = Arrays.copyOf(nodeKeys, node * 2);
                    nodeBytes = Arrays.copyOf(nodeBytes, node * 2);
                }
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

    private void addPiece(long low, long width, int nodeCount, int end) {
        if (pieceCount == lows.length) {
            lows = Arrays.copyOf(lows, pieceCount * 2);
            widths = Arrays.copyOf(widths, pieceCount * 2);
            nodeCounts = Arrays.copyOf(nodeCounts, pieceCount * 2);
            ends = Arrays.copyOf(ends, pieceCount * 2);
        }
        lows[pieceCount] = low;
        widths[pieceCount] = width;
        nodeCounts[pieceCount] = nodeCount;
        ends[pieceCount++] = end;
    }

    int pieceCount() {
        return pieceCount;
    }

    /** The smallest hash of a piece. */
    long low(int piece) {
        return lows[piece];
    }

    /** The length of a piece's interval; 0 for all hashes. */
    long width(int piece) {
        return widths[piece];
    }

    int nodeCount(int piece) {
        return nodeCounts[piece];
    }

    /** The place of a piece's first key in the order of hashes. */
    int from(int piece) {
        return piece == 0 ? 0 : ends[piece - 1];
    }

    /** Behind the place of its last key. */
    int end(int piece) {
        return ends[piece];
    }

    /** The node of its piece that a key goes to, by the key's number. */
    int nodeOf(int index) {
        return nodeOf[index];
    }

    long hash(int index) {
        return hashes[index];
    }

    /** Whether a hash is in an interval; a width of 0 is all hashes. */
    static boolean isWithin(long hash, long low, long width) {
        return width == 0 || Long.compareUnsigned(hash - low, width) < 0;
    }
}
