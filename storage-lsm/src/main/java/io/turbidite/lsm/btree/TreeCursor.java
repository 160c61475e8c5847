package io.turbidite.lsm.btree;

import io.turbidite.core.ClosedException;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.memory.Pool;
import io.turbidite.lsm.entry.EntriesAhead;
import io.turbidite.lsm.entry.EntryBatch;
import io.turbidite.lsm.entry.EntryHead;
import io.turbidite.lsm.entry.KeyCopy;
import io.turbidite.lsm.entry.OrdinalCursor;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/**
 * The entries of a tree in order, with their ordinals.
 *
 * <p><em>Confined to one thread.</em> Holds one page at a time. Allocates nothing after
 * construction, and then little: what it decodes into is taken over from cursors that were closed.
 * Keys are put together only when they are asked for; values are shown in place.
 */
public final class TreeCursor implements OrdinalCursor {
    private static final int STRETCH_ENTRIES_MIN = 4;
    private static final int STRETCH_GROWTH = 4;

    /**
     * Of cursors that were closed: a short search would pay more for making one than for its
     * entries.
     */
    private static final Pool<CursorRoom> ROOMS = new Pool<>(CursorRoom::new);

    /** What a closed cursor has, so that it can do no harm to the one that has its room now. */
    private static final CursorRoom CLOSED = new CursorRoom();

    private final Tree tree;
    private final LeafPages pages;
    private CursorRoom room = ROOMS.take();
    private Leaf leaf = room.leaf;
    private final Slice key = new Slice();
    private final Slice value = new Slice();
    private MemorySegment keyBytes = room.keyBytes;

    private int page = -1;

    /** The entry of the page that the cursor stands on; without one, the entry before the gap. */
    private int index = -1;

    private boolean standsOnEntry;

    /** That entry and neighbours of it, and its place among them. */
    private Stretch stretch = room.stretch;

    private int place;

    /** How many entries to take out of the page next: a cursor that was sought may not go far. */
    private int stretchEntries = STRETCH_ENTRIES_MIN;

    /** The entry of the page whose key is in {@link #keyBytes}; -1 if there is none yet. */
    private int keyIndex = -1;

    /** Whether {@link #keyBytes} begins with what all keys of the page share. */
    private boolean hasPrefix;

    private boolean closed;
    private long pageCount;

    /** Null if it reads all pages. */
    private final @Nullable PageChoice choice;

    TreeCursor(Tree tree, LeafPages pages, @Nullable PageChoice choice) {
        this.tree = tree;
        this.pages = pages;
        this.choice = choice;
    }

    @Override
    public void seek(Slice target) {
        checkOpen();
        standsOnEntry = false;
        stretchEntries = STRETCH_ENTRIES_MIN;
        int targetPage = tree.fences().pageOf(target, Long.MAX_VALUE, page);
        if (targetPage < 0) {
            return;
        }
        int hint = goTo(targetPage) ? -1 : index + 1;
        index = leaf.lowerBound(target, Long.MAX_VALUE, hint) - 1;
    }

    /** Stands before the entry of this ordinal; less than the entry count. */
    public void seekOrdinal(long ordinal) {
        checkOpen();
        standsOnEntry = false;
        stretchEntries = STRETCH_ENTRIES_MIN;
        var _ = goTo(tree.fences().pageOfOrdinal(ordinal));
        index = Math.toIntExact(ordinal - leaf.firstOrdinal()) - 1;
    }

    /**
     * Stands on an entry of a page. For one who knows where it goes: its neighbours in that
     * direction, as many as it says, are taken out of the page with it.
     */
    public void standOn(int targetPage, int entry, boolean forward, int entries) {
        var _ = goTo(targetPage);
        stretchEntries = Math.min(Stretch.ENTRIES_MAX, entries);
        var _ = standOn(entry, forward);
    }

    /**
     * The first eight bytes of the keys of some entries of a page, as {@link #keyPrefix}; not to be
     * changed, and there until the cursor moves. It stands on no entry then.
     *
     * @param entries at most 64
     */
    public long[] prefixes(int targetPage, int first, int entries) {
        var _ = goTo(targetPage);
        standsOnEntry = false;
        index = first - 1;
        leaf.decodePrefixes(first, entries, room.prefixes);
        return room.prefixes;
    }

    /** Whether it had to be loaded: where a load has failed, the cursor has no page. */
    private boolean goTo(int targetPage) {
        checkOpen();
        boolean isElsewhere = targetPage != page || leaf.count() == 0;
        if (isElsewhere) {
            load(targetPage);
        }
        return isElsewhere;
    }

    @Override
    public void seekEnd() {
        checkOpen();
        leavePages(tree.fences().pageCount());
    }

    @Override
    public boolean next() {
        if (index + 1 < leaf.count()) {
            return standOn(index + 1, true);
        }
        return nextPage();
    }

    @Override
    public boolean fill(EntryBatch batch, int countMax) {
        int first = index + 1;
        if (first >= leaf.count()) {
            if (!loadNextPage()) {
                return false;
            }
            first = 0;
        }
        take(first, countMax, batch);
        return true;
    }

    /**
     * Puts entries of a page, from one of them on, into a batch, as many as fit; it stands behind
     * them then.
     *
     * @return how many
     */
    public int take(int targetPage, int first, int entries, EntryBatch batch) {
        var _ = goTo(targetPage);
        return take(first, entries, batch);
    }

