package io.turbidite.ops.frame;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;

/**
 * Collects tuples into frames and pushes the full ones. Two frames take turns, so that a pushed
 * frame stays as it is until the next is pushed. <em>Confined to one thread at a time.</em>
 */
public final class FrameEmitter {
    /** First frames are small, so that a query for one row does not clear 64 KiB for it. */
    private static final int FRAME_BYTES_FIRST = 4 << 10;

    /**
     * Large enough to spread the cost of a push over a hundred records, small enough for a cache.
     */
    private static final int FRAME_BYTES_MAX = 64 << 10;

    private final FrameWriter target;
    private final long tuplesPerFrameMax;
    private Frame filling;
    private Frame pushed;
    private int frameBytes = FRAME_BYTES_FIRST;
    private boolean wanted = true;

    /**
     * @param tuplesPerFrameMax most tuples in a frame, for a reader who stops after a few; at least
     *     1
     */
    public FrameEmitter(FrameWriter target, int fieldCount, long tuplesPerFrameMax) {
        this.target = target;
        this.tuplesPerFrameMax = Math.max(1, tuplesPerFrameMax);
        this.filling = new Frame(fieldCount).clear(frameBytes);
        this.pushed = new Frame(fieldCount);
    }

    /** Adds a copy of a tuple; returns whether that pushed a frame. */
    public boolean emit(Slice[] tuple) {
        boolean full = filling.tupleCount() >= tuplesPerFrameMax || !filling.append(tuple);
        if (!full) {
            return false;
        }
        boolean pushes = filling.tupleCount() > 0;
        if (pushes) {
            push();
        }
        if (!filling.append(tuple)) {
            long bytes = Frame.bytesFor(tuple);
            if (bytes > Integer.MAX_VALUE) {
                throw new InvalidRequestException(
                        "a tuple of %d bytes does not fit a frame".formatted(bytes));
            }
            filling.clear((int) bytes);
            boolean fits = filling.append(tuple);
            assert fits : bytes;
        }
        return pushes;
    }

    /** Pushes what is left; returns whether there was any. */
    public boolean flush() {
        if (filling.tupleCount() == 0) {
            return false;
        }
        push();
        return true;
    }

    /** Whether the reader wants more, as of the last push. */
    public boolean wanted() {
        return wanted;
    }

    private void push() {
        Frame full = filling;
        filling = pushed;
        pushed = full;
        wanted = target.frame(full);
        frameBytes = Math.min(FRAME_BYTES_MAX, frameBytes * 4);
        filling.clear(frameBytes);
    }
}
