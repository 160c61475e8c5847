package io.turbidite.ops.join;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.sort.SortBuffer;
import io.turbidite.core.sort.SortedInput;
import io.turbidite.core.sort.SortedMerge;
import io.turbidite.ops.run.Cleanup;
import io.turbidite.ops.run.OperatorMemory;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.sort.SpilledRuns;

import org.jspecify.annotations.Nullable;

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
    private final RunOptions options;
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

    /** The next right row of the group, or the next left row of the lot. */
    private long next = SortBuffer.NONE;

    MergedRuns(
            HashJoin.SpillBuffer left,
            HashJoin.SpillBuffer right,
            JoinKind kind,
            RunOptions options,
            Runnable look) {
        this.kind = kind;
        this.options = options;
        this.look = look;
        this.memoryBytes = options.memoryBytesMax() / 4;
        Cleanup made = new Cleanup();
        try {
            group = new SortBuffer(OperatorMemory.of(memoryBytes));
            made.add(group::close);
            lot = new SortBuffer(OperatorMemory.of(memoryBytes));
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

    /** The left row of the pair that it stands on. */
    Slice left() {
        return left;
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
            if (!hasLeft) {
                return false;
            }
            if (hasMatch()) {
                if (kind.hasPairs()) {
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

    /** A left row by itself; the input has moved on, so it is copied. */
    private boolean alone() {
        lot.clear();
        require(lot.add(leftRows.key(), 0, leftRows.payload()), memoryBytes);
        lot.payload(SortBuffer.FIRST, left);
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
                require(group.add(groupKey, 0, rightRows.payload()), memoryBytes);
            }
            hasRightRows = rightRows.next();
        } while (hasRightRows && rightRows.key().contentEquals(groupKey));
        if (large != null) {
            writeLarge();
        }
        hasGroup = true;
        next = SortBuffer.NONE;
        lot.clear();
    }

    private void writeLarge() {
        SpilledRuns runs = large;
        if (runs == null) {
            // there is one, since there are runs
            runs = new SpilledRuns(Objects.requireNonNull(options.spill()), memoryBytes);
            large = runs;
        }
        runs.add(group, Long.MAX_VALUE);
    }

    /** The next pair of the group's rows, the right ones being all in memory or read again. */
    private boolean nextOfGroup() {
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
            require(lot.add(groupKey, 0, leftRows.payload()), memoryBytes);
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

    private boolean fillLot() {
        lot.clear();
        while (hasLeft && leftRows.key().contentEquals(groupKey)) {
            if (lot.add(groupKey, lot.count(), leftRows.payload()) == SortBuffer.FULL) {
                require(lot.count() == 0 ? SortBuffer.FULL : 0, memoryBytes);
                return true;
            }
            look.run();
            hasLeft = leftRows.next();
        }
        return lot.count() > 0;
    }

    private static void require(long added, long memory) {
        if (added == SortBuffer.FULL) {
            throw new InvalidRequestException(
                    "a row does not fit the %,d bytes that a join may use: raise memoryBytesMax"
                            .formatted(memory));
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
