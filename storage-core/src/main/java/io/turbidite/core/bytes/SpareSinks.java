package io.turbidite.core.bytes;

import io.turbidite.core.memory.Pool;

/**
 * Byte sinks that are kept from one use to the next, for those who need one for the length of a
 * call or a query: a new one costs an allocation off the heap that is cleared and, in the end,
 * freed by the garbage collector, half a microsecond and more. <em>Thread-safe.</em>
 */
public final class SpareSinks {
    private static final int BYTES_FIRST = 1 << 10;

    /** What has grown beyond this is not kept. */
    private static final int KEPT_BYTES_MAX = 64 << 10;

    private static final Pool<ByteSink> SPARE =
            new Pool<>(() -> new ByteSink(BYTES_FIRST, Integer.MAX_VALUE - 8));

    private SpareSinks() {}

    /** An empty sink that holds any number of bytes, the taker's until it is given back. */
    public static ByteSink take() {
        return SPARE.take().clear();
    }

    /** Gives back a sink that was taken, once; nobody may look at what is in it any more. */
    public static void give(ByteSink used) {
        if (used.segment().byteSize() <= KEPT_BYTES_MAX) {
            SPARE.give(used);
        }
    }
}
