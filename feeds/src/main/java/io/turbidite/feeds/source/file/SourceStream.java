package io.turbidite.feeds.source.file;

import io.turbidite.core.DamagedSourceException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.Undo;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.FileStatus;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.source.SteadyTime;
import io.turbidite.feeds.source.file.FileSource.Head;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Locale;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.zip.ZipException;

/**
 * The content of a source file in sequence, uncompressed if it is gzip (told by its first two
 * bytes; members may follow one another, and zeros the last). A file that is gzip by its name alone
 * is damaged. Nothing of a member of gzip is given out before its checksum was found right.
 * <em>Confined to one thread.</em>
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
    private final DiskFile opened;
    private final FileBytes plain;
    private final @Nullable GzipStream gzip;
    private Head head;

    private SourceStream(Disk disk, SourceFile file, DiskFile opened, boolean proves) {
        this.disk = disk;
        this.file = file;
        this.opened = opened;
        this.plain = new FileBytes(opened);
        byte[] magic = new byte[2];
        int count = opened.read(0, MemorySegment.ofArray(magic), 0, magic.length);
        boolean compressed = isGzip(magic, 0, count);
        if (!compressed && file.name().toLowerCase(Locale.ROOT).endsWith(GZIP_SUFFIX)) {
            throw damaged(
                    0,
                    new ZipException(
                            "content that does not begin as gzip does, though the name ends in .gz"));
        }
        gzip = compressed ? new GzipStream(opened, file.byteCount(), proves) : null;
        head = gzip == null ? Head.of(opened, file.byteCount()) : gzip.head();
    }

    /** Whether {@code byteCount} bytes begin as gzip does. */
    public static boolean isGzip(byte[] bytes, int offset, int byteCount) {
        return byteCount >= 2
                && (bytes[offset] & 0xFF) == GzipStream.MAGIC_FIRST
                && (bytes[offset + 1] & 0xFF) == GzipStream.MAGIC_SECOND;
    }

    /**
     * Opens a file at its beginning.
     *
     * @param proves whether members of gzip are proven before they are given out
     * @throws DamagedSourceException if it is gzip by its name alone
     */
    static SourceStream open(Disk disk, SourceFile file, boolean proves) {
        DiskFile opened = disk.openReadOnly(file.path());
        try (Undo undo = Undo.of(opened::close)) {
            return undo.keep(new SourceStream(disk, file, opened, proves));
        }
    }

    /**
     * Has {@code asked} asked often while content is checked or passed over, which may take as long
     * as reading all of it: when it says yes, that ends with a {@link StorageIoException} of kind
     * INTERRUPTED.
     */
    public void stopWhen(BooleanSupplier asked) {
        if (gzip != null) {
            gzip.stopWhen(asked);
        }
    }

    /**
     * Checks all that can be checked before it is read; for whoever can't go on behind what is
     * damaged.
     *
     * @throws DamagedSourceException if gzip is damaged anywhere
     */
    public void prove() {
        try {
            if (gzip != null) {
                gzip.proveAll();
                head = gzip.head();
            }
        } catch (IOException e) {
            throw damaged(position(), e);
        }
    }

    /** Begins again at the beginning of the same file, though another has its name by now. */
    public void restart() {
        try {
            if (gzip != null) {
                gzip.restart();
            } else {
                plain.restart();
            }
        } catch (IOException e) {
            throw damaged(position(), e);
        }
    }

    /**
     * Reads some bytes, at least one unless the content is at its end.
     *
     * @return how many, or -1 at the end
     * @throws DamagedSourceException if the content is damaged, or the file has become shorter
     *     since it was opened
     */
    public int read(byte[] target, int offset, int byteCount) {
        if (gzip != null) {
            return readGzip(gzip, target, offset, byteCount);
        }
        int count = plain.read(target, offset, byteCount);
        if (count < 0 && plain.offset < file.byteCount()) {
            throw new DamagedSourceException(
                    file.path(),
                    plain.offset,
                    "file",
                    "%d bytes long, as when it was opened,".formatted(file.byteCount()),
                    "shorter");
        }
        return count;
    }

    private int readGzip(GzipStream from, byte[] target, int offset, int byteCount) {
        try {
            int count = from.read(target, offset, byteCount);
            if (Math.min(FileSource.HEAD_BYTES, settledBytes()) > head.byteCount()) {
                head = from.head();
            }
            return count;
        } catch (IOException e) {
            throw damaged(position(), e);
        }
    }

    /**
     * Whether the content, which has been read to its end, will go on no more as far as one can
     * tell. Compressed content says itself where it ends. Another file has ended if its size and
     * the time of its last change have been the same for two seconds: by that time if it is old
     * enough whether or not somebody has set the clock, else it is watched for so long.
     *
     * @param time of the process, from before the content was read
     * @param stopped ends the watching, with the answer no
     */
    public boolean hasEnded(SteadyTime time, Tasks tasks, BooleanSupplier stopped) {
        if (gzip != null) {
            return true;
        }
        FileStatus first = look();
        if (first == null || first.byteCount() != plain.offset) {
            return false;
        }
        if (time.ageMicros(first.modifiedMicros()) >= REST_NANOS / 1_000) {
            return true;
        }
        Watch watch = new Watch(first, time.clock());
        tasks.await(() -> stopped.getAsBoolean() || watch.isOver());
        return !stopped.getAsBoolean() && !watch.changed;
    }

    /**
     * Whether the content says itself where it ends, so that nothing follows what was read to
     * there.
     */
    public boolean saysItsEnd() {
        return gzip != null;
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
            return gzip != null ? gzip.skip(byteCount) : plain.skip(byteCount);
        } catch (IOException e) {
            throw damaged(position(), e);
        }
    }

    /** Where in the file the reading stands, without what was only read ahead. */
    private long position() {
        return gzip != null ? gzip.position() : plain.offset;
    }

    /**
     * How much of {@link SourceFile#byteCount()} has been read: for progress, not for positions.
     */
    public long fileBytesRead() {
        return gzip != null ? gzip.workedBytes() : plain.offset;
    }

    /**
     * How much of the file, from its beginning on, it must keep to be the same file: all that it
     * had when it was opened, but of gzip what is proven, since what is behind that may be damaged,
     * and be mended.
     */
    public long settledBytes() {
        return gzip != null ? gzip.provenBytes() : file.byteCount();
    }

    /** What the file begins with, as far as that is settled. */
    public Head head() {
        return head;
    }

    @Override
    public void close() {
        if (gzip != null) {
            gzip.close();
        } else {
            opened.close();
        }
    }

    private DamagedSourceException damaged(long offset, IOException e) {
        DamagedSourceException damaged = new DamagedSourceException(
                file.path(),
                offset,
                "compressed content",
                "gzip",
                Objects.requireNonNullElse(e.getMessage(), "broken"));
        damaged.addSuppressed(e);
        return damaged;
    }

    /** A plain file, read in sequence. */
    private static final class FileBytes {
        private final DiskFile file;
        private final byte[] buffer = new byte[BUFFER_BYTES];
        private final MemorySegment bufferSegment = MemorySegment.ofArray(buffer);
        private long offset;
        private int next;
        private int end;

        FileBytes(DiskFile file) {
            this.file = file;
        }

        int read(byte[] target, int at, int byteCount) {
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

        long skip(long byteCount) {
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

        void restart() {
            offset = 0;
            next = 0;
            end = 0;
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
