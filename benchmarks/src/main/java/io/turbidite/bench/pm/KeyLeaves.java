package io.turbidite.bench.pm;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.pm.cells.Node;
import io.turbidite.pm.cells.NodeBuilder;
import io.turbidite.pm.cells.NodeImage;
import io.turbidite.pm.cells.Staged;
import io.turbidite.pm.region.CheckedWord;
import io.turbidite.pm.region.Region;
import io.turbidite.pm.region.RegionMemory;
import io.turbidite.pm.tree.LeafRoutes;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * The secondary-key layer of {@code pm.tree} for the baselines: keys in leaves of the same format,
 * each with a payload of 40 bits, behind the same routes, published with the same two fences.
 *
 * <p><em>Thread-safe</em> for one writer and any readers inside an epoch. Keys of one {@link
 * #publish} are put in ascending order.
 */
final class KeyLeaves {
    private final Region region;
    private final RegionMemory memory;
    private final Staged staged;
    private final NodeImage image = new NodeImage();
    private final NodeBuilder builder = new NodeBuilder();
    private final int[] sorted = new int[Node.SLOT_COUNT];
    private final Slice key = new Slice();
    private volatile LeafRoutes routes;

    /** Of the leaf in {@link #image}; -1 if there is none. */
    private long place = -1;

    private @Nullable MemorySegment placeEnd;

    private KeyLeaves(Region region, LeafRoutes routes) {
        this.region = region;
        this.memory = region.memory();
        this.staged = new Staged(region);
        this.routes = routes;
    }

    /** Opens the leaves of a region that was made with an empty tree. */
    static KeyLeaves open(Region region) {
        NodeImage image = new NodeImage();
        image.claim(region, region.treeRoot());
        long first = Node.next(region.memory(), region.treeRoot());
        image.claim(region, first);
        return new KeyLeaves(region, LeafRoutes.of(List.of(new byte[0]), List.of(first)));
    }

    LeafRoutes routes() {
        return routes;
    }

    /** The payload of a key; -1 if it is not there. */
    long find(Slice wanted) {
        LeafRoutes current = routes;
        long leaf = current.leaf(current.find(wanted));
        long cell = Node.find(memory, leaf, wanted, Node.hash(wanted));
        return cell < 0 ? -1 : payload(cell);
    }

    private long payload(long cell) {
        return payload(memory, cell, memory.getLong(cell));
    }

    /** What a sound word of a cell carries. */
    static long payload(RegionMemory memory, long cell, long word) {
        if (!CheckedWord.isSound(word, NodeImage.keySum(memory, cell))) {
            throw new CorruptionException(
                    memory.name(), cell, "word of a key", "checked", Long.toHexString(word));
        }
        return CheckedWord.payload(word);
    }

    // ---- the writer -----------------------------------------------------------------------------

    /** Whether a key is behind all keys of the leaf that was written to last. */
    boolean isBehindLeaf(Slice wanted) {
        MemorySegment end = placeEnd;
        return place < 0
                || (end != null
                        && Bytes.compare(
                                        wanted.segment(),
                                        wanted.offset(),
                                        wanted.length(),
                                        end,
                                        0,
                                        (int) end.byteSize())
                                >= 0);
    }

    /** The payload that a key has, with what was put before; -1 if it has none. */
    long staged(Slice wanted) {
        aim(wanted);
        int slot = image.find(wanted, Node.hash(wanted));
        return slot < 0 ? -1 : CheckedWord.payload(image.word(slot));
    }

    /** Gives a key a payload; readers see it after {@link #publish}. */
    void put(Slice put, long payload) {
        aim(put);
        long hash = Node.hash(put);
        int slot = image.find(put, hash);
        if (slot >= 0) {
            long cell = image.cell(slot);
            long word = CheckedWord.of(payload, NodeImage.keySum(memory, cell));
            image.setWord(slot, word);
            staged.add(cell, word);
            return;
        }
        if (!image.fits(put.length())) {
            split();
            aim(put);
        }
        slot = image.add(region, 0, put, hash);
        long cell = image.cell(slot);
        long word = CheckedWord.of(payload, NodeImage.keySum(memory, cell));
        memory.putLong(cell, word);
        image.setWord(slot, word);
    }

    private void aim(Slice wanted) {
        if (!isBehindLeaf(wanted)) {
            return;
        }
        leave();
        LeafRoutes current = routes;
        place = current.find(wanted);
        long next = current.next(place);
        placeEnd = next < 0 ? null : current.bound(next);
        image.load(memory, current.leaf(place));
    }

    private void leave() {
        if (place >= 0) {
            image.stageValid(staged);
            place = -1;
        }
    }

    /** Replaces the leaf by two copies, half of its keys each. */
    private void split() {
        int count = image.sorted(sorted);
        int half = count / 2;
        LeafRoutes current = routes;
        byte[] lowBound = current.bound(place).toArray(Bytes.U8);
        byte[] highBound = image.key(sorted[half], key).toByteArray();
        long low = region.pages().allocate(Node.BYTES);
        long high = region.pages().allocate(Node.BYTES);
        long behind = Node.next(memory, image.node());
        store(low, 0, half, high);
        store(high, half, count, behind);
        long before = current.previous(place);
        NodeImage.stageLink(staged, before < 0 ? region.treeRoot() : current.leaf(before), low);
        region.pages().retire(image.node());
        routes = current.replaced(place, List.of(lowBound, highBound), new long[] {low, high});
        place = -1;
    }

    private void store(long node, int from, int end, long next) {
        for (int i = from; i < end; i++) {
            image.key(sorted[i], key);
            var _ = builder.add(image.word(sorted[i]), key, Node.hash(key));
        }
        builder.store(region, node, Node.Kind.LEAF, 0, next);
    }

    /** Writes what was put; it counts after {@link #publish}. */
    void prepare() {
        leave();
    }

    /** Makes durable, and shows to readers, what was put. */
    void publish() {
        leave();
        staged.publish();
        region.pages().release();
    }
}
