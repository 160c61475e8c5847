package io.turbidite.ops.group;

import io.turbidite.core.bytes.Slice;
import io.turbidite.ops.frame.Frame;
import io.turbidite.ops.frame.TupleWriter;

/** Counts tuples, whatever is in them. <em>Confined to one thread at a time.</em> */
public final class CountCollector implements TupleWriter {
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
