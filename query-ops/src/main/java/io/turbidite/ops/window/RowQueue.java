package io.turbidite.ops.window;

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

import java.util.Arrays;
import java.util.Locale;

/**
 * Rows that are put and then taken in the same order, or the other way round, again and again.
 *
 * <ol>
 *   <li>The first ones, to 64 KiB, lie in one piece: most partitions are small.
 *   <li>What follows goes into a sort buffer by its number, and into runs when the memory is used
 *       up.
 * </ol>
 *
 * <p><em>Confined to one thread at a time.</em>
 */
final class RowQueue implements AutoCloseable {
    private static final int HEAD_BYTES_MAX = 64 << 10;

    private final int headBytesMax;

    private final OperatorMeter meter;
    private final RunOptions options;
    private final ByteSink head = new ByteSink(4 << 10, Integer.MAX_VALUE - 8);
    private int[] headEnds = new int[64];
    private int headCount;
    private int taken;
    private boolean isRestTaken;
    private final ByteSink keyBytes = new ByteSink(Long.BYTES, Long.BYTES);
    private final Slice key = new Slice();
    private final Slice row = new Slice();
    private @Nullable SortBuffer buffer;
    private @Nullable SpilledRuns runs;
    private @Nullable SortedInput rest;
    private long count;

    private final boolean isReversed;

    RowQueue(RunOptions options, OperatorMeter meter) {
        this(options, meter, false);
    }

    /** One whose last row is taken first. */
    static RowQueue reversed(RunOptions options, OperatorMeter meter) {
        return new RowQueue(options, meter, true);
    }

    private RowQueue(RunOptions options, OperatorMeter meter, boolean isReversed) {
        this.meter = meter;
        this.isReversed = isReversed;
        this.options = options;
        this.headBytesMax = (int) Math.min(HEAD_BYTES_MAX, options.memoryBytesMax() / 4);
    }

    /** Rows that are in it, taken or not. */
    long count() {
        return count;
    }

    /**
     * Puts a row. None has been taken since the last {@link #clear}.
     *
     * @throws InvalidRequestException if it does not fit the memory and there is no place for runs
     */
    void put(Slice newRow) {
        count++;
        if (buffer == null && head.length() + newRow.length() <= headBytesMax) {
            head.putBytes(newRow);
            if (headCount == headEnds.length) {
                headEnds = Arrays.copyOf(headEnds, 2 * headCount);
            }
            headEnds[headCount++] = head.length();
            return;
        }
        SortBuffer into = buffer;
        if (into == null) {
            into = new SortBuffer(
                    OperatorMemory.of(options, options.memoryBytesMax() - headBytesMax, meter));
            buffer = into;
        }
        Slice number = keyBytes.clear()
                .putLongBigEndian(isReversed ? Long.MAX_VALUE - count : count)
                .asSlice(key);
        if (into.add(number, 0, newRow) != SortBuffer.FULL) {
            return;
        }
        if (into.count() > 0) {
            spill(into);
        }
        if (into.add(number, 0, newRow) == SortBuffer.FULL) {
            throw new InvalidRequestException(String.format(
                    Locale.ROOT,
                    "a row of %,d bytes does not fit the %,d bytes that a window may use: raise"
                            + " memoryBytesMax%s",
                    newRow.length(),
                    options.memoryBytesMax(),
                    options.others()));
        }
    }

    private void spill(SortBuffer full) {
        SpilledRuns to = runs;
        if (to == null) {
            if (options.spill() == null) {
                throw new InvalidRequestException(String.format(
                        Locale.ROOT,
                        "a partition of %,d rows and more needs more than %,d bytes of memory:"
                                + " raise memoryBytesMax or give a directory to spill to",
                        count,
                        options.memoryBytesMax()));
            }
            to = new SpilledRuns(options, options.memoryBytesMax(), meter);
            runs = to;
        }
        to.add(full, Long.MAX_VALUE);
    }

    /** Takes the next row, valid until the next call; null: there are no more. */
    @Nullable
    Slice take() {
        Slice first = isReversed ? ofRest() : ofHead();
        return first != null ? first : isReversed ? ofHead() : ofRest();
    }

    private @Nullable Slice ofHead() {
        if (taken == headCount) {
            return null;
        }
        int index = isReversed ? headCount - 1 - taken : taken;
        taken++;
        int start = index == 0 ? 0 : headEnds[index - 1];
        return row.set(head.segment(), start, headEnds[index] - start);
    }

    private @Nullable Slice ofRest() {
        if (isRestTaken) {
            return null;
        }
        SortBuffer kept = buffer;
        if (kept == null) {
            return null;
        }
        SortedInput rows = rest;
        if (rows == null) {
            SpilledRuns spilled = runs;
            if (spilled != null && kept.count() > 0) {
                spill(kept);
            }
            rows = spilled == null ? kept.sorted() : SortedMerge.of(spilled.inputs());
            rest = rows;
        }
        isRestTaken = !rows.next();
        return isRestTaken ? null : rows.payload();
    }

    /** Empties it. */
    void clear() {
        head.clear();
        headCount = 0;
        taken = 0;
        isRestTaken = false;
        count = 0;
        if (buffer != null) {
            close();
        }
    }

    @Override
    public void close() {
        Cleanup cleanup = new Cleanup();
        SortedInput rows = rest;
        SortBuffer kept = buffer;
        SpilledRuns spilled = runs;
        rest = null;
        buffer = null;
        runs = null;
        if (rows != null) {
            cleanup.add(rows::close);
        }
        if (kept != null) {
            cleanup.add(kept::close);
        }
        if (spilled != null) {
            cleanup.add(spilled::close);
        }
        cleanup.run();
    }
}
