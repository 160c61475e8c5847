package io.turbidite.core.file;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/** A file in front of another one; what it doesn't say, the other one answers. */
public interface ForwardingFile extends DiskFile {
    /** The file behind. */
    DiskFile file();

    @Override
    default String name() {
        return file().name();
    }

    @Override
    default int blockBytes() {
        return file().blockBytes();
    }

    @Override
    default long size() {
        return file().size();
    }

    @Override
    default int read(long fileOffset, MemorySegment target, long targetOffset, int byteCount) {
        return file().read(fileOffset, target, targetOffset, byteCount);
    }

    @Override
    default void write(long fileOffset, MemorySegment source, long sourceOffset, int byteCount) {
        file().write(fileOffset, source, sourceOffset, byteCount);
    }

    /** Null: what is stored to a mapping would pass by whoever stands in front. */
    @Override
    default @Nullable MappedFile map(long byteCount) {
        return null;
    }

    @Override
    default void truncate(long size) {
        file().truncate(size);
    }

    @Override
    default void sync() {
        file().sync();
    }

    @Override
    default boolean tryLock() {
        return file().tryLock();
    }

    @Override
    default void close() {
        file().close();
    }
}
