package io.turbidite.core.log;

import java.lang.foreign.MemorySegment;

/**
 * A place in the log's order with room for a payload: encode into it, then {@link #publish} or {@link
 * #cancel}, promptly, since everything claimed later waits behind it. A thread holds one claim at a time.
 *
 * <p><em>Confined to the claiming thread</em> until published. The object belongs to the ring and is
 * reused; forget it after publish or cancel.
 */
public final class Claim {
    private MemorySegment segment = MemorySegment.NULL;
    private long offset;
    private int capacity;
    private long sequence;

    Claim() {}

    /** Where to encode the payload. */
    public MemorySegment segment() {
        return segment;
    }

    /** Where in {@link #segment()} the payload begins. */
    public long offset() {
        return offset;
    }

    /** Bytes that may be written from {@link #offset()} on; at least what was claimed. */
    public int capacity() {
        return capacity;
    }

    /** The record's place in the log's order: greater than that of every earlier claim. */
    public long sequence() {
        return sequence;
    }

    /**
     * Hands the payload to the log.
     *
     * @param payloadBytes how many of the bytes from {@link #offset()} on are the payload
     * @return {@link #sequence()}
     */
    public long publish(int payloadBytes) {
        if (payloadBytes < 0 || payloadBytes > capacity) {
            throw new IllegalArgumentException(payloadBytes + " of " + capacity);
        }
        return sequence;
    }

    /** Gives the place up; replay will not show it. */
    public void cancel() {
        segment = MemorySegment.NULL;
        offset = 0;
        capacity = 0;
        sequence = 0;
    }
}
