package io.turbidite.pm.tree;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.pm.cells.Node;
import io.turbidite.pm.cells.NodeBuilder;
import io.turbidite.pm.cells.NodeImage;
import io.turbidite.pm.cells.Staged;
import io.turbidite.pm.postings.EntryBuffer;
import io.turbidite.pm.postings.PostingWriter;
import io.turbidite.pm.region.Region;
import io.turbidite.pm.region.RegionMemory;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Brings a run of entries into one leaf.
 *
 * <ol>
 *   <li>Each key's entries are appended to the page of the key's list; a key without one takes its
 *       neighbour's, so that a page has consecutive keys.
 *   <li>A page without room is split: the lists of all keys that share it are copied, without
 *       garbage, to pages that are half full then, with the new entries among them. What is more
 *       than a page goes to exclusive pages, oldest first.
 *   <li>New pointers, and new keys where the leaf has room, are staged. Else the leaf is replaced
 *       by copies, and its predecessor's link is staged; a page whose keys would be in two copies
 *       is split first.
 * </ol>
 *
 * <p><em>Confined to the writer.</em> Nothing that a reader sees changes before the publication.
 */
final class LeafWriter {
    /** How full copies of leaves are made, in per cent. */
    private static final int FILL_PERCENT = 75;

    private final Region region;
    private final RegionMemory memory;
    private final PostingWriter postings;
    private final Staged staged;
    private final NodeImage image = new NodeImage();
    private final NodeBuilder builder = new NodeBuilder();
    private final EntryBuffer entries = new EntryBuffer();
    private final EntryBuffer older = new EntryBuffer();
    private final int[] sorted = new int[Node.SLOT_COUNT];
    private final Slice key = new Slice();

    /** The leaf's keys and those of the run, in order; reused. */
    private LeafItem[] items = {};

    private int itemCount;

    // ---- a leaf that is replaced: where in the items each copy ends, and the copies
    private int[] partEnds = new int[4];
    private int partCount;
    private long[] leaves = new long[4];

    /** Pages that copies of a leaf before this one have. */
    private long[] pagesBefore = new long[Node.SLOT_COUNT];

    private int pageCount;
    private final EntryRun nothing = new EntryRun();
    private long splitCount;

    LeafWriter(Region region, PostingWriter postings, Staged staged) {
        this.region = region;
        this.memory = region.memory();
        this.postings = postings;
        this.staged = staged;
    }

    /**
     * Writes a run to the leaf at a place.
     *
     * @param predecessor the node before the leaf
     * @return the routes from now on
     */
    LeafRoutes write(LeafRoutes routes, long place, long predecessor, EntryRun run) {
        image.load(memory, routes.leaf(place));
        if (run.keyCount() == 1 && appendInPlace(run)) {
            return routes;
        }
        merge(run);
        int next = 0;
        for (int i = 0; i < run.keyCount(); i++) {
            Slice wanted = run.key(i, key);
            while (items[next].key.compareBytes(wanted) != 0) {
                next++;
            }
            entries.clear();
            run.newestFirst(i, entries);
            add(next);
        }
        return finish(routes, place, predecessor);
    }

    /**
     * Adds the entries of one key to the page of its list, without a look at the leaf's other keys,
     * which would be sorted for it; false if the key or the room is missing.
     */
    private boolean appendInPlace(EntryRun run) {
        Slice wanted = run.key(0, key);
        int slot = image.find(wanted, Node.hash(wanted));
        if (slot < 0) {
            return false;
        }
        long cell = image.cell(slot);
        long pointer = KeyWord.pointer(memory, cell, image.word(slot));
        long page = postings.sharedPageOf(pointer);
        entries.clear();
        run.newestFirst(0, entries);
        if (page == 0 || !postings.hasRoom(page, entries)) {
            return false;
        }
        long appended = postings.append(page, pointer, entries);
        staged.add(cell, KeyWord.of(appended, NodeImage.keySum(memory, cell)));
        return true;
    }

    /**
     * Copies a list anew, without garbage; does nothing if the key is not there.
     *
     * @param whole or only what it has in its shared page
     */
    LeafRoutes rewrite(
            LeafRoutes routes, long place, long predecessor, Slice wanted, boolean whole) {
        image.load(memory, routes.leaf(place));
        merge(nothing);
        for (int i = 0; i < itemCount; i++) {
            LeafItem item = items[i];
            if (item.key.compareBytes(wanted) == 0) {
                entries.clear();
                long page = postings.sharedPageOf(item.pointer);
                if (page == 0) {
                    page = neighbourPage(i);
                }
                split(page, i, whole);
            }
        }
        return finish(routes, place, predecessor);
    }

