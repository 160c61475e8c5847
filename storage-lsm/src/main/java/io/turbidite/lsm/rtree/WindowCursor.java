package io.turbidite.lsm.rtree;

import io.turbidite.core.ClosedException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.geo.WindowSearch;
import io.turbidite.core.geo.Zone;
import io.turbidite.lsm.btree.Fences;
import io.turbidite.lsm.btree.Tree;
import io.turbidite.lsm.btree.TreeCursor;
import io.turbidite.lsm.entry.OrdinalCursor;

/**
 * The entries of a component that are in a window, in the order of their keys. Pages and groups
 * whose boxes are outside are passed over; entries of those that are inside are not looked at.
 *
 * <p><em>Confined to one thread.</em> Owns the cursor that it reads.
 */
public final class WindowCursor implements OrdinalCursor {
    private final Tree tree;
    private final Fences fences;
    private final Boxes boxes;
    private final WindowSearch search;
    private final TreeCursor entries;
    private final long entryCount;

    /** The entry that it stands on, or the first one behind the gap that it stands in. */
    private long place;

    private boolean standsOnEntry;

    /** Where {@link #entries} stands; -1 if it has to be sought. */
    private long entriesAt = -1;

    /** Ordinals from here to {@link #groupEnd} are a group, or a page, that is looked into. */
    private long groupStart;

    private long groupEnd;
    private boolean groupIsInside;

    /** The page of the group. */
    private int page = -1;

    private boolean closed;
    private final WindowWork work;

    /**
     * @param work where it counts
     */
    public WindowCursor(
            Tree tree, Boxes boxes, WindowSearch search, TreeCursor entries, WindowWork work) {
        this.work = work;
        this.tree = tree;
        this.fences = tree.fences();
        this.boxes = boxes;
        this.search = search;
        this.entries = entries;
        this.entryCount = fences.entryCount();
    }

    @Override
    public boolean next() {
        checkOpen();
        long from = standsOnEntry ? place + 1 : place;
        standsOnEntry = false;
        while (true) {
            if (from < groupStart || from >= groupEnd) {
                from = groupFrom(from);
                if (from < 0) {
                    place = entryCount;
                    return false;
                }
            }
            for (; from < groupEnd; from++) {
                if (shows(from, true)) {
                    return standOn(from);
                }
            }
        }
    }

    @Override
    public boolean previous() {
        checkOpen();
        long from = place - 1;
        standsOnEntry = false;
        while (true) {
            if (from < groupStart || from >= groupEnd) {
                from = groupUpTo(from);
                if (from < 0) {
                    place = 0;
                    return false;
                }
            }
            for (; from >= groupStart; from--) {
                if (shows(from, false)) {
                    return standOn(from);
                }
            }
        }
    }

    private boolean standOn(long ordinal) {
        place = ordinal;
        standsOnEntry = true;
        return true;
    }

    /** Moves to an entry of the group; whether it is in the window. */
    private boolean shows(long ordinal, boolean forward) {
        boolean isBeside = entriesAt >= 0 && ordinal == entriesAt + (forward ? 1 : -1);
        if (!isBeside || entriesAt < 0) {
            // a move that throws leaves a cursor that has to be sought
            entriesAt = -1;
            entries.seekOrdinal(ordinal);
            entries.next();
        } else if (forward) {
            entriesAt = -1;
            entries.next();
        } else {
            entriesAt = -1;
            entries.previous();
        }
        entriesAt = ordinal;
        work.lookedAtEntry();
        if (groupIsInside) {
            return true;
        }
        int found = search.test(entries.keyPrefix());
        return found == WindowSearch.INSIDE
                || (found == WindowSearch.UNDECIDED && search.holds(entries.key()));
    }

    /**
     * Goes to the first group at or behind an ordinal; where in it to go on, -1 if none is left.
     */
    private long groupFrom(long from) {
        if (from >= entryCount) {
            return -1;
        }
        boolean isSamePage = page >= 0
                && from >= fences.firstOrdinal(page)
                && from < fences.firstOrdinal(page + 1);
        int at = isSamePage ? page : fences.pageOfOrdinal(from);
        int group = (int) ((from - fences.firstOrdinal(at)) / boxes.groupEntries());
        if (!isSamePage) {
            int met = boxes.nextPage(at, search.zone());
            group = met == at ? group : 0;
            at = met;
        }
        while (at >= 0) {
            int count = boxes.groupCount(at);
            for (; group < count; group++) {
                int relation = boxes.groupRelation(at, group, search.zone());
                if (relation != Zone.OUTSIDE) {
                    enter(at, group, relation == Zone.INSIDE);
                    return Math.max(from, groupStart);
                }
            }
            group = 0;
            at = at + 1 < boxes.pageCount() ? boxes.nextPage(at + 1, search.zone()) : -1;
        }
        return -1;
    }

    /** Goes to the last group at or before an ordinal. */
    private long groupUpTo(long from) {
        if (from < 0) {
            return -1;
        }
        int at = fences.pageOfOrdinal(from);
        int group = (int) ((from - fences.firstOrdinal(at)) / boxes.groupEntries());
        int met = boxes.previousPage(at, search.zone());
        if (met != at) {
            at = met;
            group = at < 0 ? 0 : boxes.groupCount(at) - 1;
        }
        while (at >= 0) {
            for (; group >= 0; group--) {
                int relation = boxes.groupRelation(at, group, search.zone());
                if (relation != Zone.OUTSIDE) {
                    enter(at, group, relation == Zone.INSIDE);
                    return Math.min(from, groupEnd - 1);
                }
            }
            at = at > 0 ? boxes.previousPage(at - 1, search.zone()) : -1;
            group = at < 0 ? 0 : boxes.groupCount(at) - 1;
        }
        return -1;
    }

    private void enter(int newPage, int group, boolean isInside) {
        if (newPage != page) {
            work.enteredPage();
        }
        page = newPage;
        long first = fences.firstOrdinal(newPage);
        groupStart = first + (long) group * boxes.groupEntries();
        groupEnd = Math.min(groupStart + boxes.groupEntries(), fences.firstOrdinal(newPage + 1));
        groupIsInside = isInside;
        work.enteredGroup();
    }

    @Override
    public void seek(Slice key) {
        checkOpen();
        standsOnEntry = false;
        place = tree.rank(key);
    }

    @Override
    public void seekEnd() {
        checkOpen();
        standsOnEntry = false;
        place = entryCount;
    }

    @Override
    public Slice key() {
        return entries.key();
    }

    @Override
    public long keyPrefix() {
        return entries.keyPrefix();
    }

    @Override
    public int keyLength() {
        return entries.keyLength();
    }

    @Override
    public long keySecond() {
        return entries.keySecond();
    }

    @Override
    public long timestamp() {
        return entries.timestamp();
    }

    @Override
    public boolean isAntimatter() {
        return entries.isAntimatter();
    }

    @Override
    public Slice value() {
        return entries.value();
    }

    @Override
    public long ordinal() {
        return place;
    }

    @Override
    public void close() {
        closed = true;
        entries.close();
    }

    private void checkOpen() {
        if (closed) {
            throw new ClosedException("the cursor");
        }
    }
}
