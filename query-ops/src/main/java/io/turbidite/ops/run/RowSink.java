package io.turbidite.ops.run;

import io.turbidite.core.bytes.Slice;
import io.turbidite.ops.frame.Frame;
import io.turbidite.ops.frame.FrameWriter;

import org.jspecify.annotations.Nullable;

/**
 * The end of a job: keeps the last frame, whose tuples have the encoded row as their last field,
 * for a reader who takes rows between steps. <em>Confined to one thread at a time.</em>
 */
public final class RowSink implements FrameWriter {
    private @Nullable Frame frame;
    private int nextTuple;

    @Override
    public void open() {
        frame = null;
        nextTuple = 0;
    }

    @Override
    public boolean frame(Frame pushed) {
        assert !hasNext() : "two frames in one step";
        frame = pushed;
        nextTuple = 0;
        return true;
    }

    /** Whether the frame has a row that was not taken. */
    public boolean hasNext() {
        return frame != null && nextTuple < frame.tupleCount();
    }

    /** Moves {@code row} to the next row; false if the frame has no more. */
    public boolean next(Slice row) {
        if (frame == null || !hasNext()) {
            return false;
        }
        frame.field(nextTuple++, frame.fieldCount() - 1, row);
        return true;
    }

    @Override
    public void fail() {
        frame = null;
    }

    @Override
    public void close() {
        // rows of the last frame are still to be read
    }
}
