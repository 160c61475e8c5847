package io.turbidite.core.log;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.ForwardingDisk;
import io.turbidite.core.file.ForwardingFile;

import java.lang.foreign.MemorySegment;

/**
 * A disk that behaves as if the log had one of the classic mistakes: what the crash and fault
 * suites must catch, or they have no teeth. <em>Confined to one thread.</em>
 */
final class BuggyDisk implements ForwardingDisk {
    /** A planted mistake. */
    enum Bug {
        NONE,
        /** Files are never synced. */
        SKIP_SYNC,
        /** Directories are never synced. */
        SKIP_DIRECTORY_SYNC,
        /** The sync comes with the next write, after the acknowledgement. */
        ACKNOWLEDGE_BEFORE_SYNC,
        /** A sync that fails is tried again, and believed. */
        RETRY_FAILED_SYNC,
        /** Recovery does not write the unproven end once more. */
        SKIP_HARDENING,
        /** The session's mark is not synced before the records behind it. */
        SKIP_MARK_SYNC,
        /** Segments are made by sparse growth. */
        SPARSE_PREALLOCATION,
        /** A failed write is taken for done. */
        SWALLOW_WRITE_ERROR,
    }

    private final Disk disk;
    private final Bug bug;

    /** Set by the driver while the log is being opened. */
    boolean opening;

    BuggyDisk(Disk disk, Bug bug) {
        this.disk = disk;
        this.bug = bug;
    }

    @Override
    public Disk disk() {
        return disk;
    }

    @Override
    public DiskFile wrap(DiskFile file) {
        return new BuggyFile(file);
    }

    @Override
    public void syncDirectory(String directory) {
        if (bug != Bug.SKIP_DIRECTORY_SYNC) {
            disk.syncDirectory(directory);
        }
    }

    @Override
    public long usableBytes() {
        return bug == Bug.SPARSE_PREALLOCATION ? Long.MAX_VALUE : disk.usableBytes();
    }

    @Override
    public String description() {
        return disk.description() + " with " + bug;
    }

    private final class BuggyFile implements ForwardingFile {
        private final DiskFile file;
        private boolean syncDue;
        private boolean justOpened = true;

        BuggyFile(DiskFile file) {
            this.file = file;
        }

        @Override
        public DiskFile file() {
            return file;
        }

        @Override
        public void write(long fileOffset, MemorySegment source, long sourceOffset, int byteCount) {
            if (opening && bug == Bug.SKIP_HARDENING) {
                return;
            }
            if (syncDue) {
                syncDue = false;
                file.sync();
            }
            if (bug == Bug.SPARSE_PREALLOCATION && isZero(source, sourceOffset, byteCount)) {
                file.truncate(Math.max(file.size(), fileOffset + byteCount));
                return;
            }
            try {
                file.write(fileOffset, source, sourceOffset, byteCount);
            } catch (StorageIoException e) {
                if (bug != Bug.SWALLOW_WRITE_ERROR) {
                    throw e;
                }
            }
        }

        @Override
        public void sync() {
            boolean first = justOpened && !opening;
            justOpened = justOpened && opening;
            if (bug == Bug.SKIP_SYNC || (bug == Bug.SKIP_MARK_SYNC && first)) {
                return;
            }
            if (bug == Bug.ACKNOWLEDGE_BEFORE_SYNC) {
                syncDue = true;
                return;
            }
            try {
                file.sync();
            } catch (StorageIoException e) {
                if (bug != Bug.RETRY_FAILED_SYNC) {
                    throw e;
                }
                file.sync();
            }
        }

        private static boolean isZero(MemorySegment source, long offset, int byteCount) {
            MemorySegment bytes = source.asSlice(offset, byteCount);
            return bytes.mismatch(MemorySegment.ofArray(new byte[byteCount])) == -1;
        }
    }
}
