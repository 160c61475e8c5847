package io.turbidite.ops.sort;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.sort.SortBuffer;
import io.turbidite.core.sort.SortedInput;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.batch.BatchTaker;
import io.turbidite.ops.batch.BatchWriter;
import io.turbidite.ops.batch.ColumnBatch;
import io.turbidite.ops.expr.RecordPredicate;
import io.turbidite.ops.expr.TupleMaker;
import io.turbidite.ops.frame.Frame;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.run.OperatorMemory;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.run.StopLooks;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Locale;

/**
 * Collects tuples of key and row, to hand back in key order all of them or the first few.
 *
 * <p>The way of a tuple:
 *
 * <ol>
 *   <li>Where only the first {@code limit} rows are wanted and that many are known, a key at or
 *       above the last of them is dropped. Of a batch those are left out first that lie above it
 *       in the first field of the order alone: no key is made of them.
 *   <li>Else it is added to the buffer. When that has twice as many as wanted, it is sorted and
 *       cut.
 *   <li>When the buffer's memory is used up, it is cut; if that frees nothing, it is sorted and
 *       written as a run, where there is somewhere to spill to.
 *   <li>At the end buffer or runs are read in order.
 * </ol>
 *
 * <p><em>Confined to one thread at a time.</em>
 */
public final class SortCollector implements BatchWriter {
    /** The {@link #limit} where all rows are wanted. */
    public static final long ALL = Long.MAX_VALUE;

    /** A cut costs a sort: not worth it for fewer rows. */
    private static final long CUT_COUNT_MIN = 256;

    /** Of a longer key no condition is made: it would be copied with each that is the last. */
    private static final int BOUND_BYTES_MAX = 4 << 10;

    private final RunOptions options;
    private final StopLooks looks;
    private final OperatorMeter meter;
    private long memoryBytes;
    private final long limit;
    private final Slice key = new Slice();
    private final Slice row = new Slice();
    private final ByteSink lastKept = new ByteSink(64, Integer.MAX_VALUE - 8);
    private final Slice lastKeptKey = new Slice();
    private boolean cut;

    /** Whether {@link #notAbove} is of an earlier {@link #lastKept}, or of none. */
    private boolean isBoundOld;

    /** Leaves out of batches what lies above the last of the rows that are wanted. */
    private @Nullable RecordPredicate notAbove;

    private SortBuffer buffer;
    private @Nullable SortBuffer spare;
    private @Nullable SpilledRuns runs;

    /**
     * Collects up to a bound, then spills or fails.
     *
     * @param memoryBytes this operator's share of the query's memory
     * @param limit most rows wanted
     */
    public SortCollector(RunOptions options, long memoryBytes, long limit) {
        this(options, memoryBytes, limit, new OperatorMeter());
    }

    /**
     * As {@link #SortCollector(RunOptions, long, long)}.
     *
     * @param meter told of memory and of what is spilled
     */
    public SortCollector(RunOptions options, long memoryBytes, long limit, OperatorMeter meter) {
        this.options = options;
        this.looks = new StopLooks(options::checkNotStopped);
        this.meter = meter;
        this.memoryBytes = memoryBytes;
        this.limit = limit;
        this.buffer = newBuffer();
    }

    /**
     * Has another share of the query's memory, before the first row: those it was to share it with
     * turned out to need none.
     */
    public void useMemory(long bytes) {
        buffer.close();
        memoryBytes = bytes;
        buffer = newBuffer();
    }

    @Override
    public void open() {
        buffer.clear();
    }

    @Override
    public boolean frame(Frame frame) {
        for (int i = 0; i < frame.tupleCount(); i++) {
            frame.field(i, 0, key);
            if (!drops(key)) {
                add(frame.field(i, 1, row));
            }
        }
        return limit > 0;
    }

    @Override
    public boolean tuple(Slice[] tuple) {
        if (!drops(tuple[0])) {
            key.set(tuple[0]);
            add(tuple[1]);
        }
        return limit > 0;
    }

