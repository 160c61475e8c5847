package io.turbidite.feeds.source;

import io.turbidite.core.DamagedSourceException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.FileStatus;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.time.Clock;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.InputStream;
import java.io.PushbackInputStream;
import java.lang.foreign.MemorySegment;
import java.util.Locale;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.zip.ZipException;

/**
 * The content of a source file in sequence, uncompressed if it is gzip (told by its first two bytes;
 * members may follow one another, and zeros the last). A file that is gzip by its name alone is
 * damaged. <em>Confined to one thread.</em>
 */
public final class SourceStream implements AutoCloseable {
    /** Large enough that a read costs more than the call around it. */
    private static final int BUFFER_BYTES = 64 << 10;

    /** A writer that pauses for longer between two halves of a record is not waited for. */
    private static final long REST_NANOS = 2_000_000_000;

    /** How often a file is looked at meanwhile. */
    private static final long LOOK_NANOS = 20_000_000;

    private static final String GZIP_SUFFIX = ".gz";

    private final Disk disk;
    private final SourceFile file;
    private final FileBytes bytes;
    private final InputStream content;
    private final boolean compressed;

    private SourceStream(Disk disk, SourceFile file, FileBytes bytes) throws IOException {
        this.disk = disk;
        this.file = file;
        this.bytes = bytes;
        PushbackInputStream start = new PushbackInputStream(bytes, 2);
        byte[] magic = start.readNBytes(2);
        start.unread(magic);
        compressed = isGzip(magic, 0, magic.length);
        if (!compressed && file.name().toLowerCase(Locale.ROOT).endsWith(GZIP_SUFFIX)) {
            throw new ZipException(
                    "content that does not begin as gzip does, though the name ends in .gz");
        }
        content = compressed ? GzipStream.open(start, BUFFER_BYTES) : start;
    }

    /** Whether {@code byteCount} bytes begin as gzip does. */
    public static boolean isGzip(byte[] bytes, int offset, int byteCount) {
        return byteCount >= 2
                && (bytes[offset] & 0xFF) == GzipStream.MAGIC_FIRST
                && (bytes[offset + 1] & 0xFF) == GzipStream.MAGIC_SECOND;
    }

    static SourceStream open(Disk disk, SourceFile file) {
        FileBytes bytes = new FileBytes(disk.openReadOnly(file.path()));
        try {
            return new SourceStream(disk, file, bytes);
        } catch (IOException e) {
            bytes.close();
            throw damaged(file, 0, e);
        } catch (RuntimeException e) {
            bytes.close();
            throw e;
        }
    }

    /**
     * Reads some bytes, at least one unless the content is at its end.
     *
     * @return how many, or -1 at the end
     * @throws DamagedSourceException if the content is damaged, or the file has become shorter since it
     *     was opened
     */
    public int read(byte[] target, int offset, int byteCount) {
        try {
            int count = content.read(target, offset, byteCount);
            if (count < 0 && !compressed && bytes.offset < file.byteCount()) {
                throw new DamagedSourceException(
                        file.path(),
                        bytes.offset,
                        "file",
                        "%d bytes long, as when it was opened,".formatted(file.byteCount()),
                        "shorter");
            }
            return count;
        } catch (IOException e) {
            throw damaged(file, position(), e);
        }
    }

    /**
     * Whether the content, which has been read to its end, will go on no more as far as one can tell.
     * Compressed content says itself where it ends. Another file has ended if its size and the time of its
     * last change have been the same for two seconds: by that time if it is old enough, else it is watched
     * for so long.
     *
     * @param stopped ends the watching, with the answer no
     */
    public boolean hasEnded(Clock clock, Tasks tasks, BooleanSupplier stopped) {
        if (compressed) {
            return true;
        }
        FileStatus first = look();
        if (first == null || first.byteCount() != bytes.offset) {
            return false;
        }
        if (clock.wallMicros() - first.modifiedMicros() >= REST_NANOS / 1_000) {
            return true;
        }
        Watch watch = new Watch(first, clock);
        tasks.await(() -> stopped.getAsBoolean() || watch.isOver());
        return !stopped.getAsBoolean() && !watch.changed;
    }