    /** Fills the items with the leaf's keys and those of the run, in order. */
    private void merge(EntryRun run) {
        itemCount = 0;
        int count = image.sorted(sorted);
        int old = 0;
        int fresh = 0;
        while (old < count || fresh < run.keyCount()) {
            int order = old == count
                    ? 1
                    : fresh == run.keyCount()
                            ? -1
                            : image.compare(sorted[old], run.key(fresh, key));
            LeafItem item = nextItem();
            if (order > 0) {
                run.key(fresh++, item.set(LeafItem.NEW, 0).key);
            } else {
                int slot = sorted[old++];
                image.key(
                        slot,
                        item.set(slot, KeyWord.pointer(memory, image.cell(slot), image.word(slot)))
                                .key);
                fresh += order == 0 ? 1 : 0;
            }
        }
    }

    private LeafItem nextItem() {
        if (itemCount == items.length) {
            items = Arrays.copyOf(items, itemCount + Node.SLOT_COUNT);
            for (int i = itemCount; i < items.length; i++) {
                items[i] = new LeafItem();
            }
        }
        return items[itemCount++];
    }

    /** Adds {@link #entries} to the list of an item. */
    private void add(int index) {
        LeafItem item = items[index];
        long page = postings.sharedPageOf(item.pointer);
        if (page == 0) {
            page = neighbourPage(index);
        }
        if (page != 0 && postings.hasRoom(page, entries)) {
            item.pointer = postings.append(page, item.pointer, entries);
        } else {
            split(page, index, false);
        }
    }

    /** The shared page of the nearest key before, or of the nearest behind; 0 if there is none. */
    private long neighbourPage(int index) {
        for (int i = index - 1; i >= 0; i--) {
            long page = postings.sharedPageOf(items[i].pointer);
            if (page != 0) {
                return page;
            }
        }
        for (int i = index + 1; i < itemCount; i++) {
            long page = postings.sharedPageOf(items[i].pointer);
            if (page != 0) {
                return page;
            }
        }
        return 0;
    }

    /**
     * Copies the lists of all keys that share a page, and of one item with {@link #entries} before
     * it.
     *
     * @param page 0 for the item alone
     * @param whole whether to copy all of the item's list
     */
    private void split(long page, int index, boolean whole) {
        long out = 0;
        for (int i = 0; i < itemCount; i++) {
            LeafItem item = items[i];
            boolean isMeant = i == index;
            if (isMeant || (page != 0 && postings.sharedPageOf(item.pointer) == page)) {
                out = copyList(item, page, isMeant ? entries : emptied(), isMeant && whole, out);
            }
        }
        if (page != 0) {
            postings.retire(page);
            splitCount++;
        }
    }

    private EntryBuffer emptied() {
        older.clear();
        return older;
    }

    /** Copies what a list has in {@code page} behind {@code target} to {@code out}, or anew. */
    private long copyList(LeafItem item, long page, EntryBuffer target, boolean whole, long out) {
        long list = postings.collect(item.pointer, page, whole, target);
        list = postings.peel(list, target);
        long to = out;
        if (target.count() > 0) {
            if (to == 0 || postings.isHalfFull(to) || !postings.hasRoom(to, target)) {
                to = postings.newPage(false);
            }
            list = postings.append(to, list, target);
        }
        item.pointer = list;
        return to;
    }

    // ---- the leaf -------------------------------------------------------------------------------

    private LeafRoutes finish(LeafRoutes routes, long place, long predecessor) {
        if (!addNewKeys()) {
            return replace(routes, place, predecessor);
        }
        for (int i = 0; i < itemCount; i++) {
            LeafItem item = items[i];
            if (item.slot != LeafItem.NEW && item.pointer != item.pointerBefore) {
                long cell = image.cell(item.slot);
                staged.add(cell, KeyWord.of(item.pointer, NodeImage.keySum(memory, cell)));
            }
        }
        image.stageValid(staged);
        return routes;
    }

    /** False if the leaf has no room for all of them. */
    private boolean addNewKeys() {
        for (int i = 0; i < itemCount; i++) {
            LeafItem item = items[i];
            if (item.slot == LeafItem.NEW && item.pointer != 0) {
                if (!image.fits(item.key.length())) {
                    return false;
                }
                int slot = image.add(region, 0, item.key, Node.hash(item.key));
                long cell = image.cell(slot);
                memory.putLong(cell, KeyWord.of(item.pointer, NodeImage.keySum(memory, cell)));
            }
        }
        return true;
    }

