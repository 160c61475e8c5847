package io.turbidite.ops.frame;

import io.turbidite.core.bytes.Slice;

/**
 * A writer that also takes tuples one by one, where they lie: a source of its own stage and thread
 * then fills no frame for it. <em>Confined to one thread at a time.</em>
 */
public interface TupleWriter extends FrameWriter {
    /**
     * Takes a tuple, as one of a frame. Array and bytes belong to the caller, who reuses them for
     * the next one.
     *
     * @return whether more are wanted; a caller that goes on regardless does no harm
     */
    boolean tuple(Slice[] tuple);

    /**
     * Whether it drops each tuple with this first field, from now on: the other fields need not be
     * made then, and may be empty.
     */
    default boolean drops(Slice first) {
        return false;
    }
}
