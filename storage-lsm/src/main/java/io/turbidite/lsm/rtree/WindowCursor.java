package io.turbidite.lsm.rtree;

import io.turbidite.core.ClosedException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.geo.SpatialKind;
import io.turbidite.core.geo.WindowSearch;
import io.turbidite.core.geo.Zone;
import io.turbidite.lsm.btree.Fences;
import io.turbidite.lsm.btree.Tree;
import io.turbidite.lsm.btree.TreeCursor;
import io.turbidite.lsm.entry.EntryBatch;
import io.turbidite.lsm.entry.OrdinalCursor;

import org.jspecify.annotations.Nullable;

/**
 * The entries of a component that are in a window, in the order of their keys. Pages and groups
 * whose boxes are outside are passed over; entries of those that are inside are not looked at.
 *
 * <p>Of a group that the window cuts the first eight bytes of all keys are looked at together, and
 * it is noted which entries are shown: so the entries outside cost nothing but that. A cursor that
 * finds no group has opened no page.
 *
 * <p><em>Confined to one thread.</em> Owns the cursor that it reads.
 */
public final class WindowCursor implements OrdinalCursor {
    /** Entries that are noted at a time; a bit each. */
    private static final int CHUNK_MAX = Long.SIZE;

    private final Tree tree;
    private final Fences fences;
    private final Boxes boxes;
    private final WindowSearch search;
    private final PageWindow pageWindow;
    private final boolean isPoint;
    private final long entryCount;

    /** Made when the first group is looked into. */
    private @Nullable TreeCursor opened;

    /** The entry that it stands on, or the first one behind the gap that it stands in. */
    private long place;

    private boolean standsOnEntry;

    /** Ordinals from here to {@link #chunkEnd} are of a group, or of several, of {@link #page}. */
    private long chunkStart;

    private long chunkEnd;

    /** Which of these may be in the window, and which of them surely are; the first is bit 0. */
    private long maybe;

    private long surely;

    private int page = -1;

    /** The first ordinal of the page, and of the next one. */
    private long pageStart;

    private long pageEnd;
    private boolean pageIsInside;

    private boolean closed;
    private final WindowWork work;

    /**
     * @param work where it counts
     */
    public WindowCursor(Tree tree, Boxes boxes, WindowSearch search, WindowWork work) {
        this.work = work;
        this.tree = tree;
        this.fences = tree.fences();
        this.boxes = boxes;
        this.search = search;
        this.pageWindow = new PageWindow(boxes, search.zone());
        this.isPoint = search.kind() == SpatialKind.POINT;
        this.entryCount = fences.entryCount();
    }

    private TreeCursor entries() {
        TreeCursor cursor = opened;
        if (cursor == null) {
            cursor = tree.cursor();
            opened = cursor;
        }
        return cursor;
    }

    @Override
    public boolean next() {
        checkOpen();
        long from = standsOnEntry ? place + 1 : place;
        standsOnEntry = false;
        while (true) {
            if (from < chunkStart || from >= chunkEnd) {
                from = chunkFrom(from);
                if (from < 0) {
                    place = entryCount;
                    return false;
                }
            }
            long left = maybe >>> (from - chunkStart);
            if (left == 0) {
                from = chunkEnd;
                continue;
            }
            from += Long.numberOfTrailingZeros(left);
            if (shows(from, true)) {
                return standOn(from);
            }
            from++;
        }
    }

