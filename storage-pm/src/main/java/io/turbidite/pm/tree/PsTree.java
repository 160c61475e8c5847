package io.turbidite.pm.tree;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.pm.cells.Node;
import io.turbidite.pm.cells.NodeBuilder;
import io.turbidite.pm.cells.NodeImage;
import io.turbidite.pm.cells.Staged;
import io.turbidite.pm.postings.Judge;
import io.turbidite.pm.postings.PostingCursor;
import io.turbidite.pm.postings.PostingWriter;
import io.turbidite.pm.region.Region;
import io.turbidite.pm.region.RegionMemory;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Secondary keys in order, each with a list of primary keys and timestamps, newest first.
 *
 * <p><em>Thread-safe</em> for one writer and any readers. A reader is inside an epoch of the region
 * from its first step to its last; it takes no lock and changes nothing.
 *
 * <p>The writer is fed in one of two ways, between {@link Region#begin} and {@link Region#commit}:
 *
 * <ol>
 *   <li>absorption: {@link #add} any number of entries, sorted by secondary key and then by
 *       timestamp, then {@link #flush}. About a thousand entries share two fences;
 *   <li>one by one (PERS24 §4.2.2): {@link #insert}, two fences each.
 * </ol>
 *
 * <p>Entries that are added later are newer, for each key.
 */
public final class PsTree {
    /** How many entries share the fences. */
    static final int SLICE_ENTRY_COUNT = 1_024;

    /** A leaf with more waiting entries is written before its next key comes. */
    static final int RUN_ENTRY_COUNT = 4_096;

    private final Region region;
    private final RegionMemory memory;
    private final PostingWriter postings;
    private final Staged staged;
    private final LeafWriter writer;
    private final EntryRun run = new EntryRun();
    private volatile LeafRoutes routes;

    /** Of the leaf that {@link #run} belongs to. */
    private long place;

    private @Nullable MemorySegment placeEnd;
    private int sliceEntryCount;
    private long entryCount;

    private PsTree(Region region, Judge judge) {
        this.region = region;
        this.memory = region.memory();
        this.postings = new PostingWriter(region, judge);
        this.staged = new Staged(region);
        this.writer = new LeafWriter(region, postings, staged);
        this.routes = read();
    }

    /** Writes an empty tree to a region, and says where it begins. */
    public static long create(Region region) {
        long root = region.pages().allocate(Node.BYTES);
        long first = region.pages().allocate(Node.BYTES);
        NodeBuilder builder = new NodeBuilder();
        builder.store(region, root, Node.Kind.LEAF, 0, first);
        builder.store(region, first, Node.Kind.LEAF, 0, 0);
        return root;
    }

    /**
     * Opens the tree that begins at the region's root: reads and checks all of it, and claims its
     * pages.
     *
     * @param judge says what is garbage
     * @throws CorruptionException if anything is not as it was written
     */
    public static PsTree open(Region region, Judge judge) {
        return new PsTree(region, judge);
    }

    // ---- readers --------------------------------------------------------------------------------

    /** The pointer to a key's list, for {@link PostingCursor#open}; 0 if it has none. */
    public long find(Slice secondaryKey) {
        LeafRoutes current = routes;
        long leaf = current.leaf(current.find(secondaryKey));
        long cell = Node.find(memory, leaf, secondaryKey, Node.hash(secondaryKey));
        return cell < 0 ? 0 : KeyWord.pointer(memory, cell);
    }

    /** A cursor for the lists of this tree. */
    public PostingCursor postings() {
        return new PostingCursor(memory, region.spec().pageBytes());
    }

    /** A cursor for the keys of this tree. */
    public TreeCursor keys() {
        return new TreeCursor(this, memory);
    }

    LeafRoutes routes() {
        return routes;
    }

    /** How many leaves it has. */
    public long leafCount() {
        return routes.leafCount();
    }

    /** How many entries are there physically. */
    public long entryCount() {
        return entryCount - postings.collectedCount();
    }

    /** How many pages were split since the opening. */
    public long splitCount() {
        return writer.splitCount();
    }

    // ---- the writer -----------------------------------------------------------------------------

    /**
     * Adds an entry behind those before it, in the order of secondary keys, then of timestamps;
     * readers see it after {@link #flush} at the latest.
     *
     * @throws InvalidRequestException if a key is longer than it may be
     */
    public void add(Slice secondaryKey, Slice primaryKey, long timestamp) {
        checkKeys(secondaryKey, primaryKey);
        int order = run.compareWithLast(secondaryKey);
        if (order < 0) {
            throw new IllegalStateException("keys that are not sorted");
        }
        if (run.entryCount() == 0) {
            aim(secondaryKey);
        } else if (order > 0 && isBehindLeaf(secondaryKey)) {
            prepare();
            if (sliceEntryCount >= SLICE_ENTRY_COUNT) {
                publish();
            }
            aim(secondaryKey);
        } else if (run.entryCount() >= RUN_ENTRY_COUNT) {
            prepare();
            publish();
            aim(secondaryKey);
        }
        run.add(secondaryKey, primaryKey, timestamp);
    }

    private void checkKeys(Slice secondaryKey, Slice primaryKey) {
        if (secondaryKey.length() > Limits.KEY_BYTES_MAX) {
            throw Limits.keyTooLong("a secondary key", secondaryKey.length());
        }
        int primaryBytesMax = region.spec().primaryKeyBytesMax();
        if (primaryKey.length() > primaryBytesMax) {
            throw new InvalidRequestException(
                    "a primary key of %d bytes is longer than a page of %d bytes can hold, which is %d"
                            .formatted(
                                    primaryKey.length(),
                                    region.spec().pageBytes(),
                                    primaryBytesMax));
        }
    }

    private void aim(Slice secondaryKey) {
        place = routes.find(secondaryKey);
        long next = routes.next(place);
        placeEnd = next < 0 ? null : routes.bound(next);
    }

    private boolean isBehindLeaf(Slice key) {
        MemorySegment end = placeEnd;
        return end != null
                && Bytes.compare(key.segment(), key.offset(), key.length(), end, 0, (int)
                                end.byteSize())
                        >= 0;
    }

    /** Writes what was added; readers see it after {@link #publish}. */
    public void prepare() {
        if (run.entryCount() > 0) {
            routes = writer.write(routes, place, predecessor(place), run);
            sliceEntryCount += run.entryCount();
            entryCount += run.entryCount();
            run.clear();
        }
    }

    private long predecessor(long of) {
        long before = routes.previous(of);
        return before < 0 ? region.treeRoot() : routes.leaf(before);
    }

    /** Makes durable, and shows to readers, what was prepared. */
    public void publish() {
        staged.publish();
        sliceEntryCount = 0;
        region.pages().release();
        postings.publishGarbage();
    }

    /** Makes durable, and shows to readers, all that was added. */
    public void flush() {
        prepare();
        publish();
    }

    /** Adds one entry and makes it durable. */
    public void insert(Slice secondaryKey, Slice primaryKey, long timestamp) {
        add(secondaryKey, primaryKey, timestamp);
        flush();
    }

    /**
     * Looks after a key that a reader has met stale entries of. If over half of its list is
     * garbage, all of it is copied; else what it has in its shared page, if that is the better for
     * it, and garbage behind is marked.
     */
    public void collect(Slice secondaryKey) {
        assert run.entryCount() == 0 && staged.count() == 0 : "in the middle of an absorption";
        long pointer = find(secondaryKey);
        boolean whole = postings.isMostlyGarbage(pointer);
        if (pointer != 0 && (whole || postings.isScattered(pointer))) {
            long its = routes.find(secondaryKey);
            routes = writer.rewrite(routes, its, predecessor(its), secondaryKey, whole);
            publish();
            pointer = find(secondaryKey);
        }
        if (!whole) {
            postings.markGarbage(pointer);
            publish();
        }
    }

    /** Marks all entries above a timestamp: what a cut absorption has left (research 2.6). */
    public void markAbove(long timestamp) {
        TreeCursor cursor = keys();
        cursor.open(null, null, false);
        while (cursor.next()) {
            postings.markAbove(cursor.pointer(), timestamp);
        }
        region.dirty().settle();
    }

    // ---- opening --------------------------------------------------------------------------------

    private LeafRoutes read() {
        NodeImage image = new NodeImage();
        int[] sorted = new int[Node.SLOT_COUNT];
        List<byte[]> bounds = new ArrayList<>();
        List<Long> leaves = new ArrayList<>();
        long node = region.treeRoot();
        image.claim(region, node);
        image.check(memory, Node.Kind.LEAF);
        require(image.count() == 0, node, "keys before the first leaf", "none", "some");
        node = Node.next(memory, node);
        require(node != 0, region.treeRoot(), "first leaf", "there", "missing");
        byte[] last = new byte[0];
        while (node != 0) {
            image.claim(region, node);
            image.check(memory, Node.Kind.LEAF);
            int count = image.sorted(sorted);
            if (count > 0) {
                byte[] low = image.key(sorted[0]).toByteArray();
                require(
                        leaves.isEmpty() || image.compare(sorted[0], Slice.of(last)) > 0,
                        node,
                        "order of leaves",
                        "ascending",
                        "not");
                bounds.add(leaves.isEmpty() ? new byte[0] : low);
                last = image.key(sorted[count - 1]).toByteArray();
            } else {
                // of releases before leaves without keys were left out: it takes what is behind
                // last
                bounds.add(leaves.isEmpty() ? last : Arrays.copyOf(last, last.length + 1));
            }
            leaves.add(node);
            claimLists(image, sorted, count);
            node = Node.next(memory, node);
        }
        return LeafRoutes.of(bounds, leaves);
    }

    /** Checks the lists of a leaf; no page of theirs is another leaf's. */
    private void claimLists(NodeImage image, int[] sorted, int count) {
        List<Long> claimed = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            long cell = image.cell(sorted[i]);
            long pointer = KeyWord.pointer(memory, cell, image.word(sorted[i]));
            if (pointer == 0) {
                continue;
            }
            if (pointer >= memory.byteSize()) {
                require(false, cell, "pointer of a key", "inside the region", "" + pointer);
            }
            long page = postings.sharedPageOf(pointer);
            if (page != 0 && !claimed.contains(page)) {
                require(
                        region.pages().claim(page, region.spec().pageBytes()),
                        cell,
                        "page of a list",
                        "one that nothing else has",
                        String.valueOf(page));
                claimed.add(page);
            }
            entryCount += postings.claim(pointer, page);
        }
    }

    private void require(boolean holds, long at, String what, String expected, String found) {
        if (!holds) {
            throw new CorruptionException(memory.name(), at, what, expected, found);
        }
    }
}
