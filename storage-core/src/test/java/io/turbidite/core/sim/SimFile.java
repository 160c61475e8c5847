package io.turbidite.core.sim;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.file.DiskFile;

import java.lang.foreign.MemorySegment;
import java.util.Objects;

/** An opening of a file of a {@link SimDisk}. <em>Thread-safe by the disk's lock.</em> */
final class SimFile implements DiskFile {
    private final SimDisk disk;
    private final String name;
    private final FileNode node;
    private final boolean writable;
    private volatile boolean closed;

    SimFile(SimDisk disk, String name, FileNode node, boolean writable) {
        this.disk = disk;
        this.name = name;
        this.node = node;
        this.writable = writable;
    }

    FileNode node() {
        return node;
    }

    @Override
    public String name() {
        return name;
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
        return disk.read(this, fileOffset, target, targetOffset, byteCount);
    }

    @Override
    public void write(long fileOffset, MemorySegment source, long sourceOffset, int byteCount) {
        checkWritable();
        Objects.checkFromIndexSize(sourceOffset, byteCount, source.byteSize());
        checkOffset(fileOffset);
        disk.write(this, fileOffset, source, sourceOffset, byteCount);
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
    public void close() {
        if (!closed) {
            closed = true;
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

    private static void checkOffset(long offset) {
        if (offset < 0) {
            throw new InvalidRequestException("file offset or size " + offset);
        }
    }
}