    private LeafRoutes replace(LeafRoutes routes, long place, long predecessor) {
        int bytes = 0;
        int count = 0;
        for (int i = 0; i < itemCount; i++) {
            LeafItem item = items[i];
            if (item.pointer != 0) {
                bytes += NodeBuilder.bytesOf(item.key.length());
                count++;
            }
        }
        int leafCount = Math.max(
                (count * 100 + Node.SLOT_COUNT * FILL_PERCENT - 1)
                        / (Node.SLOT_COUNT * FILL_PERCENT),
                (bytes * 100 + NodeBuilder.capacity() * FILL_PERCENT - 1)
                        / (NodeBuilder.capacity() * FILL_PERCENT));
        part((bytes + leafCount - 1) / leafCount, (count + leafCount - 1) / leafCount);
        separatePages();
        dropEmptyParts();
        List<byte[]> bounds = new ArrayList<>();
        for (int part = 0; part < partCount; part++) {
            bounds.add(
                    part == 0
                            ? routes.bound(place).toArray(Bytes.U8)
                            : items[partStart(part)].key.toByteArray());
            leaves[part] = region.pages().allocate(Node.BYTES);
        }
        long behind = Node.next(memory, image.node());
        for (int part = 0; part < partCount; part++) {
            for (int i = partStart(part); i < partEnds[part]; i++) {
                if (items[i].pointer != 0) {
                    addToBuilder(items[i]);
                }
            }
            builder.store(
                    region,
                    leaves[part],
                    Node.Kind.LEAF,
                    0,
                    part + 1 < partCount ? leaves[part + 1] : behind);
        }
        NodeImage.stageLink(staged, predecessor, leaves[0]);
        region.pages().retire(image.node());
        return routes.replaced(place, bounds, leaves);
    }

    private int partStart(int part) {
        return part == 0 ? 0 : partEnds[part - 1];
    }

    private void addToBuilder(LeafItem item) {
        long head = builder.head(item.key);
        long word = KeyWord.of(item.pointer, NodeBuilder.keySum(head));
        var _ = builder.add(word, head, item.key, Node.hash(item.key));
    }

    /** Parts the items with a list for leaves of about the same size. */
    private void part(int bytesEach, int countEach) {
        partCount = 0;
        int bytes = 0;
        int count = 0;
        for (int i = 0; i < itemCount; i++) {
            if (items[i].pointer == 0) {
                continue;
            }
            int itsBytes = NodeBuilder.bytesOf(items[i].key.length());
            if (count > 0
                    && (bytes + itsBytes > NodeBuilder.capacity()
                            || bytes >= bytesEach
                            || count >= Math.min(countEach, Node.SLOT_COUNT))) {
                endPart(i);
                bytes = 0;
                count = 0;
            }
            bytes += itsBytes;
            count++;
        }
        endPart(itemCount);
    }

    private void endPart(int end) {
        if (partCount == partEnds.length) {
            partEnds = Arrays.copyOf(partEnds, partCount * 2);
            leaves = Arrays.copyOf(leaves, partCount * 2);
        }
        partEnds[partCount++] = end;
    }

    /** Copies lists, so that each shared page has keys of one part alone. */
    private void separatePages() {
        pageCount = 0;
        for (int part = 0; part < partCount; part++) {
            int countBefore = pageCount;
            for (int i = partStart(part); i < partEnds[part]; i++) {
                long page = postings.sharedPageOf(items[i].pointer);
                if (page != 0 && wasSeen(page, countBefore)) {
                    long out = 0;
                    for (int other = i; other < partEnds[part]; other++) {
                        if (postings.sharedPageOf(items[other].pointer) == page) {
                            out = copyList(items[other], page, emptied(), false, out);
                            noteSeen(out);
                        }
                    }
                } else if (page != 0) {
                    noteSeen(page);
                }
            }
        }
    }

    /** Copying lists may have found that nothing of a part is needed: no leaf is made for it. */
    private void dropEmptyParts() {
        int kept = 0;
        for (int part = 0; part < partCount; part++) {
            if (hasList(part)) {
                partEnds[kept++] = partEnds[part];
            } else if (kept > 0) {
                partEnds[kept - 1] = partEnds[part];
            }
        }
        if (kept == 0) {
            partEnds[kept++] = itemCount;
        }
        partCount = kept;
    }

    private boolean hasList(int part) {
        for (int i = partStart(part); i < partEnds[part]; i++) {
            if (items[i].pointer != 0) {
                return true;
            }
        }
        return false;
    }

    private boolean wasSeen(long page, int countBefore) {
        for (int i = 0; i < countBefore; i++) {
            if (pagesBefore[i] == page) {
                return true;
            }
        }
        return false;
    }

    private void noteSeen(long page) {
        if (pageCount > 0 && pagesBefore[pageCount - 1] == page) {
            return;
        }
        if (pageCount == pagesBefore.length) {
            pagesBefore = Arrays.copyOf(pagesBefore, pageCount * 2);
        }
        pagesBefore[pageCount++] = page;
    }

    /** How many pages were split so far. */
    long splitCount() {
        return splitCount;
    }
}
