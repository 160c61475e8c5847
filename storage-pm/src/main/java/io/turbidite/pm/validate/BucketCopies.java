package io.turbidite.pm.validate;

import io.turbidite.core.bytes.Slice;
import io.turbidite.pm.cells.Node;
import io.turbidite.pm.cells.NodeBuilder;
import io.turbidite.pm.cells.NodeImage;
import io.turbidite.pm.region.Region;

import java.util.Arrays;

/**
 * Copies of a full bucket that have the new keys of a slice too: they are written whole, one store
 * of a link away from being there. An empty table is filled by that alone.
 *
 * <p><em>Confined to the writer</em>, and reused.
 */
final class BucketCopies {
    private final Region region;
    private final StaleTable stale;
    private final HashedKeys slice;
    private final BucketPlan plan = new BucketPlan();
    private final NodeBuilder builder = new NodeBuilder();
    private final Slice key = new Slice();
    private final Slice other = new Slice();
    private Bucket bucket = new Bucket();

    // ---- the keys of the plan: first those of the bucket, by node and slot, then new ones
    private int[] sources = new int[Node.SLOT_COUNT];
    private int oldCount;
    private int freshCount;
    private int forgottenCount;

    /** Where the keys are in the copies, by their numbers in the plan. */
    private long[] cells = new long[Node.SLOT_COUNT];

    /** The nodes, in order. */
    private long[] nodes = new long[16];

    private int nodeCount;

    /** The first node of each piece. */
    private int[] firstNodes = new int[16];

    BucketCopies(Region region, StaleTable stale, HashedKeys slice) {
        this.region = region;
        this.stale = stale;
        this.slice = slice;
    }

    /**
     * Plans copies for what a bucket has and for keys of the slice that belong to it. Known keys
     * get their new version on the way.
     *
     * @param full the bucket; what is not stored in it yet counts
     * @param width of its interval of hashes
     * @param from the place of the first key in the slice
     * @param end behind the last
     * @param placeCountMax no interval gets narrower than its part of so many
     * @return behind the last key that was taken
     */
    int plan(Bucket full, long width, int from, int end, long placeCountMax) {
        bucket = full;
        plan.reset();
        oldCount = 0;
        freshCount = 0;
        forgottenCount = 0;
        for (int node = 0; node < bucket.nodeCount(); node++) {
            addOld(node, bucket.image(node));
        }
        int at = from;
        while (at < end && take(slice.at(at))) {
            at++;
        }
        plan.make(bucket.low(), width, placeCountMax);
        return at;
    }

    private void addOld(int node, NodeImage image) {
        for (long left = image.valid(); left != 0; left &= left - 1) {
            int slot = Long.numberOfTrailingZeros(left);
            Slice old = image.key(slot, other);
            long hash = Node.hash(old);
            if (isForgotten(image.word(slot), old, hash)) {
                forgottenCount++;
                continue;
            }
            plan.add(hash, old.length());
            addSource(oldCount++, node * Node.SLOT_COUNT + slot);
        }
    }

    private void addSource(int at, int source) {
        if (at == sources.length) {
            sources = Arrays.copyOf(sources, at * 2);
            cells = Arrays.copyOf(cells, at * 2);
        }
        sources[at] = source;
    }

    /**
     * Whether the copies need not have a key. What the table of stale keys has stays: it looks for
     * the key in its cell, and a reader may stand on an entry that is gone.
     */
    private boolean isForgotten(long word, Slice of, long hash) {
        return VersionWord.isForgotten(word) && !stale.has(of, hash);
    }

