package io.turbidite.it.fault;

import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.ForwardingDisk;
import io.turbidite.core.file.ForwardingFile;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * A disk on which each sync of the store's log takes a while, and nothing else does: the store
 * takes a batch of each parse worker in that time, on every machine.
 *
 * @param disk where all is kept
 * @param syncNanos what a sync takes at least
 * @param syncs counts them
 */
record SlowLogDisk(Disk disk, long syncNanos, AtomicLong syncs) implements ForwardingDisk {
    @Override
    public boolean mapsFiles() {
        return false;
    }

    @Override
    public DiskFile wrap(DiskFile file) {
        return file.name().startsWith("log/") ? new SlowFile(file, syncNanos, syncs) : file;
    }

    @Override
    public String description() {
        return disk.description();
    }

    private record SlowFile(DiskFile file, long syncNanos, AtomicLong syncs)
            implements ForwardingFile {
        @Override
        public void sync() {
            long end = System.nanoTime() + syncNanos;
            file.sync();
            syncs.incrementAndGet();
            while (System.nanoTime() - end < 0) {
                LockSupport.parkNanos(end - System.nanoTime());
            }
        }
    }
}
