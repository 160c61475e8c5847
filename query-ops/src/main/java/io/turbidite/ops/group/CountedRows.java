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
 * Rows by how often each side has them: both sides are counted by the keys of their rows, and what
 * is given follows from the two counts. <em>Confined to one thread at a time.</em> Owns both sides.
 */
public final class CountedRows implements Rows {
    /** The byte behind a key says which side it is of. */
    private static final int LEFT = 0;

    private static final int RIGHT = 1;
    private static final Slice NO_ROW = Slice.of(new byte[0]);

    private final Rows left;
    private final Rows right;
    private final Kind kind;
    private final RecordType leftType;
    private final RecordType rightType;
    private final RowCopy copy;
    private final SetTable table;
    private final OperatorMeter meter;
    private final RecordView row;
    private final ByteSink keyBytes = new ByteSink(64, Integer.MAX_VALUE - 8);
    private final Slice key = new Slice();
    private final Slice beginning = new Slice();
    private final ByteSink rowBytes = new ByteSink(64, Integer.MAX_VALUE - 8);
    private final Slice rowSlice = new Slice();
    private @Nullable SortedInput merged;
    private boolean hasNext;
    private boolean ended;

    /** How often the row is still to be given. */
    private long times;

    /** What is given of a row. */
    public enum Kind {
        /** Once, if both sides have it. */
        INTERSECT,
        /** As often as both sides have it. */
        INTERSECT_ALL,
        /** Once, if the left side alone has it. */
        EXCEPT,
        /** As often as the left side has it more often. */
        EXCEPT_ALL;

        long times(long leftCount, long rightCount) {
            return switch (this) {
                case INTERSECT -> leftCount > 0 && rightCount > 0 ? 1 : 0;
                case INTERSECT_ALL -> Math.min(leftCount, rightCount);
                case EXCEPT -> leftCount > 0 && rightCount == 0 ? 1 : 0;
                case EXCEPT_ALL -> Math.max(0, leftCount - rightCount);
            };
        }
    }

    /**
     * One side.
     *
     * @param type of its rows
     */
    public record Side(Rows rows, RecordType type) {}

    /**
     * @param type of the rows that are given
     * @param meter counts them
     */
    public CountedRows(
            Side left,
            Side right,
            Kind kind,
            RecordType type,
            RunOptions options,
            OperatorMeter meter) {
        this.left = left.rows();
        this.right = right.rows();
        this.kind = kind;
        this.leftType = left.type();
        this.rightType = right.type();
        this.copy = new RowCopy(left.type(), type);
        this.table = new SetTable(options, meter);
        this.meter = meter;
        this.row = new RecordView(type);
    }

    @Override
    public boolean next() {
        if (ended) {
            return false;
        }
        SortedInput entries = merged;
        if (entries == null) {
            take(left, leftType, LEFT);
            take(right, rightType, RIGHT);
            entries = SortedMerge.of(table.inputs());
            merged = entries;
            hasNext = entries.next();
        }
        while (times == 0) {
            if (!hasNext) {
                ended = true;
                return false;
            }
            count(entries);
        }
        times--;
        row.wrap(rowBytes.asSlice(rowSlice));
        meter.add(1);
        return true;
    }

    private void take(Rows side, RecordType type, int tag) {
        RowKey keys = new RowKey(type);
        while (side.next()) {
            table.look();
            Slice rowKey = keys.of(side.row(), tag);
            long entry = table.find(rowKey);
            if (entry == SortBuffer.NONE) {
                table.add(rowKey, 1, tag == LEFT ? copy.of(side.row()) : NO_ROW);
            } else {
                table.increment(entry);
            }
        }
    }

    /** Takes the entries of the next row. */
    private void count(SortedInput entries) {
        table.look();
        Slice first = entries.key();
        keyBytes.clear()
                .putBytes(first.segment(), first.offset(), first.length() - 1)
                .asSlice(key);
        rowBytes.clear();
        long leftCount = 0;
        long rightCount = 0;
        do {
            if (tag(entries.key()) == LEFT) {
                if (leftCount == 0) {
                    rowBytes.putBytes(entries.payload());
                }
                leftCount += entries.number();
            } else {
                rightCount += entries.number();
            }
            hasNext = entries.next();
        } while (hasNext && isSame(entries.key()));
        times = kind.times(leftCount, rightCount);
    }

    private static int tag(Slice of) {
        return of.byteAt(of.length() - 1);
    }

    private boolean isSame(Slice other) {
        return other.length() == key.length() + 1
                && beginning.set(other.segment(), other.offset(), key.length()).contentEquals(key);
    }

    @Override
    public RecordView row() {
        return row;
    }

    @Override
    public void close() {
        ended = true;
        SortedInput entries = merged;
        merged = null;
        Cleanup cleanup = new Cleanup().add(left::close).add(right::close);
        if (entries != null) {
            cleanup.add(entries::close);
        }
        cleanup.add(table::close).run();
    }
}
