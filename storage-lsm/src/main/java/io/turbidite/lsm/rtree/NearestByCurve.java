package io.turbidite.lsm.rtree;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.geo.Box;
import io.turbidite.core.geo.CurveSquare;
import io.turbidite.core.geo.Place;
import io.turbidite.core.geo.SpatialKind;
import io.turbidite.lsm.entry.EntryCursor;

/**
 * The entries of a layer without boxes, a memory component, nearest first: as {@link
 * NearestByBoxes}, with squares on the Hilbert curve for boxes. A square is looked into from its
 * first key on: what has few values gives them, of one with many the first few wait as values and
 * the rest as sixteen smaller squares. Of a value that many records have, its key without theirs
 * waits, once.
 *
 * <p><em>Confined to one thread.</em> Owns the cursor that it reads.
 */
public final class NearestByCurve extends NearestCursor {
    /** Different values that are taken out of a square before it is split. */
    private static final int VALUES_MAX = 32;

    /** Entries of one value that are read past before the next value is sought. */
    private static final int SAME_MAX = 4;

    /** Levels between a square and those that it is split into. */
    private static final int LEVELS_A_SPLIT = 2;

    /** Bytes of keys that wait or have waited, before they are copied together. */
    private static final int KEY_BYTES_MAX = 2 << 20;

    private final SpatialKind kind;
    private final Place place;
    private final EntryCursor entries;
    private final WindowWork work;
    private final int waitingMax;
    private final NearestQueue waiting = room.waiting;

    /** What is looked into down to its values, lowest levels first. */
    private final NearestQueue aside = room.aside;

    /** Whether squares that are found in others go there. */
    private boolean isAside;

    private final CurveSquare square;
    private final CurveSquare part;
    private final Box box = new Box();

    /** Secondary keys of the values that wait; an element's extra is where its own starts. */
    private ByteSink keys = room.keys.clear();

    private ByteSink spareKeys = room.spareKeys;
    private final Slice left = new Slice();
    private final Slice right = new Slice();
    private final ByteSink target = room.target;
    private final Slice targetSlice = new Slice();

    /** What is nearer than this, or as far with a smaller key, was shown, or is not wanted. */
    private double fromDistance;

    private final ByteSink fromKey = room.fromKey.clear();

    /** If there is one: what is farther, or as far with this key or a larger one, was forgotten. */
    private double toDistance;

    private final ByteSink toKey = room.toKey.clear();
    private boolean hasForgotten;

    /** The value whose entries are being shown, and how far it is; negative if none is. */
    private final ByteSink value = room.value.clear();

    private double valueDistance = -1;
    private boolean isStarted;

    public NearestByCurve(SpatialKind kind, Place place, EntryCursor entries, WindowWork work) {
        this(kind, place, entries, work, WAITING_MAX);
    }

    /**
     * @param work where it counts
     * @param waitingMax what may wait, about
     */
    public NearestByCurve(
            SpatialKind kind, Place place, EntryCursor entries, WindowWork work, int waitingMax) {
        super(entries);
        this.kind = kind;
        this.place = place;
        this.entries = entries;
        this.work = work;
        this.waitingMax = waitingMax;
        this.square = new CurveSquare(kind);
        this.part = new CurveSquare(kind);
        waiting.setOrder((a, b) -> waitingKey(a, left).compareBytes(waitingKey(b, right)));
    }

    private Slice waitingKey(int slot, Slice into) {
        return keyAt(waiting.extra(slot), into);
    }

    private Slice keyAt(int offset, Slice into) {
        into.set(keys.segment(), offset, keys.length() - offset);
        return into.set(keys.segment(), offset, kind.length(into, 0));
    }

    @Override
    void start(double distanceFrom, Slice from) {
        fromDistance = distanceFrom;
        fromKey.clear().putBytes(from);
        end();
        isStarted = false;
    }

    @Override
    void end() {
        waiting.clear();
        aside.clear();
        isAside = false;
        keys.clear();
        hasForgotten = false;
        toDistance = Double.POSITIVE_INFINITY;
        valueDistance = -1;
        isStarted = true;
    }

    @Override
    double move() {
        if (valueDistance >= 0) {
            if (entries.next() && startsWith(entries.key(), value)) {
                work.lookedAtEntry();
                return valueDistance;
            }
            valueDistance = -1;
        }
        while (true) {
            if (!isStarted) {
                isStarted = true;
                addClasses();
            }
            while (waiting.size() > 0) {
                int first = waiting.remove();
                if (waiting.level(first) == 0) {
                    if (show(first)) {
                        return valueDistance;
                    }
                } else {
                    open(waiting, first);
                    if (waiting.size() > waitingMax) {
                        forgetFarther();
                    } else if (keys.length() > KEY_BYTES_MAX) {
                        compactKeys();
                    }
                }
            }
            if (!hasForgotten) {
                return -1;
            }
            fromDistance = toDistance;
            fromKey.clear().putBytes(toKey.asSlice(left));
            end();
            isStarted = false;
        }
    }

    /** Moves to the first entry of a value; false if those from which on it shows are behind it. */
    private boolean show(int slot) {
        double distance = waiting.distance(slot);
        value.clear().putBytes(waitingKey(slot, left));
        value.asSlice(targetSlice);
        if (distance == fromDistance && fromKey.asSlice(right).compareBytes(targetSlice) > 0) {
            targetSlice.set(right);
        }
        entries.seek(targetSlice);
        if (entries.next() && startsWith(entries.key(), value)) {
            valueDistance = distance;
            work.lookedAtEntry();
            return true;
        }
        return false;
    }

