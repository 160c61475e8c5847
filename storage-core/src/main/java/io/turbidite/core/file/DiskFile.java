package io.turbidite.core.file;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/**
 * An open file. Reads and writes name their offset; there is no position.
 *
 * <p><em>Thread-safe</em> for disjoint ranges; a use after {@link #close()} throws {@link
 * io.turbidite.core.ClosedException}.
 */
public interface DiskFile extends AutoCloseable {
    /** The name it was opened by. */
    String name();

    /**
     * What transfers should be aligned to, a power of two: file offset, byte count and the address
     * in memory. 1 for an ordinary file; a direct one of {@link Disk#createDirect} refuses anything
     * else, one of a {@link DirectDisk} takes it and copies.
     */
    default int blockBytes() {
        return 1;
    }

    /** Bytes from 0 to the end. */
    long size();

    /**
     * Reads up to {@code byteCount} bytes; fewer only where the file ends.
     *
     * @return how many bytes were read, 0 at or behind the end
     */
    int read(long fileOffset, MemorySegment target, long targetOffset, int byteCount);

    /** Writes all bytes, extending the file if need be; a gap before them reads as zeros. */
    void write(long fileOffset, MemorySegment source, long sourceOffset, int byteCount);

    /**
     * Maps the first {@code byteCount} bytes for writing. All of them have been written.
     *
     * @return null where that is not possible, or not safe: {@link #write} does it then
     */
    default @Nullable MappedFile map(long byteCount) {
        return null;
    }

    /**
     * Maps a range as memory, to be read and written in place. All of its bytes have been written.
     *
     * @param fileOffset a multiple of 4 KiB
     * @param synchronous for a file on byte-addressable memory: forced ranges are durable without a
     *     call of the system
     * @return null where that is not possible, or not safe
     */
    default @Nullable MappedRange mapRange(long fileOffset, long byteCount, boolean synchronous) {
        return null;
    }

    /** Cuts or extends with zeros. */
    void truncate(long size);

    /**
     * Makes content and size durable. After a failure nothing written since the last good sync may
     * be relied on, and calling it again proves nothing (D6).
     */
    void sync();

    /**
     * Locks the file for this process, until it is closed. The file must be open for writing, and
     * nowhere else in this process.
     *
     * @return false if another process has it locked
     * @throws io.turbidite.core.InvalidRequestException if this process has it locked already
     */
    boolean tryLock();

    /** Gives up the lock, if there is one. */
    @Override
    void close();
}