    @Override
    public boolean fill(EntryBatch batch, int countMax) {
        checkOpen();
        long from = standsOnEntry ? place + 1 : place;
        standsOnEntry = false;
        while (batch.count() < countMax && !batch.isFull()) {
            if (from < chunkStart || from >= chunkEnd) {
                if (batch.count() > 0 && from >= pageEnd) {
                    break; // what is on the next page is not at hand
                }
                from = chunkFrom(from);
                if (from < 0) {
                    place = entryCount;
                    return batch.count() > 0;
                }
            }
            long left = maybe >>> (from - chunkStart);
            if (left == 0) {
                from = chunkEnd;
                continue;
            }
            from += Long.numberOfTrailingZeros(left);
            int run = Long.numberOfTrailingZeros(~(surely >>> (from - chunkStart)));
            if (run > 0) {
                int wanted =
                        (int) Math.min(Math.min(run, chunkEnd - from), countMax - batch.count());
                from += entries().take(page, (int) (from - pageStart), wanted, batch);
            } else {
                if (shows(from, true)) {
                    batch.add(entries());
                }
                from++;
            }
        }
        place = from;
        return true;
    }

    @Override
    public boolean previous() {
        checkOpen();
        long from = place - 1;
        standsOnEntry = false;
        while (true) {
            if (from < chunkStart || from >= chunkEnd) {
                from = chunkUpTo(from);
                if (from < 0) {
                    place = 0;
                    return false;
                }
            }
            long left = maybe << (CHUNK_MAX - 1 - (from - chunkStart));
            if (left == 0) {
                from = chunkStart - 1;
                continue;
            }
            from -= Long.numberOfLeadingZeros(left);
            if (shows(from, false)) {
                return standOn(from);
            }
            from--;
        }
    }

    private boolean standOn(long ordinal) {
        place = ordinal;
        standsOnEntry = true;
        return true;
    }

    /** Moves to an entry of the chunk that may be in the window; whether it is. */
    private boolean shows(long ordinal, boolean forward) {
        int bit = (int) (ordinal - chunkStart);
        // those up to the chunk's last one that may be in the window are wanted too
        int wanted = forward
                ? CHUNK_MAX - Long.numberOfLeadingZeros(maybe) - bit
                : bit + 1 - Long.numberOfTrailingZeros(maybe);
        TreeCursor cursor = entries();
        cursor.standOn(page, (int) (ordinal - pageStart), forward, wanted);
        return (surely >>> bit & 1) != 0 || search.holds(cursor.key());
    }

    /**
     * Goes to the first group at or behind an ordinal; where in it to go on, -1 if none is left.
     */
    private long chunkFrom(long from) {
        if (from >= entryCount) {
            return -1;
        }
        Zone zone = search.zone();
        int at;
        int group = 0;
        if (from == pageEnd && page >= 0) {
            at = boxes.pageBehind(page, zone);
        } else if (page >= 0 && from >= pageStart && from < pageEnd) {
            at = page;
            group = (int) ((from - pageStart) / boxes.groupEntries());
        } else {
            int first = fences.pageOfOrdinal(from);
            at = boxes.nextPage(first, zone);
            if (at == first) {
                group = (int) ((from - fences.firstOrdinal(at)) / boxes.groupEntries());
            }
        }
        while (at >= 0) {
            enter(at);
            int count = boxes.groupCount(at);
            while (group < count) {
                group = pageIsInside ? group : pageWindow.next(group, count);
                int relation = group < count ? relation(group) : Zone.OUTSIDE;
                if (relation != Zone.OUTSIDE) {
                    long start = Math.max(from, groupStart(group));
                    look(start, group, relation == Zone.INSIDE);
                    return start;
                }
                group++;
            }
            group = 0;
            at = boxes.pageBehind(at, zone);
        }
        return -1;
    }

    /** Goes to the last group at or before an ordinal. */
    private long chunkUpTo(long from) {
        if (from < 0) {
            return -1;
        }
        Zone zone = search.zone();
        int last = fences.pageOfOrdinal(from);
        int at = boxes.previousPage(last, zone);
        int group = at == last
                ? (int) ((from - fences.firstOrdinal(at)) / boxes.groupEntries())
                : lastGroup(at);
        while (at >= 0) {
            enter(at);
            for (; group >= 0; group--) {
                int relation = relation(group);
                if (relation != Zone.OUTSIDE) {
                    long start = Math.min(from, groupStart(group + 1) - 1);
                    look(start, group, relation == Zone.INSIDE);
                    return start;
                }
            }
            at = at > 0 ? boxes.previousPage(at - 1, zone) : -1;
            group = lastGroup(at);
        }
        return -1;
    }

