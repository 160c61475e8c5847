package io.turbidite.pm.region;

import java.lang.foreign.MemorySegment;

/**
 * Byte-addressable memory from offset 0, and what its processor does about durability. The rules
 * that callers go by are those of persistent memory in every mode:
 *
 * <ol>
 *   <li>A store to an aligned word of 8 bytes is never torn; a copy of more is.
 *   <li>A store is durable after its line was written back and a fence came behind. Before that it
 *       may be durable or not, but stores to one line become durable in their order.
 *   <li>{@link #putLong} comes after all stores of its thread before it, for other threads that
 *       {@link #getLong}.
 * </ol>
 *
 * <p><em>Thread-safe</em> as memory is: one writer, any readers. A use after {@link #close()} is a
 * {@link io.turbidite.core.ClosedException}; a fault of the medium is a {@link
 * io.turbidite.core.StorageIoException}.
 */
public interface RegionMemory extends AutoCloseable {
    /** What is written back at once, in bytes. */
    int LINE_BYTES = 64;

    /** What the medium reads and writes at once, in bytes. */
    int BLOCK_BYTES = 256;

    /** What people know it by: the file's name, or that there is none. */
    String name();

    /** Where it lies, for people: the directory of its file, or what else grows with it. */
    default String place() {
        return name();
    }

    RegionMode mode();

    /** Bytes from 0 to the end. */
    long byteSize();

    /** The word at {@code offset}, a multiple of 8. */
    long getLong(long offset);

    /** Stores a word at {@code offset}, a multiple of 8, after everything stored before. */
    void putLong(long offset, long value);

    /**
     * Stores a word if it is {@code expected}; {@code offset} is a multiple of 8.
     *
     * @return whether it was
     */
    boolean compareAndSwap(long offset, long expected, long value);

    /** Copies bytes out; within one chunk. */
    void getBytes(long offset, MemorySegment target, long targetOffset, int byteCount);

    /** Copies bytes in, from a multiple of 8; within one chunk. */
    void putBytes(long offset, MemorySegment source, long sourceOffset, int byteCount);

    /** Has the lines of a range written back, before the next {@link #fence()} is over. */
    void writeBack(long offset, long byteCount);

    /** What was written back is durable, as far as the {@link #mode()} goes. */
    void fence();

    /** Makes all of it durable on the medium; in mode {@link RegionMode#FILE} nothing else does. */
    void force();

    /**
     * Makes it at least {@code byteCount} long; new bytes are zero.
     *
     * @return false if there is no room; nothing has changed
     */
    boolean grow(long byteCount);

    /** Ends all use. */
    @Override
    void close();
}