    @Override
    public @Nullable BatchTaker taking(TupleMaker maker, RecordType type) {
        return maker.readsStream() ? null : batch -> batch(batch, maker);
    }

    private boolean batch(ColumnBatch batch, TupleMaker maker) {
        if (isBoundOld) {
            // one that was made for a key further behind still holds
            notAbove =
                    lastKeptKey.length() > BOUND_BYTES_MAX ? notAbove : maker.notAbove(lastKeptKey);
            isBoundOld = false;
        }
        if (notAbove != null) {
            batch.narrow(notAbove);
        }
        for (int row = 0; row < batch.count(); row++) {
            tuple(batch.tuple(maker, row));
        }
        return limit > 0;
    }

    /** At or above the last of the rows that are wanted: what is cut off stays so. */
    @Override
    public boolean drops(Slice first) {
        return limit == 0 || (cut && first.compareBytes(lastKeptKey) >= 0);
    }

    @Override
    public void fail() {
        release();
    }

    /** The end of the frames; what was collected stays until {@link #release()}. */
    @Override
    public void close() {
        key.clear();
        row.clear();
    }

    /** Inputs that together hold at least the wanted rows, each in key order; rows are payloads. */
    List<SortedInput> inputs() {
        if (runs == null) {
            return List.of(buffer.sorted());
        }
        runs.add(buffer, limit);
        buffer.close();
        return runs.inputs();
    }

    /** Frees memory and deletes runs; once more does no harm. */
    void release() {
        buffer.close();
        if (spare != null) {
            spare.close();
            spare = null;
        }
        if (runs != null) {
            runs.close();
            runs = null;
        }
    }

    private void add(Slice newRow) {
        boolean added = addIfItFits(newRow);
        if (added && buffer.count() >= CUT_COUNT_MIN && buffer.count() / 2 >= limit && !cut()) {
            spill();
        }
        if (!added && buffer.count() > limit && cut()) {
            added = addIfItFits(newRow);
        }
        if (!added && buffer.count() > 0) {
            spill();
            added = addIfItFits(newRow);
        }
        if (!added) {
            throw new InvalidRequestException(String.format(
                    Locale.ROOT,
                    "a row of %,d bytes does not fit the %,d bytes that ordering may use: raise memoryBytesMax%s",
                    newRow.length(),
                    memoryBytes,
                    options.others()));
        }
    }

    private boolean addIfItFits(Slice newRow) {
        return buffer.add(key, 0, newRow) != SortBuffer.FULL;
    }

    private void spill() {
        if (runs == null) {
            if (options.spill() == null) {
                throw new InvalidRequestException(String.format(
                        Locale.ROOT,
                        "ordering %,d rows and more needs more than %,d bytes of memory: ask for fewer, raise memoryBytesMax or give a directory to spill to",
                        buffer.count(),
                        memoryBytes));
            }
            runs = new SpilledRuns(options, memoryBytes, meter);
        }
        runs.add(buffer, limit);
    }

    /**
     * Keeps the first {@link #limit} rows; false, and nothing changes, if in their order they fit
     * worse.
     */
    private boolean cut() {
        if (spare == null) {
            spare = newBuffer();
        }
        SortedInput kept = buffer.sorted();
        while (spare.count() < limit && kept.next()) {
            looks.look();
            if (spare.add(kept.key(), 0, kept.payload()) == SortBuffer.FULL) {
                spare.clear();
                return false;
            }
        }
        lastKept.clear().putBytes(kept.key()).asSlice(lastKeptKey);
        cut = true;
        isBoundOld = true;
        SortBuffer full = buffer;
        buffer = spare;
        spare = full;
        full.clear();
        return true;
    }

    private SortBuffer newBuffer() {
        // a cut copies what it keeps, so that each of two buffers has half
        return new SortBuffer(
                OperatorMemory.of(options, limit == ALL ? memoryBytes : memoryBytes / 2, meter));
    }
}
