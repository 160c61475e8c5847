package io.turbidite.lsm.rtree;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.geo.Box;
import io.turbidite.core.geo.Place;
import io.turbidite.core.geo.PrefixDistance;
import io.turbidite.core.geo.SpatialKind;
import io.turbidite.lsm.btree.Fences;
import io.turbidite.lsm.btree.Tree;
import io.turbidite.lsm.btree.TreeCursor;
import io.turbidite.lsm.entry.OrdinalCursor;

import org.jspecify.annotations.Nullable;

/**
 * The entries of a component, nearest first (Hjaltason and Samet, best first).
 *
 * <ol>
 *   <li>The nearest box that waits is opened: what is in it waits too, boxes by their nearest place
 *       and entries by their own. Points of the plane wait as squares of a few cells first, which
 *       the first bytes of their keys tell; few of them ever have to be read.
 *   <li>An entry that is nearer than all that waits is shown. Equally far ones come in the order of
 *       their ordinals, and so of their keys; a box's entries are at or behind its first one.
 *   <li>Where too many wait, all boxes are opened, one down to its entries before the next, and the
 *       farther half of the entries is forgotten as often as there are too many. When the others
 *       are shown, the search starts over behind them. So memory is bounded, whatever lies on one
 *       circle.
 * </ol>
 *
 * <p><em>Confined to one thread.</em> Owns the cursor that it reads.
 */
public final class NearestByBoxes extends NearestCursor implements OrdinalCursor {
    /**
     * Levels of elements: entries, those of which a square is known, groups, then pages and the
     * boxes above them.
     */
    private static final int ENTRY = 0;

    private static final int SQUARE = 1;
    private static final int GROUP = 2;
    private static final int PAGE = 3;

    /** Keys whose first bytes are read at a time. */
    private static final int PREFIXES_MAX = 64;

    private final Tree tree;
    private final Fences fences;
    private final Boxes boxes;
    private final SpatialKind kind;
    private final Place place;
    private final TreeCursor entries;
    private final WindowWork work;
    private final int waitingMax;
    private final NearestQueue waiting = room.waiting;

    /** What is opened down to the entries, lowest levels first. */
    private final NearestQueue aside = room.aside;

    private final @Nullable PrefixDistance prefixDistance;

    /** Whether boxes that are found in others go there. */
    private boolean isAside;

    private final Box box = new Box();

    /** What is nearer than this, or as far with a smaller ordinal, was shown, or is not wanted. */
    private double fromDistance;

    private long fromOrdinal;

    /** What is farther than this, or as far with this ordinal or a larger one, was forgotten. */
    private double toDistance;

    private long toOrdinal;
    private int page = -1;

    /**
     * @param work where it counts
     * @param waitingMax what may wait, about
     */
    public NearestByBoxes(
            Tree tree,
            Boxes boxes,
            SpatialKind kind,
            Place place,
            TreeCursor entries,
            WindowWork work,
            int waitingMax) {
        super(entries);
        this.tree = tree;
        this.fences = tree.fences();
        this.boxes = boxes;
        this.kind = kind;
        this.place = place;
        this.entries = entries;
        this.work = work;
        this.waitingMax = waitingMax;
        this.prefixDistance = PrefixDistance.of(kind, place);
        start(0, 0);
    }

    @Override
    void start(double distanceFrom, Slice from) {
        start(distanceFrom, from.length() == 0 ? 0 : tree.rank(from));
    }

    private void start(double distanceFrom, long ordinalFrom) {
        end();
        fromDistance = distanceFrom;
        fromOrdinal = ordinalFrom;
        if (boxes.pageCount() > 0) {
            addBox(boxes.rootLevel(), 0);
        }
    }

    @Override
    void end() {
        waiting.clear();
        aside.clear();
        isAside = false;
        toDistance = Double.POSITIVE_INFINITY;
        toOrdinal = Long.MAX_VALUE;
    }

    @Override
    double move() {
        while (true) {
            while (waiting.size() > 0) {
                int first = waiting.remove();
                if (waiting.level(first) == ENTRY) {
                    double distance = waiting.distance(first);
                    goTo(waiting.low(first), waiting.extra(first));
                    return distance;
                }
                open(waiting, first);
                if (waiting.size() > waitingMax) {
                    forgetFarther();
                }
            }
            if (toOrdinal == Long.MAX_VALUE) {
                return -1;
            }
            start(toDistance, toOrdinal);
        }
    }

