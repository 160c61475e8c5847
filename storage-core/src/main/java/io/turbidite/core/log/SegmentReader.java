package io.turbidite.core.log;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.format.Crc32c;
import io.turbidite.core.log.FrameFormat.FrameHead;
import io.turbidite.core.memory.NativeMemory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Reads frames of one segment file, for recovery.
 *
 * <p>Believes nothing: a length is used only after the frame's head has proved right, and never
 * reaches behind the end of the file, so memory is bounded by the file's own size.
 *
 * <p><em>Confined to one thread.</em> Owns its buffers.
 */
final class SegmentReader implements AutoCloseable {
    private static final int CHUNK_BYTES = 1 << 20;

    /** Zeros are skipped in blocks of this size: most of a preallocated file is zeros. */
    private static final int BLOCK_BYTES = 4 << 10;

    /** Longest frame that is looked at; the writer's largest is far below. */
    private static final long FRAME_BYTES_MAX = 1L << 30;

    private final Arena arena = NativeMemory.confined("a reader of the log");
    private final DiskFile file;
    private final long fileBytes;
    private final long storeId;
    private final long number;
    private final Crc32c crc = new Crc32c();
    private final MemorySegment zeros;
    private MemorySegment buffer;
    private long bufferStart;
    private int bufferBytes;

    /** The frame that was read last. */
    final FrameHead head = new FrameHead();

    SegmentReader(DiskFile file, long storeId, long number) {
        this.file = file;
        this.fileBytes = file.size();
        this.storeId = storeId;
        this.number = number;
        long chunk = Math.min(CHUNK_BYTES, Math.max(fileBytes, FrameFormat.HEADER_BYTES));
        MemorySegment memory = NativeMemory.first(arena, BLOCK_BYTES + chunk, 8);
        this.zeros = memory.asSlice(0, BLOCK_BYTES);
        this.buffer = memory.asSlice(BLOCK_BYTES);
    }

    /**
     * Reads the frame at {@code offset} into {@link #head}.
     *
     * @return whether a whole frame that was written there is there
     */
    boolean read(long offset) {
        if (!fetch(offset, FrameFormat.HEADER_BYTES)) {
            return false;
        }
        long place = FrameFormat.place(storeId, number, offset);
        if (!FrameFormat.readHead(buffer, offset - bufferStart, head, place)) {
            return false;
        }
        long frameBytes = FrameFormat.frameBytes(head.length);
        if (frameBytes > Math.min(FRAME_BYTES_MAX, fileBytes - offset)
                || !fetch(offset, (int) frameBytes)) {
            return false;
        }
        return FrameFormat.checksumMatches(buffer, offset - bufferStart, head, place, crc);
    }

    /** Moves {@code payload} to that of the frame at {@code offset}, which was read last. */
    Slice payload(long offset, Slice payload) {
        long at = offset - bufferStart + FrameFormat.HEADER_BYTES;
        return payload.set(buffer, at, head.length);
    }

    /** The frame at {@code offset}, which was read last, as it lies on disk. */
    Slice frame(long offset, Slice frame) {
        int frameBytes = (int) FrameFormat.frameBytes(head.length);
        return frame.set(buffer, offset - bufferStart, frameBytes);
    }

    /**
     * Searches for a whole frame at or behind {@code from}, and reads it.
     *
     * @return its offset, or −1 if there is none
     */
    long search(long from) {
        long offset = from;
        while (fetch(offset, FrameFormat.HEADER_BYTES)) {
            long at = offset - bufferStart;
            if (buffer.get(Bytes.I32, at + FrameFormat.KIND_OFFSET) == 0) {
                offset += zeroRunBytes(at);
            } else if (read(offset)) {
                return offset;
            } else {
                offset += FrameFormat.ALIGNMENT;
            }
        }
        return -1;
    }

    /** How far the search may go on from a place whose kind is zero. */
    private long zeroRunBytes(long at) {
        boolean block = at + BLOCK_BYTES <= bufferBytes;
        boolean allZero = block
                && MemorySegment.mismatch(buffer, at, at + BLOCK_BYTES, zeros, 0, BLOCK_BYTES)
                        == -1;
        // A head may begin in the block's last bytes and have its kind behind the block.
        return allZero ? BLOCK_BYTES - FrameFormat.HEADER_BYTES : FrameFormat.ALIGNMENT;
    }

    /**
     * Has {@code byteCount} bytes from {@code offset} in the buffer; false if the file is too
     * short.
     */
    private boolean fetch(long offset, int byteCount) {
        if (offset >= bufferStart && offset + byteCount <= bufferStart + bufferBytes) {
            return true;
        }
        if (offset + byteCount > fileBytes) {
            return false;
        }
        if (byteCount > buffer.byteSize()) {
            // At least doubled, so that all buffers together stay below twice the largest.
            buffer = arena.allocate(Math.max(byteCount, 2 * buffer.byteSize()), 8);
        }
        bufferStart = offset;
        bufferBytes = file.read(offset, buffer, 0, (int) buffer.byteSize());
        return byteCount <= bufferBytes;
    }

    @Override
    public void close() {
        crc.forget();
        arena.close();
    }
}
