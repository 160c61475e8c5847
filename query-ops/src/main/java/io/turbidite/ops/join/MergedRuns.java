package io.turbidite.ops.join;

import io.turbidite.core.Cleanup;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.sort.SortBuffer;
import io.turbidite.core.sort.SortedInput;
import io.turbidite.core.sort.SortedMerge;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.run.OperatorMemory;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.sort.SpilledRuns;

import org.jspecify.annotations.Nullable;

import java.util.BitSet;
import java.util.Locale;
import java.util.Objects;

/**
 * Joins two sides that lie in runs in the order of their keys.
 *
 * <p>The right rows of a key are held while its left rows go by. Where they are more than memory
 * holds, they are written once more by themselves, and read again for each lot of left rows that
 * memory holds.
 *
 * <p><em>Confined to one thread at a time.</em> The runs are the caller's.
 */
final class MergedRuns implements AutoCloseable {
    private final JoinKind kind;
    private final @Nullable PairTest test;
    private final RunOptions options;
    private final OperatorMeter meter;
    private final Runnable look;
    private final SortedInput leftRows;
    private final SortedInput rightRows;
    private final SortBuffer group;
    private final SortBuffer lot;
    private final ByteSink groupKeyBytes = new ByteSink(64, Integer.MAX_VALUE - 8);
    private final Slice groupKey = new Slice();
    private final Slice left = new Slice();
    private final Slice right = new Slice();
    private final long memoryBytes;

    /** What the right rows of the key fill beyond memory. */
    private @Nullable SpilledRuns large;

    private @Nullable SortedInput largeRows;
    private boolean hasLeft;
    private boolean hasRightRows;
    private boolean hasGroup;
    private boolean hasRight;
    private boolean standsOnLeft;

    /** What is done with a group whose pairs are tested. */
    private Phase phase = Phase.END;

    /** Which left rows of the lot, and which right rows of the group, have met another. */
    private final BitSet leftMet = new BitSet();

    private final BitSet rightMet = new BitSet();
    private int leftIndex;
    private int rightIndex;
    private long nextRight = SortBuffer.NONE;

    private enum Phase {
        LOT,
        PAIRS,
        LEFT_ALONE,
        RIGHT_ALONE,
        END
    }

    /**
     * Which rows are given.
     *
     * @param test what must hold of rows with equal keys; null: nothing
     */
    record Meeting(JoinKind kind, @Nullable PairTest test) {}

    /** The runs of both sides, a group in memory, its runs, and a lot of left rows. */
    static final int PARTS = 5;

    /** The next right row of the group, or the next left row of the lot. */
    private long next = SortBuffer.NONE;

    MergedRuns(
            SpillBuffer left,
            SpillBuffer right,
            Meeting meeting,
            RunOptions options,
            OperatorMeter meter,
            Runnable look) {
        this.kind = meeting.kind();
        this.test = meeting.test();
        this.options = options;
        this.meter = meter;
        this.look = look;
        this.memoryBytes = options.memoryBytesMax() / PARTS;
        Cleanup made = new Cleanup();
        try {
            group = new SortBuffer(OperatorMemory.of(options, memoryBytes, meter));
            made.add(group::close);
            lot = new SortBuffer(OperatorMemory.of(options, memoryBytes, meter));
            made.add(lot::close);
            leftRows = SortedMerge.of(left.end().inputs());
            made.add(leftRows::close);
            rightRows = SortedMerge.of(right.end().inputs());
            made.add(rightRows::close);
            hasLeft = leftRows.next();
            hasRightRows = rightRows.next();
        } catch (RuntimeException | Error failure) {
            made.runAfter(failure);
            throw failure;
        }
    }

    /** The left row of the pair that it stands on; there is one where {@link #hasLeft} says so. */
    Slice left() {
        return left;
    }

    boolean hasLeft() {
        return standsOnLeft;
    }

    /** The right row; there is one where {@link #hasRight()} says so. */
    Slice right() {
        return right;
    }

    boolean hasRight() {
        return hasRight;
    }