    private int take(int first, int entries, EntryBatch batch) {
        int taken = leaf.take(first, entries, batch);
        index = first + taken - 1;
        standsOnEntry = false;
        return taken;
    }

    @Override
    public boolean next(EntryHead brief) {
        if (!next()) {
            return false;
        }
        Stretch entries = stretch;
        if (entries.keyBytes < 0) {
            brief.note(this);
            return true;
        }
        int at = place;
        long version = entries.versions[at];
        brief.note(
                entries.prefixes[at],
                entries.seconds[at],
                entries.keyBytes,
                version >>> 1,
                (version & 1) != 0);
        return true;
    }

    @Override
    public void showAhead(EntriesAhead ahead) {
        if (!standsOnEntry) {
            ahead.clear();
            return;
        }
        if (place + 1 == stretch.count() && index + 1 < leaf.count()) {
            // what it stands on is taken out of the page again, with those behind it
            decode(index, true);
            place = stretch.place(index);
        }
        int first = place + 1;
        ahead.show(stretch.columns, stretch.keyBytes >= 0, first, stretch.count() - first);
    }

    @Override
    public void skip(int count) {
        assert stretch.holds(place + count) : count;
        place += count;
        index += count;
    }

    @Override
    public boolean previous() {
        int before = standsOnEntry ? index - 1 : index;
        return before >= 0 ? standOn(before, false) : previousPage();
    }

    private boolean standOn(int entry, boolean forward) {
        int at = stretch.place(entry);
        if (!stretch.holds(at)) {
            decode(entry, forward);
            at = stretch.place(entry);
        }
        place = at;
        index = entry;
        standsOnEntry = true;
        return true;
    }

    private void decode(int entry, boolean forward) {
        leaf.decode(entry, forward, stretchEntries, stretch);
        stretchEntries = Math.min(Stretch.ENTRIES_MAX, stretchEntries * STRETCH_GROWTH);
    }

    @Override
    public Slice key() {
        if (keyIndex != index) {
            putKeyTogether();
            keyIndex = index;
        }
        return key;
    }

    private void putKeyTogether() {
        int bytes = stretch.keyBytes;
        if (bytes >= 0) {
            keyBytes.set(Bytes.I64_BE, 0, stretch.prefixes[place]);
            keyBytes.set(Bytes.I64_BE, Long.BYTES, stretch.seconds[place]);
            hasPrefix = false;
        } else {
            bytes = leaf.copyKey(index, keyBytes, !hasPrefix);
            hasPrefix = true;
        }
        key.set(keyBytes, 0, bytes);
    }

    @Override
    public long keyPrefix() {
        return stretch.prefixes[place];
    }

    @Override
    public int keyLength() {
        return stretch.keyBytes >= 0 ? stretch.keyBytes : leaf.keyBytes(index);
    }

    @Override
    public long keySecond() {
        return stretch.keyBytes >= 0 ? stretch.seconds[place] : KeyCopy.secondOf(key());
    }

    @Override
    public long timestamp() {
        return stretch.versions[place] >>> 1;
    }

    @Override
    public boolean isAntimatter() {
        return (stretch.versions[place] & 1) != 0;
    }

    @Override
    public Slice value() {
        return leaf.value(stretch, place, value);
    }

    @Override
    public long ordinal() {
        return leaf.firstOrdinal() + index;
    }

    @Override
    public long pageCount() {
        return pageCount;
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        leaf.clear();
        stretch.clear();
        key.clear();
        index = -1;
        standsOnEntry = false;
        CursorRoom used = room;
        room = CLOSED;
        leaf = CLOSED.leaf;
        stretch = CLOSED.stretch;
        keyBytes = CLOSED.keyBytes;
        ROOMS.give(used);
        pages.close();
    }

    private boolean nextPage() {
        return loadNextPage() && standOn(0, true);
    }

    private boolean loadNextPage() {
        checkOpen();
        int pages = tree.fences().pageCount();
        int next = page + 1;
        if (choice != null && next < pages) {
            next = choice.next(next);
        }
        if (next >= pages) {
            leavePages(pages);
            return false;
        }
        load(next);
        stretchEntries = Stretch.ENTRIES_MAX;
        return true;
    }

    private boolean previousPage() {
        checkOpen();
        if (page <= 0) {
            leavePages(-1);
            return false;
        }
        load(page - 1);
        stretchEntries = Stretch.ENTRIES_MAX;
        return standOn(leaf.count() - 1, false);
    }

    /**
     * Stands before the first page (-1) or behind the last one, so that a move finds its way back.
     */
    private void leavePages(int outside) {
        page = outside;
        leaf.clear();
        stretch.clear();
        index = -1;
        standsOnEntry = false;
        pages.release();
    }

    private void load(int target) {
        int before = page;
        leavePages(
                target < before ? target + 1 : target - 1); // if it fails, the next try is the same
        keyIndex = -1;
        hasPrefix = false;
        tree.wrap(leaf, pages.page(target));
        page = target;
        pageCount++;
        if (choice != null && choice.wantsValues(target)) {
            showValues(choice);
        }
    }

    private void showValues(PageChoice to) {
        for (int i = 0; i < leaf.count(); i++) {
            if (!leaf.isAntimatter(i)) {
                to.learn(leaf.value(i, value));
            }
        }
        to.learned(page);
    }

    private void checkOpen() {
        if (closed) {
            throw new ClosedException("the cursor");
        }
        tree.checkOpen();
    }
}
