package io.turbidite.lsm.btree;

import io.turbidite.core.ClosedException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.cache.CachedFile;
import io.turbidite.core.cache.PageFrame;
import io.turbidite.lsm.entry.Found;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/**
 * A sorted run of entries in the pages of an immutable file: point search, cursors, ranks.
 *
 * <p><em>Thread-safe</em>; its cursors are each confined to one thread. Owned by a component, which
 * closes it before it frees the fences: later uses throw {@link ClosedException}.
 *
 * <p>A search for (key, timestamp):
 *
 * <ol>
 *   <li>The fences name the one page on which the newest version at or below the timestamp can lie,
 *       but for a key whose versions go on to the next page.
 *   <li>That page is pinned and its heads are searched.
 *   <li>If the page ends before the place, and the next page's fence is a version of this very key,
 *       the answer is that page's first entry.
 * </ol>
 */
public final class Tree implements AutoCloseable {
    /**
     * A find's flyweight. It is not worth handing around: cursors, which find more than once, have
     * their own.
     */
    private static final ThreadLocal<Leaf> LEAF = ThreadLocal.withInitial(Leaf::new);

    private static final int TOUCHED_BYTES_MAX = 1_024;

    /** Head, version and end of an entry, as they mostly are. */
    private static final int COLUMN_BYTES = 8 + 4 + 2;

    private final String name;
    private final Fences fences;
    private final CachedFile file;
    private final int firstPage;

    /** Bytes at the start of a leaf that a search touches at once; 0 if its columns are long. */
    private final int touchedBytes;

    private volatile boolean closed;

    /**
     * @param name for errors
     * @param file of which pages {@code firstPage} and following are the tree's leaves
     */
    public Tree(String name, Fences fences, CachedFile file, int firstPage) {
        this.name = name;
        this.fences = fences;
        this.file = file;
        this.firstPage = firstPage;
        this.touchedBytes = touchedBytes(fences);
    }

    /**
     * About as far as the columns of a page of records reach. In long columns (of small entries) a
     * search reads few lines: to touch them all would cost more than it saves.
     */
    private static int touchedBytes(Fences fences) {
        long columns = LeafLayout.prefix(LeafLayout.NARROW_FORM, 1)
                + GroupLayout.PREFIX_OFFSET
                + COLUMN_BYTES * fences.entryCount() / Math.max(1, fences.pageCount());
        return columns <= TOUCHED_BYTES_MAX ? (int) columns : 0;
    }

    public Fences fences() {
        return fences;
    }

    public long entryCount() {
        return fences.entryCount();
    }

    /**
     * Finds the newest version of {@code key} at or below {@code snapshot}.
     *
     * @param found filled in unless absent; its value only if {@code wantValue}
     * @return {@link Found#ABSENT}, {@link Found#MATTER} or {@link Found#ANTIMATTER}
     */
    public int find(Slice key, long snapshot, Found found, boolean wantValue) {
        checkOpen();
        int page = fences.pageOf(key, snapshot);
        if (page < 0) {
            return Found.ABSENT;
        }
        Leaf leaf = LEAF.get();
        PageFrame frame = file.pin(firstPage + page);
        try {
            wrap(leaf, frame.segment());
            int index = leaf.find(key, snapshot, -1);
            if (index >= 0) {
                return fill(leaf, index, found, wantValue);
            }
            if (-1 - index < leaf.count() || !goesOn(page, key)) {
                return Found.ABSENT;
            }
        } finally {
            leaf.clear();
            frame.unpin();
        }
        PageFrame next = file.pin(firstPage + page + 1);
        try {
            return fill(leaf.wrap(next.segment()), 0, found, wantValue);
        } finally {
            leaf.clear();
            next.unpin();
        }
    }

    /** How many entries have a smaller key; reads one page. */
    public long rank(Slice key) {
        checkOpen();
        int page = fences.pageOf(key, Long.MAX_VALUE);
        if (page < 0) {
            return 0;
        }
        Leaf leaf = LEAF.get();
        PageFrame frame = file.pin(firstPage + page);
        try {
            leaf.wrap(frame.segment());
            return leaf.firstOrdinal() + leaf.lowerBound(key, Long.MAX_VALUE, -1);
        } finally {
            leaf.clear();
            frame.unpin();
        }
    }

    /** A cursor through the cache. */
    public TreeCursor cursor() {
        return cursor(new CachedLeafPages(file, firstPage));
    }

    /** A cursor over pages that come from elsewhere; it owns them. */
    public TreeCursor cursor(LeafPages pages) {
        return cursor(pages, null);
    }

    /**
     * The same.
     *
     * @param choice of the pages that it reads; null for all
     */
    public TreeCursor cursor(LeafPages pages, @Nullable PageChoice choice) {
        checkOpen();
        return new TreeCursor(this, pages, choice);
    }

    /** A searcher that remembers where it was. */
    public PointCursor pointCursor() {
        checkOpen();
        return new PointCursor(this, new CachedLeafPages(file, firstPage), true);
    }

    /** A searcher over pages that come from elsewhere; it owns them. */
    public PointCursor pointCursor(LeafPages pages, boolean stateful) {
        checkOpen();
        return new PointCursor(this, pages, stateful);
    }

    @Override
    public void close() {
        closed = true;
    }

    void checkOpen() {
        if (closed) {
            throw new ClosedException(name);
        }
    }

    /** Moves {@code leaf} to a page that will be searched. */
    void wrap(Leaf leaf, MemorySegment page) {
        leaf.wrap(page).touchColumns(Math.min(touchedBytes, page.byteSize()));
    }

    /** Whether the first entry behind the end of {@code page} is a version of {@code key}. */
    boolean goesOn(int page, Slice key) {
        return page + 1 < fences.pageCount() && fences.isWithin(page + 1, key);
    }

    static int fill(Leaf leaf, int index, Found found, boolean wantValue) {
        long version = leaf.version(index);
        found.timestamp = version >>> 1;
        found.position = leaf.firstOrdinal() + index;
        if (wantValue) {
            leaf.copyValue(index, found.value.clear());
        }
        return (version & 1) == 0 ? Found.MATTER : Found.ANTIMATTER;
    }
}
