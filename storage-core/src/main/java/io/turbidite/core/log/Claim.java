package io.turbidite.core.log;

import io.turbidite.core.log.OverflowBuffers.Buffer;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/**
 * A place in the log's order with room for a payload: encode into it, then {@link #publish} or
 * {@link #cancel}, promptly, since everything claimed later waits behind it. A thread holds one
 * claim at a time.
 *
 * <p>The object is a slot of the log's ring and is reused; forget it after publish or cancel.
 *
 * <p><em>Confined to the claiming thread</em> until published, then to the log's writer: the ring's
 * publication orders what one has written before what the other reads.
 */
public final class Claim {
    private final WriteAheadLog log;
    private final MemorySegment slotMemory;
    private final long slotOffset;
    private final int slotBytes;

    private long sequence;
    private boolean taken;
    private @Nullable Buffer large;
    private int length;

    Claim(WriteAheadLog log, MemorySegment slotMemory, long slotOffset, int slotBytes) {
        this.log = log;
        this.slotMemory = slotMemory;
        this.slotOffset = slotOffset;
        this.slotBytes = slotBytes;
    }

    /** Where to encode the payload. */
    public MemorySegment segment() {
        Buffer buffer = large;
        return buffer == null ? slotMemory : buffer.segment;
    }

    /** Where in {@link #segment()} the payload begins. */
    public long offset() {
        return large == null ? slotOffset : FrameFormat.HEADER_BYTES;
    }

    /** Bytes that may be written from {@link #offset()} on; at least what was claimed. */
    public int capacity() {
        Buffer buffer = large;
        return buffer == null ? slotBytes : buffer.capacity;
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
        if (payloadBytes < 0 || payloadBytes > capacity()) {
            throw new IllegalArgumentException(
                    "payload of %d bytes in a claim of %d".formatted(payloadBytes, capacity()));
        }
        return end(payloadBytes);
    }

    /** Gives the place up; replay will not show it. */
    public void cancel() {
        end(CANCELLED);
    }

    /**
     * Gives the place up for a holder whom an error has met: he need not know how far he came. May
     * be called whatever has become of the claim since.
     *
     * @param claimed {@link #sequence()}, from before
     * @return false if it had been published or cancelled
     */
    public boolean giveUp(long claimed) {
        return log.giveUp(this, claimed);
    }

    /** For {@link WriteAheadLog#giveUp}: the slot is the caller's still. */
    void setCancelled() {
        taken = false;
        length = CANCELLED;
    }

    /** What {@link #length} is if there is no payload. */
    static final int CANCELLED = -1;

    void take(long newSequence, @Nullable Buffer newLarge) {
        sequence = newSequence;
        large = newLarge;
        taken = true;
    }

    @Nullable
    Buffer large() {
        return large;
    }

    /** The slot will be given up; its large buffer is kept for another try. */
    void forgetLarge() {
        large = null;
    }

    /** After the payload was written. */
    void releaseLarge() {
        Buffer buffer = large;
        if (buffer != null) {
            large = null;
            log.release(buffer);
        }
    }

    /** The payload's length, or {@link #CANCELLED}. */
    int length() {
        return length;
    }

    private long end(int newLength) {
        if (!taken) {
            throw new IllegalStateException("the claim was published or cancelled before");
        }
        long published = sequence;
        boolean isLarge = large != null;
        taken = false;
        length = newLength;
        log.published(published, isLarge);
        return published;
    }
}