    private boolean startsWith(Slice key, ByteSink first) {
        if (key.length() < first.length()) {
            return false;
        }
        left.set(key.segment(), key.offset(), first.length());
        return left.contentEquals(first.asSlice(right));
    }

    /** The squares of all classes that there are. */
    private void addClasses() {
        target.clear();
        while (true) {
            entries.seek(target.asSlice(targetSlice));
            if (!entries.next()) {
                return;
            }
            square.setCell(entries.key());
            addSquare(square.classes(), CurveSquare.LEVEL_MAX, square.number());
            target.clear();
            square.putNextClasses(target);
        }
    }

    private void addSquare(int classes, int level, long number) {
        part.set(classes, level, number).box(box);
        double least = place.least(box);
        target.clear();
        part.putFirst(target);
        boolean isForgotten = hasForgotten
                && (least > toDistance
                        || (least == toDistance
                                && target.asSlice(targetSlice).compareBytes(toKey.asSlice(left))
                                        >= 0));
        if (!isForgotten && (fromDistance == 0 || place.most(box) >= fromDistance)) {
            // a square of one cell has a level too: entries have none
            if (isAside) {
                aside.add(level, classes, number, level + 1, 0);
            } else {
                waiting.add(least, classes, number, level + 1, 0);
            }
        }
    }

    /** Takes values out of a square, from its first cell on. */
    private void open(NearestQueue from, int slot) {
        square.set((int) from.high(slot), from.level(slot) - 1, from.low(slot));
        target.clear();
        square.putFirst(target);
        entries.seek(target.asSlice(targetSlice));
        work.enteredGroup();
        value.clear();
        int valueCount = 0;
        int sameCount = 0;
        long lastNumber = square.number();
        while (entries.next()) {
            work.lookedAtEntry();
            Slice key = entries.key();
            if (value.length() > 0 && startsWith(key, value)) {
                if (++sameCount == SAME_MAX) {
                    seekBehindValue();
                }
                continue;
            }
            part.setCell(key);
            if (part.classes() != square.classes()
                    || Long.compareUnsigned(part.number(), square.last()) > 0) {
                return;
            }
            if (valueCount >= VALUES_MAX && part.number() != lastNumber) {
                split(part.number());
                return;
            }
            valueCount++;
            sameCount = 0;
            lastNumber = part.number();
            value.clear().putBytes(key.segment(), key.offset(), kind.length(key, 0));
            addValue(key, part.classes(), lastNumber);
            if (isAside && waiting.size() > waitingMax) {
                forgetHalf();
            }
        }
    }

    private void seekBehindValue() {
        target.clear().putBytes(value.asSlice(left));
        increment(target);
        entries.seek(target.asSlice(targetSlice));
    }

    /** Makes of a whole secondary key bytes that are above all keys that it begins. */
    private static void increment(ByteSink key) {
        int last = key.length() - 1;
        while (key.segment().get(Bytes.U8, last) == -1) {
            last--;
        }
        int byteThere = key.segment().get(Bytes.U8, last);
        key.truncate(last).putByte(byteThere + 1);
    }

    private void addValue(Slice key, int classes, long number) {
        kind.decode(key, 0, box);
        double distance = place.distance(box);
        if (distance < fromDistance
                || (distance == fromDistance && !reaches(value.asSlice(left), fromKey))
                || (hasForgotten && distance > toDistance)
                || (hasForgotten
                        && distance == toDistance
                        && value.asSlice(left).compareBytes(toKey.asSlice(right)) >= 0)) {
            return;
        }
        int offset = keys.length();
        keys.putBytes(value.asSlice(left));
        waiting.add(distance, classes, number, 0, offset);
    }

    /** Whether some key that begins with {@code first} is at or above {@code from}. */
    private boolean reaches(Slice first, ByteSink from) {
        Slice bound = from.asSlice(right);
        int length = Math.min(first.length(), bound.length());
        bound.set(bound.segment(), bound.offset(), length);
        return first.compareBytes(bound) >= 0;
    }

    /** The rest of the square, from a cell on. */
    private void split(long from) {
        int level = Math.max(0, square.level() - LEVELS_A_SPLIT);
        long last = square.last();
        int classes = square.classes();
        long step = 1L << (2 * level);
        long number = from;
        while (true) {
            addSquare(classes, level, number);
            long next = (number & -step) + step;
            // all ones and one more is zero
            if (next == 0 || Long.compareUnsigned(next, last) > 0) {
                return;
            }
            number = next;
        }
    }

    private void forgetFarther() {
        waiting.moveLevels(aside);
        isAside = true;
        while (true) {
            if (waiting.size() > waitingMax) {
                forgetHalf();
            }
            if (aside.size() == 0) {
                break;
            }
            open(aside, aside.remove());
        }
        isAside = false;
    }

    /** While only values wait. */
    private void forgetHalf() {
        int last = waiting.halve();
        toDistance = waiting.distance(last);
        hasForgotten = true;
        toKey.clear().putBytes(waitingKey(last, left));
        increment(toKey);
        compactKeys();
    }

    private void compactKeys() {
        spareKeys.clear();
        for (int i = 0; i < waiting.size(); i++) {
            int slot = waiting.slot(i);
            if (waiting.level(slot) == 0) {
                int offset = spareKeys.length();
                spareKeys.putBytes(waitingKey(slot, left));
                waiting.setExtra(slot, offset);
            }
        }
        ByteSink used = keys;
        keys = spareKeys;
        spareKeys = used;
    }
}