    /** False if the key was taken before: its second version finds it in a copy. */
    private boolean take(int index) {
        Slice taken = slice.key(index, key);
        long hash = slice.hash(index);
        NodeImage image = bucket.imageOf(taken, hash);
        if (image != null) {
            int slot = image.find(taken, hash);
            long before = image.word(slot);
            if (!isForgotten(before, taken, hash)) {
                int keySum = NodeImage.keySum(region.memory(), image.cell(slot));
                long word = LayerVersion.merged(before, slice.word(index), keySum);
                image.setWord(slot, word);
                stale.superseded(taken, hash, image.cell(slot), before, slice.word(index), word);
                return true;
            }
        }
        for (int i = freshCount - 1; i >= 0; i--) {
            int earlier = sources[oldCount + i];
            if (HashedKeys.isApart(slice.hash(earlier), hash)) {
                break;
            }
            if (slice.key(earlier, other).contentEquals(taken)) {
                return false;
            }
        }
        plan.add(hash, taken.length());
        addSource(oldCount + freshCount++, index);
        return true;
    }

    /**
     * Writes the copies. Then the table of stale keys knows where the keys are: not before, as
     * readers look there.
     *
     * @param next the node behind the last
     */
    void write(long next) {
        allocate();
        for (int piece = 0; piece < plan.pieceCount(); piece++) {
            for (int node = 0; node < plan.nodeCount(piece); node++) {
                int number = firstNodes[piece] + node;
                write(
                        piece,
                        node,
                        nodes[number],
                        number + 1 < nodeCount ? nodes[number + 1] : next);
            }
        }
    }

    private void allocate() {
        nodeCount = 0;
        if (plan.pieceCount() > firstNodes.length) {
            firstNodes = new int[plan.pieceCount() * 2];
        }
        for (int piece = 0; piece < plan.pieceCount(); piece++) {
            firstNodes[piece] = nodeCount;
            for (int node = 0; node < plan.nodeCount(piece); node++) {
                if (nodeCount == nodes.length) {
                    nodes = Arrays.copyOf(nodes, nodeCount * 2);
                }
                nodes[nodeCount++] = region.pages().allocate(Node.BYTES);
            }
        }
    }

    private void write(int piece, int node, long target, long behind) {
        for (int place = plan.from(piece); place < plan.end(piece); place++) {
            int i = plan.at(place);
            if (plan.nodeOf(i) == node) {
                cells[i] = target + (i < oldCount ? addOld(i) : addFresh(sources[i]));
            }
        }
        builder.store(region, target, Node.Kind.BUCKET, plan.low(piece), behind);
        for (int place = plan.from(piece); place < plan.end(piece); place++) {
            int i = plan.at(place);
            if (plan.nodeOf(i) == node) {
                note(i);
            }
        }
    }

    private int addOld(int i) {
        NodeImage image = image(i);
        return builder.add(
                image.word(slot(i)), image.head(slot(i)), image.key(slot(i), key), plan.hash(i));
    }

    private int addFresh(int index) {
        Slice fresh = slice.key(index, key);
        long head = builder.head(fresh);
        long word = LayerVersion.merged(0, slice.word(index), NodeBuilder.keySum(head));
        return builder.add(word, head, fresh, slice.hash(index));
    }

    private void note(int i) {
        if (i < oldCount) {
            stale.moved(image(i).key(slot(i), key), plan.hash(i), cells[i]);
        } else {
            int index = sources[i];
            stale.superseded(
                    slice.key(index, key),
                    slice.hash(index),
                    cells[i],
                    0,
                    slice.word(index),
                    region.memory().getLong(cells[i]));
        }
    }

    private NodeImage image(int i) {
        return bucket.image(sources[i] / Node.SLOT_COUNT);
    }

    private int slot(int i) {
        return sources[i] % Node.SLOT_COUNT;
    }

    int pieceCount() {
        return plan.pieceCount();
    }

    /** The smallest hash of a piece. */
    long low(int piece) {
        return plan.low(piece);
    }

    /** The length of a piece's interval; 0 for all hashes. */
    long width(int piece) {
        return plan.width(piece);
    }

    /** The first node of a piece. */
    long first(int piece) {
        return nodes[firstNodes[piece]];
    }

    /** How many keys there are more in the copies than in the bucket. */
    int addedCount() {
        return freshCount - forgottenCount;
    }
}
