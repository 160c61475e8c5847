package io.turbidite.core.file;

import java.lang.foreign.MemorySegment;

/**
 * The first bytes of a file, mapped for writing: what is stored reaches the operating system
 * without a call. Reads and syncs of the file see it.
 *
 * <p>Each byte has been written before, so that no store needs space.
 *
 * <p><em>Thread-safe</em> for disjoint ranges; nobody writes when it is closed. It outlives the
 * file's own {@link DiskFile#close()}.
 */
public interface MappedFile extends AutoCloseable {
    /**
     * Stores all bytes, in any order: whoever kills the process meanwhile leaves any part of them.
     *
     * @throws io.turbidite.core.StorageIoException if the file was cut, or the device does not
     *     answer: what was stored is not known
     */
    void write(long fileOffset, MemorySegment source, long sourceOffset, int byteCount);

    @Override
    void close();
}