    private void open(NearestQueue from, int slot) {
        int level = from.level(slot);
        int index = from.extra(slot);
        if (level == SQUARE) {
            goTo(from.low(slot), index);
            addEntry(from.low(slot), index);
        } else if (level == GROUP) {
            openGroup(index, from.low(slot));
        } else if (level == PAGE) {
            openPage(index);
        } else {
            openBox(level - PAGE, index);
        }
    }

    private void forgetFarther() {
        waiting.moveLevels(aside);
        isAside = true;
        while (true) {
            if (waiting.size() > waitingMax) {
                int last = waiting.halve();
                toDistance = waiting.distance(last);
                toOrdinal = waiting.low(last) + 1;
            }
            if (aside.size() == 0) {
                break;
            }
            open(aside, aside.remove());
        }
        isAside = false;
    }

    private void openBox(int level, int index) {
        int from = index << BoxesLayout.FAN_OUT_SHIFT;
        int to = Math.min(from + BoxesLayout.FAN_OUT, boxes.boxCount(level - 1));
        for (int child = from; child < to; child++) {
            addBox(level - 1, child);
        }
    }

    private void addBox(int level, int index) {
        int firstPage = index << (BoxesLayout.FAN_OUT_SHIFT * level);
        boxes.levelBox(level, index, box);
        add(fences.firstOrdinal(firstPage), PAGE + level, index);
    }

    private void openPage(int index) {
        long first = fences.firstOrdinal(index);
        int count = boxes.groupCount(index);
        for (int group = 0; group < count; group++) {
            boxes.groupBox(index, group, box);
            add(first + (long) group * boxes.groupEntries(), GROUP, index);
        }
    }

    private void openGroup(int index, long first) {
        if (isAside) {
            int group = (int) ((first - fences.firstOrdinal(index)) / boxes.groupEntries());
            if (isForgotten(place.least(boxes.groupBox(index, group, box)), first)) {
                return;
            }
        }
        if (index != page) {
            page = index;
            work.enteredPage();
        }
        work.enteredGroup();
        long end = Math.min(first + boxes.groupEntries(), fences.firstOrdinal(index + 1));
        work.lookedAt((int) (end - first));
        PrefixDistance least = prefixDistance;
        // what was shown or forgotten is told by distances alone
        boolean isFresh = fromDistance == 0 && fromOrdinal == 0 && toOrdinal == Long.MAX_VALUE;
        if (least != null && isFresh && !isAside) {
            addSquares(index, first, end, least);
            return;
        }
        for (long ordinal = first; ordinal < end; ordinal++) {
            goTo(ordinal, index);
            addEntry(ordinal, index);
        }
    }

    private void addSquares(int index, long first, long end, PrefixDistance least) {
        long pageStart = fences.firstOrdinal(index);
        for (long from = first; from < end; from += PREFIXES_MAX) {
            int count = (int) Math.min(end - from, PREFIXES_MAX);
            long[] prefixes = entries.prefixes(index, (int) (from - pageStart), count);
            for (int i = 0; i < count; i++) {
                waiting.add(least.least(prefixes[i]), 0, from + i, SQUARE, index);
            }
        }
    }

    /** Stands on an entry of a page. */
    private void goTo(long ordinal, int index) {
        entries.standOn(index, (int) (ordinal - fences.firstOrdinal(index)), true, 1);
    }

    /** Adds the entry that is stood on, if it is wanted. */
    private void addEntry(long ordinal, int index) {
        kind.decode(entries.key(), 0, box);
        double distance = place.distance(box);
        boolean isShown =
                distance < fromDistance || (distance == fromDistance && ordinal < fromOrdinal);
        if (!isShown && !isForgotten(distance, ordinal)) {
            waiting.add(distance, 0, ordinal, ENTRY, index);
        }
    }

    /** Adds what {@link #box} is around, if something of it is wanted. */
    private void add(long ordinal, int level, int index) {
        double least = place.least(box);
        if (!isForgotten(least, ordinal)
                && (fromDistance == 0 || place.most(box) >= fromDistance)) {
            if (isAside) {
                aside.add(level, 0, ordinal, level, index);
            } else {
                waiting.add(least, 0, ordinal, level, index);
            }
        }
    }

    private boolean isForgotten(double distance, long ordinal) {
        return distance > toDistance || (distance == toDistance && ordinal >= toOrdinal);
    }

    @Override
    public long ordinal() {
        return entries.ordinal();
    }
}