    private int lastGroup(int at) {
        return at < 0 ? -1 : boxes.groupCount(at) - 1;
    }

    private void enter(int newPage) {
        if (newPage == page) {
            return;
        }
        // a chunk is of the page
        chunkStart = 0;
        chunkEnd = 0;
        page = newPage;
        pageStart = fences.firstOrdinal(newPage);
        pageEnd = fences.firstOrdinal(newPage + 1);
        pageIsInside = boxes.pageRelation(newPage, search.zone()) == Zone.INSIDE;
        pageWindow.set(newPage);
        work.enteredPage();
    }

    private int relation(int group) {
        return pageIsInside ? Zone.INSIDE : pageWindow.relation(group);
    }

    /** The ordinal of a group's first entry, or of the first one behind the page. */
    private long groupStart(int group) {
        return Math.min(pageEnd, pageStart + (long) group * boxes.groupEntries());
    }

    /**
     * Notes which entries of a group are in the window; of groups inside those of the next ones
     * too, and of a long group those around an ordinal.
     */
    private void look(long ordinal, int group, boolean isInside) {
        chunkStart = 0;
        chunkEnd = 0; // until all is known: a look may fail
        long start = groupStart(group);
        start += (ordinal - start) / CHUNK_MAX * CHUNK_MAX;
        long limit = start + CHUNK_MAX;
        int next = group + 1;
        work.enteredGroup();
        int count = isInside ? boxes.groupCount(page) : next;
        while (next < count && groupStart(next + 1) <= limit && relation(next) == Zone.INSIDE) {
            work.enteredGroup();
            next++;
        }
        long end = Math.min(limit, groupStart(next));
        int entries = (int) (end - start);
        work.lookedAt(entries);
        long all = -1L >>> (CHUNK_MAX - entries);
        maybe = all;
        surely = isInside ? all : 0;
        if (!isInside && isPoint) {
            test((int) (start - pageStart), entries);
        }
        chunkStart = start;
        chunkEnd = end;
    }

    /** By the first eight bytes of the keys. */
    private void test(int first, int entries) {
        long outside = 0;
        long inside = 0;
        long[] prefixes = entries().prefixes(page, first, entries);
        for (int i = 0; i < entries; i++) {
            int found = search.test(prefixes[i]);
            if (found == WindowSearch.OUTSIDE) {
                outside |= 1L << i;
            } else if (found == WindowSearch.INSIDE) {
                inside |= 1L << i;
            }
        }
        maybe &= ~outside;
        surely = inside;
    }

    @Override
    public void seek(Slice key) {
        checkOpen();
        standsOnEntry = false;
        place = key.length() == 0 ? 0 : tree.rank(key);
    }

    @Override
    public void seekEnd() {
        checkOpen();
        standsOnEntry = false;
        place = entryCount;
    }

    @Override
    public Slice key() {
        return entries().key();
    }

    @Override
    public long keyPrefix() {
        return entries().keyPrefix();
    }

    @Override
    public int keyLength() {
        return entries().keyLength();
    }

    @Override
    public long keySecond() {
        return entries().keySecond();
    }

    @Override
    public long timestamp() {
        return entries().timestamp();
    }

    @Override
    public boolean isAntimatter() {
        return entries().isAntimatter();
    }

    @Override
    public Slice value() {
        return entries().value();
    }

    @Override
    public long ordinal() {
        return place;
    }

    @Override
    public void close() {
        closed = true;
        TreeCursor cursor = opened;
        if (cursor != null) {
            cursor.close();
        }
    }

    private void checkOpen() {
        if (closed) {
            throw new ClosedException("the cursor");
        }
    }
}