    /** Whether the content says itself where it ends, so that nothing follows what was read to there. */
    public boolean saysItsEnd() {
        return compressed;
    }

    /** What the file is now, or null if it was taken away. */
    private @Nullable FileStatus look() {
        try {
            return disk.status(file.path());
        } catch (StorageIoException e) {
            if (e.kind() == StorageIoException.Kind.NOT_FOUND) {
                return null;
            }
            throw e;
        }
    }

    /** Looks at a file until it changes or has rested. */
    private final class Watch {
        private final FileStatus first;
        private final Clock clock;
        private final long startNanos;
        private long lookedNanos;
        private boolean changed;

        Watch(FileStatus first, Clock clock) {
            this.first = first;
            this.clock = clock;
            this.startNanos = clock.monotonicNanos();
            this.lookedNanos = startNanos;
        }

        boolean isOver() {
            long now = clock.monotonicNanos();
            boolean rested = now - startNanos >= REST_NANOS;
            if (!changed && (rested || now - lookedNanos >= LOOK_NANOS)) {
                lookedNanos = now;
                changed = !first.equals(look());
            }
            return changed || rested;
        }
    }

    /**
     * Passes over content: at once in a plain file, by uncompressing in gzip.
     *
     * @return how many bytes were there to be passed over
     */
    public long skip(long byteCount) {
        try {
            long skipped = 0;
            while (skipped < byteCount) {
                long step = content.skip(byteCount - skipped);
                if (step <= 0 && content.read() < 0) {
                    break;
                }
                skipped += step <= 0 ? 1 : step;
            }
            return skipped;
        } catch (IOException e) {
            throw damaged(file, position(), e);
        }
    }

    /** Where in the file the reading stands, without what was only read ahead. */
    private long position() {
        return content instanceof GzipStream gzip ? gzip.position() : bytes.offset;
    }

    /** How much of {@link SourceFile#byteCount()} has been read: for progress, not for positions. */
    public long fileBytesRead() {
        return bytes.offset;
    }

    @Override
    public void close() {
        try {
            content.close();
        } catch (IOException e) {
            throw damaged(file, position(), e);
        } finally {
            bytes.close();
        }
    }

    private static DamagedSourceException damaged(SourceFile file, long offset, IOException e) {
        DamagedSourceException damaged = new DamagedSourceException(
                file.path(),
                offset,
                "compressed content",
                "gzip",
                Objects.requireNonNullElse(e.getMessage(), "broken"));
        damaged.addSuppressed(e);
        return damaged;
    }

    /** A disk file as a stream. Its own failures are unchecked already. */
    private static final class FileBytes extends InputStream {
        private final DiskFile file;
        private final byte[] buffer = new byte[BUFFER_BYTES];
        private final MemorySegment bufferSegment = MemorySegment.ofArray(buffer);
        private long offset;
        private int next;
        private int end;
        private boolean closed;

        FileBytes(DiskFile file) {
            this.file = file;
        }

        @Override
        public int read() {
            return fill() ? buffer[next++] & 0xFF : -1;
        }

        @Override
        public int read(byte[] target, int at, int byteCount) {
            if (byteCount == 0) {
                return 0;
            }
            if (!fill()) {
                return -1;
            }
            int count = Math.min(byteCount, end - next);
            System.arraycopy(buffer, next, target, at, count);
            next += count;
            return count;
        }

        @Override
        public long skip(long byteCount) {
            long buffered = (long) end - next;
            if (byteCount <= buffered) {
                next += (int) Math.max(0, byteCount);
                return Math.max(0, byteCount);
            }
            next = 0;
            end = 0;
            long beyond = Math.min(byteCount - buffered, Math.max(0, file.size() - offset));
            offset += beyond;
            return buffered + beyond;
        }

        @Override
        public void close() {
            if (!closed) {
                closed = true;
                file.close();
            }
        }

        private boolean fill() {
            if (next < end) {
                return true;
            }
            int count = file.read(offset, bufferSegment, 0, buffer.length);
            offset += count;
            next = 0;
            end = count;
            return count > 0;
        }
    }
}