    boolean next() {
        while (true) {
            look.run();
            if (hasGroup && nextOfGroup()) {
                return true;
            }
            hasGroup = false;
            if (kind == JoinKind.FULL && rightComesFirst()) {
                return rightAlone();
            }
            if (!hasLeft) {
                return false;
            }
            if (hasMatch()) {
                if (kind.hasPairs() || test != null) {
                    beginGroup();
                } else if (kind == JoinKind.SEMI) {
                    return alone();
                } else {
                    hasLeft = leftRows.next();
                }
            } else if (kind.givesUnmatched()) {
                return alone();
            } else {
                hasLeft = leftRows.next();
            }
        }
    }

    /** Whether the next right row has a key that no left row has. */
    private boolean rightComesFirst() {
        return hasRightRows && (!hasLeft || rightRows.key().compareBytes(leftRows.key()) < 0);
    }

    /** A right row by itself. */
    private boolean rightAlone() {
        lot.clear();
        require(lot.add(rightRows.key(), 0, rightRows.payload()));
        lot.payload(SortBuffer.FIRST, right);
        standsOnLeft = false;
        hasRight = true;
        hasRightRows = rightRows.next();
        return true;
    }

    /** A left row by itself; the input has moved on, so it is copied. */
    private boolean alone() {
        lot.clear();
        require(lot.add(leftRows.key(), 0, leftRows.payload()));
        lot.payload(SortBuffer.FIRST, left);
        standsOnLeft = true;
        hasRight = false;
        hasLeft = leftRows.next();
        return true;
    }

    /** Whether right rows have the key of the left row; passes over those below. */
    private boolean hasMatch() {
        while (hasRightRows) {
            int order = rightRows.key().compareBytes(leftRows.key());
            if (order >= 0) {
                return order == 0;
            }
            look.run();
            hasRightRows = rightRows.next();
        }
        return false;
    }

    private void beginGroup() {
        groupKeyBytes.clear().putBytes(rightRows.key()).asSlice(groupKey);
        closeLarge();
        group.clear();
        do {
            look.run();
            if (group.add(groupKey, group.count(), rightRows.payload()) == SortBuffer.FULL) {
                writeLarge();
                require(group.add(groupKey, 0, rightRows.payload()));
            }
            hasRightRows = rightRows.next();
        } while (hasRightRows && rightRows.key().contentEquals(groupKey));
        if (large != null) {
            writeLarge();
        }
        hasGroup = true;
        next = SortBuffer.NONE;
        lot.clear();
        phase = Phase.LOT;
        rightMet.clear();
    }

    private void writeLarge() {
        SpilledRuns runs = large;
        if (runs == null) {
            // there is one, since there are runs
            runs = new SpilledRuns(options, memoryBytes, meter);
            large = runs;
        }
        runs.add(group, Long.MAX_VALUE);
    }

    /** The next pair of the group's rows, the right ones being all in memory or read again. */
    private boolean nextOfGroup() {
        standsOnLeft = true;
        PairTest tested = test;
        if (tested != null) {
            return nextTested(tested);
        }
        SpilledRuns runs = large;
        return runs == null ? nextInMemory() : nextLarge(runs);
    }

    /** For each left row all right ones. */
    private boolean nextInMemory() {
        if (next == SortBuffer.NONE) {
            if (!hasLeft || !leftRows.key().contentEquals(groupKey)) {
                return false;
            }
            lot.clear();
            require(lot.add(groupKey, 0, leftRows.payload()));
            lot.payload(SortBuffer.FIRST, left);
            hasLeft = leftRows.next();
            next = SortBuffer.FIRST;
        }
        group.payload(next, right);
        next = group.addressBehind(next);
        hasRight = true;
        return true;
    }

    /** For each right row all left ones of the lot. */
    private boolean nextLarge(SpilledRuns runs) {
        while (next == SortBuffer.NONE) {
            SortedInput rows = largeRows;
            if (rows != null && rows.next()) {
                next = SortBuffer.FIRST;
            } else {
                closeLargeRows();
                if (!fillLot()) {
                    return false;
                }
                largeRows = SortedMerge.of(runs.inputs());
            }
        }
        right.set(Objects.requireNonNull(largeRows).payload());
        lot.payload(next, left);
        next = lot.addressBehind(next);
        hasRight = true;
        return true;
    }

