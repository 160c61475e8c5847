package io.turbidite.core.log;

import io.turbidite.core.format.Crc32c;
import io.turbidite.core.memory.NativeMemory;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Iterator;

/**
 * Memory for payloads that do not fit a slot: buffers off the heap, kept for reuse, never more than
 * the budget in all.
 *
 * <p>Each buffer has room for the frame's header in front of the payload, so that a large record is
 * framed where it lies and written without a copy.
 *
 * <p><em>Thread-safe</em> by its monitor; held for list work only, and for the rare allocation.
 */
final class OverflowBuffers implements AutoCloseable {
    /** Smallest buffer: not worth telling apart below. */
    private static final int BUFFER_BYTES_MIN = 4 << 10;

    private final int bytesMax;
    private final ArrayDeque<Buffer> idle = new ArrayDeque<>();
    private final ArrayDeque<Buffer> all = new ArrayDeque<>();
    private long usedBytes;
    private long idleBytes;

    OverflowBuffers(int bytesMax) {
        this.bytesMax = bytesMax;
    }

    /** A buffer for {@code payloadBytes}, or null if the budget is used up for now. */
    synchronized @Nullable Buffer tryAcquire(int payloadBytes) {
        int capacity = capacityFor(payloadBytes);
        if (usedBytes + capacity > bytesMax) {
            return null;
        }
        Iterator<Buffer> each = idle.iterator();
        while (each.hasNext()) {
            Buffer buffer = each.next();
            if (buffer.capacity == capacity) {
                each.remove();
                idleBytes -= capacity;
                usedBytes += capacity;
                return buffer;
            }
        }
        while (usedBytes + capacity + idleBytes > bytesMax) {
            Buffer evicted = idle.removeFirst();
            idleBytes -= evicted.capacity;
            all.removeFirstOccurrence(evicted);
            evicted.free();
        }
        Buffer buffer = new Buffer(capacity); // may find no memory: it counts when it is there
        all.addLast(buffer);
        usedBytes += capacity;
        return buffer;
    }

    synchronized boolean mayAcquire(int payloadBytes) {
        return usedBytes + capacityFor(payloadBytes) <= bytesMax;
    }

    synchronized void release(Buffer buffer) {
        usedBytes -= buffer.capacity;
        idleBytes += buffer.capacity;
        idle.addLast(buffer);
    }

    /** Bytes of buffers, in use or idle. */
    synchronized long allocatedBytes() {
        return usedBytes + idleBytes;
    }

    /** Frees every buffer; a claim that is still open meets an exception at its next write. */
    @Override
    public synchronized void close() {
        for (Buffer buffer : all) {
            buffer.free();
        }
        all.clear();
        idle.clear();
        idleBytes = 0;
    }

    /** A power of two, so that few sizes are kept; the budget itself for the largest. */
    private int capacityFor(int payloadBytes) {
        long power = Long.highestOneBit(Math.max(payloadBytes, BUFFER_BYTES_MIN) * 2L - 1);
        return (int) Math.min(power, bytesMax);
    }

    /** One buffer. <em>Confined</em> to whoever has acquired it. */
    static final class Buffer {
        final MemorySegment segment;
        final int capacity;
        final Crc32c crc = new Crc32c();
        private final Arena arena = NativeMemory.shared("a large log record");

        Buffer(int capacity) {
            this.capacity = capacity;
            this.segment = NativeMemory.first(
                    arena, FrameFormat.frameBytes(capacity), FrameFormat.ALIGNMENT);
        }

        private void free() {
            arena.close();
        }
    }
}
