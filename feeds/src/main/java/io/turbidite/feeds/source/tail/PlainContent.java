package io.turbidite.feeds.source.tail;

import io.turbidite.core.file.DiskFile;

import java.lang.foreign.MemorySegment;

/** The content of an open file that is not compressed. */
record PlainContent(DiskFile file) implements Content {
    @Override
    public int read(long offset, byte[] target, int byteCount) {
        return file.read(offset, MemorySegment.ofArray(target), 0, byteCount);
    }

    @Override
    public long byteCount() {
        return file.size();
    }
}