    /**
     * The next row of a group whose pairs must pass a test: of each lot of left rows all pairs,
     * then the left rows that are given alone; in the end the right rows.
     */
    private boolean nextTested(PairTest of) {
        while (true) {
            look.run();
            switch (phase) {
                case LOT -> {
                    startRight();
                    next = SortBuffer.NONE;
                    leftMet.clear();
                    phase = fillLot()
                            ? Phase.PAIRS
                            : kind == JoinKind.FULL ? Phase.RIGHT_ALONE : Phase.END;
                }
                case PAIRS -> {
                    if (next == SortBuffer.NONE && !nextRight()) {
                        phase = Phase.LEFT_ALONE;
                        next = SortBuffer.FIRST;
                        leftIndex = 0;
                    } else if (nextMeets(of)) {
                        return true;
                    }
                }
                case LEFT_ALONE -> {
                    if (next == SortBuffer.NONE) {
                        phase = Phase.LOT;
                        break;
                    }
                    lot.payload(next, left);
                    next = lot.addressBehind(next);
                    boolean met = leftMet.get(leftIndex++);
                    if (met ? kind == JoinKind.SEMI : kind.givesUnmatched()) {
                        hasRight = false;
                        return true;
                    }
                }
                case RIGHT_ALONE -> {
                    if (!nextRight()) {
                        phase = Phase.END;
                    } else if (!rightMet.get(rightIndex)) {
                        standsOnLeft = false;
                        hasRight = true;
                        return true;
                    }
                }
                case END -> {
                    return false;
                }
            }
        }
    }

    /** Whether the next left row of the lot is a pair, with the right one, that is given. */
    private boolean nextMeets(PairTest of) {
        if (next == SortBuffer.NONE) {
            next = SortBuffer.FIRST;
            leftIndex = 0;
        }
        lot.payload(next, left);
        next = lot.addressBehind(next);
        int index = leftIndex++;
        // a pair that nobody sees need not be tried again
        if ((!kind.hasPairs() && leftMet.get(index)) || !of.holds(left, right)) {
            return false;
        }
        leftMet.set(index);
        if (kind == JoinKind.FULL) {
            rightMet.set(rightIndex);
        }
        hasRight = true;
        return kind.hasPairs();
    }

    /** Goes back to the first right row of the group. */
    private void startRight() {
        rightIndex = -1;
        nextRight = SortBuffer.FIRST;
        SpilledRuns runs = large;
        if (runs != null) {
            closeLargeRows();
            largeRows = SortedMerge.of(runs.inputs());
        }
    }

    private boolean nextRight() {
        rightIndex++;
        SortedInput rows = largeRows;
        if (rows != null) {
            boolean found = rows.next();
            if (found) {
                right.set(rows.payload());
            } else {
                closeLargeRows();
                nextRight = SortBuffer.NONE;
            }
            return found;
        }
        if (nextRight == SortBuffer.NONE) {
            return false;
        }
        group.payload(nextRight, right);
        nextRight = group.addressBehind(nextRight);
        return true;
    }

    private boolean fillLot() {
        lot.clear();
        while (hasLeft && leftRows.key().contentEquals(groupKey)) {
            if (lot.add(groupKey, lot.count(), leftRows.payload()) == SortBuffer.FULL) {
                require(lot.count() == 0 ? SortBuffer.FULL : 0);
                return true;
            }
            look.run();
            hasLeft = leftRows.next();
        }
        return lot.count() > 0;
    }

    private void require(long added) {
        if (added == SortBuffer.FULL) {
            throw new InvalidRequestException(String.format(
                    Locale.ROOT,
                    "a row does not fit the %,d bytes that a join may use: raise memoryBytesMax%s",
                    memoryBytes,
                    options.others()));
        }
    }

    private void closeLargeRows() {
        SortedInput rows = largeRows;
        if (rows != null) {
            largeRows = null;
            rows.close();
        }
    }

    private void closeLarge() {
        closeLargeRows();
        SpilledRuns runs = large;
        if (runs != null) {
            large = null;
            runs.close();
        }
    }

    @Override
    public void close() {
        new Cleanup()
                .add(this::closeLarge)
                .add(leftRows::close)
                .add(rightRows::close)
                .add(group::close)
                .add(lot::close)
                .run();
    }
}
