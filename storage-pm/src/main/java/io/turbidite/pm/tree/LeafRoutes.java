package io.turbidite.pm.tree;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Which leaf has which keys: two levels of sorted bounds. A place is that of a leaf in these
 * routes. Public for what is measured beside the tree, with the same secondary-key layer.
 *
 * <p><em>Immutable</em>: readers keep the routes they began with. A change copies one block and the
 * list of blocks. Lies on the heap: about 60 bytes a leaf with short keys.
 */
public final class LeafRoutes {
    private static final int BLOCK_LEAF_COUNT_MAX = 256;

    private final List<Block> blocks;

    /** A run of leaves; the bound of each is the smallest key that may be in it. */
    private static final class Block {
        final MemorySegment[] bounds;
        final long[] prefixes;
        final long[] leaves;

        Block(MemorySegment[] bounds, long[] leaves) {
            this.bounds = bounds;
            this.leaves = leaves;
            this.prefixes = new long[leaves.length];
            for (int i = 0; i < leaves.length; i++) {
                prefixes[i] = Bytes.prefix(bounds[i], 0, (int) bounds[i].byteSize());
            }
        }
    }

    private LeafRoutes(List<Block> blocks) {
        this.blocks = blocks;
    }

    /** Routes to leaves in order; the first bound is empty. */
    public static LeafRoutes of(List<byte[]> bounds, List<Long> leaves) {
        List<Block> blocks = new ArrayList<>();
        int half = BLOCK_LEAF_COUNT_MAX / 2;
        for (int from = 0; from < leaves.size(); from += half) {
            int end = Math.min(from + half, leaves.size());
            blocks.add(new Block(
                    bounds.subList(from, end).stream()
                            .map(MemorySegment::ofArray)
                            .toArray(MemorySegment[]::new),
                    leaves.subList(from, end).stream().mapToLong(leaf -> leaf).toArray()));
        }
        return new LeafRoutes(List.copyOf(blocks));
    }

    /** The place of the leaf that has a key, if any leaf has it. */
    public long find(Slice key) {
        long prefix = Bytes.prefix(key.segment(), key.offset(), key.length());
        int low = 0;
        int high = blocks.size() - 1;
        while (low < high) {
            int middle = (low + high + 1) >>> 1;
            if (isAtOrBelow(blocks.get(middle), 0, prefix, key)) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        Block block = blocks.get(low);
        int from = 0;
        int end = block.leaves.length - 1;
        while (from < end) {
            int middle = (from + end + 1) >>> 1;
            if (isAtOrBelow(block, middle, prefix, key)) {
                from = middle;
            } else {
                end = middle - 1;
            }
        }
        return placeOf(low, from);
    }

    private static boolean isAtOrBelow(Block block, int index, long prefix, Slice key) {
        int order = Long.compareUnsigned(block.prefixes[index], prefix);
        if (order != 0) {
            return order < 0;
        }
        MemorySegment bound = block.bounds[index];
        return Bytes.compare(
                        bound, 0, (int) bound.byteSize(), key.segment(), key.offset(), key.length())
                <= 0;
    }

    private static long placeOf(int block, int index) {
        return (long) block << 32 | index;
    }

    private static int blockOf(long place) {
        return (int) (place >>> 32);
    }

    private static int indexOf(long place) {
        return (int) place;
    }

    public long first() {
        return 0;
    }

    public long last() {
        int block = blocks.size() - 1;
        return placeOf(block, blocks.get(block).leaves.length - 1);
    }

    /** The place behind; -1 if there is none. */
    public long next(long place) {
        int block = blockOf(place);
        if (indexOf(place) + 1 < blocks.get(block).leaves.length) {
            return place + 1;
        }
        return block + 1 < blocks.size() ? placeOf(block + 1, 0) : -1;
    }

    /** The place before; -1 if there is none. */
    public long previous(long place) {
        if (indexOf(place) > 0) {
            return place - 1;
        }
        int block = blockOf(place) - 1;
        return block < 0 ? -1 : placeOf(block, blocks.get(block).leaves.length - 1);
    }

    /** The leaf at a place. */
    public long leaf(long place) {
        return blocks.get(blockOf(place)).leaves[indexOf(place)];
    }

    /** The smallest key that may be in the leaf at a place. */
    public MemorySegment bound(long place) {
        return blocks.get(blockOf(place)).bounds[indexOf(place)];
    }

    /** How many leaves there are. */
    public long leafCount() {
        long count = 0;
        for (Block block : blocks) {
            count += block.leaves.length;
        }
        return count;
    }

    /**
     * Routes with other leaves where there was one.
     *
     * @param bounds theirs, at least one
     * @param leaves as many of them as there are bounds
     */
    public LeafRoutes replaced(long place, List<byte[]> bounds, long[] leaves) {
        Block before = blocks.get(blockOf(place));
        int index = indexOf(place);
        int added = bounds.size();
        int count = before.leaves.length - 1 + added;
        MemorySegment[] newBounds = new MemorySegment[count];
        long[] newLeaves = new long[count];
        System.arraycopy(before.bounds, 0, newBounds, 0, index);
        System.arraycopy(before.leaves, 0, newLeaves, 0, index);
        for (int i = 0; i < added; i++) {
            newBounds[index + i] = MemorySegment.ofArray(bounds.get(i));
            newLeaves[index + i] = leaves[i];
        }
        int rest = before.leaves.length - index - 1;
        System.arraycopy(before.bounds, index + 1, newBounds, index + added, rest);
        System.arraycopy(before.leaves, index + 1, newLeaves, index + added, rest);
        List<Block> copy = new ArrayList<>(blocks);
        if (count <= BLOCK_LEAF_COUNT_MAX) {
            copy.set(blockOf(place), new Block(newBounds, newLeaves));
        } else {
            int half = count / 2;
            copy.set(
                    blockOf(place),
                    new Block(Arrays.copyOf(newBounds, half), Arrays.copyOf(newLeaves, half)));
            copy.add(
                    blockOf(place) + 1,
                    new Block(
                            Arrays.copyOfRange(newBounds, half, count),
                            Arrays.copyOfRange(newLeaves, half, count)));
        }
        return new LeafRoutes(copy);
    }
}
