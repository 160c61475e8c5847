package io.turbidite.feeds.source.tail;

import io.turbidite.core.file.Disk;
import io.turbidite.feeds.source.file.FileSource;
import io.turbidite.feeds.source.file.SourceStream;

/**
 * The content of a compressed file, proven as it is read. Each read begins at the beginning, so it
 * is for a few looks; records are read by {@link #stream}.
 */
final class GzipContent implements Content {
    private final Disk disk;
    private final String path;
    private final long byteCount;

    private GzipContent(Disk disk, String path, long byteCount) {
        this.disk = disk;
        this.path = path;
        this.byteCount = byteCount;
    }

    /**
     * Reads all of a file, to know its length.
     *
     * @throws io.turbidite.core.DamagedSourceException if it is damaged, or not yet whole
     */
    static GzipContent of(Disk disk, String path) {
        try (SourceStream stream = stream(disk, path)) {
            return new GzipContent(disk, path, stream.skip(Long.MAX_VALUE));
        }
    }

    /** The content from its beginning. */
    static SourceStream stream(Disk disk, String path) {
        FileSource source = FileSource.open(disk, path);
        return source.read(source.files().getFirst());
    }

    @Override
    public int read(long offset, byte[] target, int wanted) {
        try (SourceStream stream = stream(disk, path)) {
            if (stream.skip(offset) < offset) {
                return 0;
            }
            int count = 0;
            while (count < wanted) {
                int more = stream.read(target, count, wanted - count);
                if (more < 0) {
                    break;
                }
                count += more;
            }
            return count;
        }
    }

    @Override
    public long byteCount() {
        return byteCount;
    }
}
