package io.turbidite.core.file;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.memory.NativeMemory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A direct file that is written once, from its start to its end, in pieces of any length.
 *
 * <p><em>Confined to one thread at a time.</em> Owns the direct file and a buffer. What does not
 * fill a block waits in the buffer; a sync writes the block that the end lies in with zeros behind
 * it, cuts the file to its length, and keeps the block for what may follow. What was not synced
 * when the file is closed is lost.
 *
 * <p>Invariant: the first byte that is buffered lies at a block's start.
 */
final class AlignedAppends implements DiskFile {
    /** One write: long enough that the device's latency doesn't show. */
    private static final int BUFFER_BYTES = 1 << 20;

    private static final long CHARGED_BYTES = (long) BUFFER_BYTES + DirectDisk.BLOCK_BYTES_MAX;

    private final DiskFile file;
    private final MemoryBudget.Account account;
    private final Arena arena;
    private final MemorySegment buffer;
    private final int blockBytes;
    private long size;
    private int buffered;

    /** The size that the direct file was last cut to. */
    private long sizeCut;

    private boolean closed;

    /**
     * @throws InvalidRequestException if the memory budget is used up; the file is still the
     *     caller's
     */
    AlignedAppends(DiskFile file, MemoryBudget.Account account) {
        if (!account.reserve(CHARGED_BYTES)) {
            throw new InvalidRequestException(
                    "no %d bytes are left in the memory budget to write %s (%s): raise it, or open the store without direct I/O"
                            .formatted(CHARGED_BYTES, file.name(), account));
        }
        Arena made = NativeMemory.shared("direct appends");
        MemorySegment memory = null;
        try {
            memory = NativeMemory.allocate(made, BUFFER_BYTES, DirectDisk.BLOCK_BYTES_MAX);
        } finally {
            if (memory == null) {
                made.close();
                account.release(CHARGED_BYTES);
            }
        }
        this.file = file;
        this.account = account;
        this.arena = made;
        this.buffer = memory;
        this.blockBytes = file.blockBytes();
    }

    @Override
    public String name() {
        return file.name();
    }

    @Override
    public int blockBytes() {
        return blockBytes;
    }

    @Override
    public long size() {
        return size;
    }

    @Override
    public int read(long fileOffset, MemorySegment target, long targetOffset, int byteCount) {
        throw new InvalidRequestException(
                name() + " is being written; it is read once it is complete");
    }

    /** Appends; there is no other place to write to. */
    @Override
    public void write(long fileOffset, MemorySegment source, long sourceOffset, int byteCount) {
        if (fileOffset != size) {
            throw new InvalidRequestException(
                    "a write at %d of %s, which ends at %d".formatted(fileOffset, name(), size));
        }
        int done = 0;
        while (done < byteCount) {
            if (buffered == BUFFER_BYTES) {
                file.write(size - buffered, buffer, 0, buffered);
                buffered = 0;
            }
            int step = Math.min(byteCount - done, BUFFER_BYTES - buffered);
            MemorySegment.copy(source, sourceOffset + done, buffer, buffered, step);
            buffered += step;
            size += step;
            done += step;
        }
    }

    @Override
    public void truncate(long newSize) {
        throw new InvalidRequestException(name() + " is written from start to end, never cut");
    }

    @Override
    public void sync() {
        if (sizeCut < size) {
            int blocks = buffered + blockBytes - 1 & -blockBytes;
            buffer.asSlice(buffered, blocks - buffered).fill((byte) 0);
            file.write(size - buffered, buffer, 0, blocks);
            if (blocks > buffered) {
                file.truncate(size);
            }
            sizeCut = size;
            int rest = buffered & (blockBytes - 1);
            MemorySegment.copy(buffer, buffered - rest, buffer, 0, rest);
            buffered = rest;
        }
        file.sync();
    }

    @Override
    public boolean tryLock() {
        return file.tryLock();
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            arena.close();
            account.release(CHARGED_BYTES);
        }
        file.close();
    }

    @Override
    public String toString() {
        return "AlignedAppends[%s, %d bytes]".formatted(name(), size);
    }
}
