package io.turbidite.core.sim;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.MappedFile;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** An opening of a file of a {@link SimDisk}. <em>Thread-safe by the disk's lock.</em> */
final class SimFile implements DiskFile {
    /** Of all disks: those that were opened and not closed, for {@link LeakCheck}. */
    static final Set<SimFile> OPEN = ConcurrentHashMap.newKeySet();

    private final SimDisk disk;
    private final String name;
    private final FileNode node;
    private final boolean writable;
    private final int blockBytes;
    private volatile boolean closed;

    /**
     * @param blockBytes 1, or what a direct file's transfers must be aligned to
     */
    SimFile(SimDisk disk, String name, FileNode node, boolean writable, int blockBytes) {
        this.disk = disk;
        this.name = name;
        this.node = node;
        this.writable = writable;
        this.blockBytes = blockBytes;
    }

    FileNode node() {
        return node;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public int blockBytes() {
        return blockBytes;
    }

    @Override
    public long size() {
        checkOpen();
        return disk.size(this);
    }

    @Override
    public int read(long fileOffset, MemorySegment target, long targetOffset, int byteCount) {
        checkOpen();
        Objects.checkFromIndexSize(targetOffset, byteCount, target.byteSize());
        checkOffset(fileOffset);
        checkAligned("read", fileOffset, target, targetOffset, byteCount);
        return disk.read(this, fileOffset, target, targetOffset, byteCount);
    }

    @Override
    public void write(long fileOffset, MemorySegment source, long sourceOffset, int byteCount) {
        checkWritable();
        Objects.checkFromIndexSize(sourceOffset, byteCount, source.byteSize());
        checkOffset(fileOffset);
        checkAligned("write", fileOffset, source, sourceOffset, byteCount);
        disk.write(this, fileOffset, source, sourceOffset, byteCount);
    }

    @Override
    public @Nullable MappedFile map(long byteCount) {
        checkWritable();
        return blockBytes > 1 ? null : disk.map(this, byteCount);
    }

    @Override
    public void truncate(long size) {
        checkWritable();
        checkOffset(size);
        disk.truncate(this, size);
    }

    @Override
    public void sync() {
        checkWritable();
        disk.sync(this);
    }

    @Override
    public boolean tryLock() {
        checkWritable();
        disk.lock(this);
        return true; // there is one process
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            OPEN.remove(this);
            disk.closed(this);
        }
    }

    @Override
    public String toString() {
        return "SimFile[" + name + (closed ? ", closed]" : "]");
    }

    private void checkOpen() {
        if (closed) {
            throw new ClosedException(name);
        }
    }

    private void checkWritable() {
        checkOpen();
        if (!writable) {
            throw new InvalidRequestException(name + " was opened for reading only");
        }
    }

    /**
     * An error, not an exception of the store's: a misaligned transfer is a bug that nothing may
     * hide.
     */
    private void checkAligned(
            String operation, long fileOffset, MemorySegment memory, long offset, int byteCount) {
        if (blockBytes > 1
                && (!memory.isNative()
                        || ((fileOffset | byteCount | (memory.address() + offset))
                                        & (blockBytes - 1))
                                != 0)) {
            throw new AssertionError(
                    "direct %s of %s is not aligned: %d bytes at %d, memory %s + %d"
                            .formatted(operation, name, byteCount, fileOffset, memory, offset));
        }
    }

    private static void checkOffset(long offset) {
        if (offset < 0) {
            throw new InvalidRequestException("file offset or size " + offset);
        }
    }
}
