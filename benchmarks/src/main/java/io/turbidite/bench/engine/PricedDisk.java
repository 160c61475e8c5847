package io.turbidite.bench.engine;

import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.ForwardingDisk;
import io.turbidite.core.file.ForwardingFile;

import java.lang.foreign.MemorySegment;

/**
 * A disk that adds up what its transfers would cost on a hard disk like those of the papers:
 * {@value #SEEK_MILLIS} ms for each that does not begin where the last one ended, and the bytes at
 * {@value #MEGABYTES_PER_SECOND} MB/s. Nothing takes longer by it: devices that answer a random
 * read in 0.05 ms hide what the papers measured, and sleeping for hours would not show it better.
 *
 * <p>There is one head for all files, but those of the log, which the papers had on a disk of its
 * own. Writes are priced without seeks: the system gathers them. What several threads do at once is
 * added up.
 *
 * <p><em>Thread-safe.</em>
 */
public final class PricedDisk implements ForwardingDisk {
    private static final long SEEK_MILLIS = 8;
    private static final long MEGABYTES_PER_SECOND = 100;
    private static final long NANOS_PER_KILOBYTE = 1_000_000 / MEGABYTES_PER_SECOND;
    private static final String LOG = "log";

    /** For reports. */
    public static final String PRICES =
            "%d ms a read that does not go on where the last one ended, %d MB/s; added up, nothing waits"
                    .formatted(SEEK_MILLIS, MEGABYTES_PER_SECOND);

    private final Disk disk;

    /** Guarded by this object: where the head is, and what it has cost. */
    private String headFile = "";

    private long headOffset;
    private long nanos;

    public PricedDisk(Disk disk) {
        this.disk = disk;
    }

    /** What all transfers so far cost. */
    public synchronized long nanos() {
        return nanos;
    }

    private synchronized void read(String file, long offset, int bytes) {
        if (!file.equals(headFile) || offset != headOffset) {
            nanos += SEEK_MILLIS * 1_000_000;
        }
        headFile = file;
        headOffset = offset + bytes;
        nanos += bytes * NANOS_PER_KILOBYTE / 1_000;
    }

    private synchronized void written(int bytes) {
        nanos += bytes * NANOS_PER_KILOBYTE / 1_000;
    }

    @Override
    public Disk disk() {
        return disk;
    }

    @Override
    public DiskFile wrap(DiskFile file) {
        return file.name().startsWith(LOG) ? file : new PricedFile(file);
    }

    /** A file whose transfers are priced. */
    private final class PricedFile implements ForwardingFile {
        private final DiskFile file;

        PricedFile(DiskFile file) {
            this.file = file;
        }

        @Override
        public DiskFile file() {
            return file;
        }

        @Override
        public int read(long fileOffset, MemorySegment target, long targetOffset, int byteCount) {
            int bytes = file.read(fileOffset, target, targetOffset, byteCount);
            PricedDisk.this.read(file.name(), fileOffset, bytes);
            return bytes;
        }

        @Override
        public void write(long fileOffset, MemorySegment source, long sourceOffset, int byteCount) {
            file.write(fileOffset, source, sourceOffset, byteCount);
            written(byteCount);
        }
    }
}
