package io.turbidite.ops.group;

import io.turbidite.core.Cleanup;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.sort.SortBuffer;
import io.turbidite.core.sort.SortedInput;
import io.turbidite.core.sort.SortedMerge;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.run.Rows;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;

/**
 * Each row once, the first of those that are equal.
 *
 * <ol>
 *   <li>As long as the keys of the rows fit the memory, a new row is handed out as it comes, and
 *       its key kept.
 *   <li>When the memory is used up, the keys go into a run, marked as given. From then on rows are
 *       kept with their keys, and go into runs too.
 *   <li>In the end the runs are merged by key: of a key that was not given the first row is.
 * </ol>
 *
 * <p><em>Confined to one thread at a time.</em> Owns the rows that it reads.
 */
public final class DistinctRows implements Rows {
    private static final Slice NO_ROW = Slice.of(new byte[0]);
    private static final int NO_TAG = 0;

    /** The number of a key whose row was handed out; those that were not have 0. */
    private static final long GIVEN = 1;

    private final Rows input;
    private final RowKey keys;
    private final RowCopy copy;
    private final SetTable table;
    private final OperatorMeter meter;
    private final RecordView row;
    private final ByteSink keyBytes = new ByteSink(64, Integer.MAX_VALUE - 8);
    private final Slice key = new Slice();
    private final ByteSink rowBytes = new ByteSink(64, Integer.MAX_VALUE - 8);
    private final Slice rowSlice = new Slice();
    private @Nullable SortedInput merged;
    private boolean hasNext;
    private boolean ended;

    /**
     * @param type of the rows
     * @param meter counts rows handed out
     */
    public DistinctRows(Rows input, RecordType type, RunOptions options, OperatorMeter meter) {
        this.input = input;
        this.keys = new RowKey(type);
        this.copy = new RowCopy(type, type);
        this.table = new SetTable(options, meter);
        this.meter = meter;
        this.row = new RecordView(type);
    }

    @Override
    public boolean next() {
        boolean found = !ended && (merged == null ? read() : nextMerged(merged));
        if (found) {
            meter.add(1);
        }
        return found;
    }

    /** Moves to the next new row; at the end of the input to the first of the runs. */
    private boolean read() {
        while (input.next()) {
            table.look();
            Slice rowKey = keys.of(input.row(), NO_TAG);
            if (table.find(rowKey) != SortBuffer.NONE) {
                continue;
            }
            Slice made = copy.of(input.row());
            if (!table.hasSpilled() && table.addIfItFits(rowKey, GIVEN, NO_ROW)) {
                row.wrap(made);
                return true;
            }
            table.add(rowKey, 0, made);
        }
        if (!table.hasSpilled()) {
            ended = true;
            return false;
        }
        SortedInput runs = SortedMerge.of(table.inputs());
        merged = runs;
        hasNext = runs.next();
        return nextMerged(runs);
    }

    private boolean nextMerged(SortedInput runs) {
        while (hasNext) {
            table.look();
            keyBytes.clear().putBytes(runs.key()).asSlice(key);
            boolean isGiven = false;
            rowBytes.clear();
            do {
                isGiven |= runs.number() == GIVEN;
                if (!isGiven && rowBytes.length() == 0) {
                    rowBytes.putBytes(runs.payload());
                }
                hasNext = runs.next();
            } while (hasNext && runs.key().contentEquals(key));
            if (!isGiven) {
                row.wrap(rowBytes.asSlice(rowSlice));
                return true;
            }
        }
        ended = true;
        return false;
    }

    @Override
    public RecordView row() {
        return row;
    }

    @Override
    public void close() {
        ended = true;
        SortedInput runs = merged;
        merged = null;
        Cleanup cleanup = new Cleanup().add(input::close);
        if (runs != null) {
            cleanup.add(runs::close);
        }
        cleanup.add(table::close).run();
    }
}
