package io.turbidite.ops.group;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.batch.BatchTaker;
import io.turbidite.ops.batch.BatchWriter;
import io.turbidite.ops.batch.ColumnBatch;
import io.turbidite.ops.expr.TupleMaker;
import io.turbidite.ops.frame.Frame;

import org.jspecify.annotations.Nullable;

/** Counts tuples, whatever is in them. <em>Confined to one thread at a time.</em> */
public final class CountCollector implements BatchWriter {
    private long count;

    @Override
    public void open() {
        count = 0;
    }

    @Override
    public boolean frame(Frame frame) {
        count += frame.tupleCount();
        return true;
    }

    @Override
    public boolean tuple(Slice[] tuple) {
        count++;
        return true;
    }

    @Override
    public @Nullable BatchTaker taking(TupleMaker maker, RecordType type) {
        return maker.isMultiple() ? null : this::batch;
    }

    private boolean batch(ColumnBatch batch) {
        add(batch.count());
        return true;
    }

    /** Counts rows that nobody looks into. */
    public void add(long rows) {
        count += rows;
    }

    @Override
    public void fail() {
        count = 0;
    }

    /** The end of the frames; the count stays. */
    @Override
    public void close() {
        assert count >= 0 : count;
    }

    long count() {
        return count;
    }
}
