package io.turbidite.lsm.version;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.file.Disk;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Files of components that nobody needs: handed in by whoever lets go last (a reader, perhaps),
 * deleted by background work. A file that can't be deleted stays behind as an orphan, is counted,
 * and goes to the trash at the next opening.
 *
 * <p><em>Thread-safe.</em>
 */
public final class FileReaper {
    private final Disk disk;
    private final ConcurrentLinkedQueue<String> names = new ConcurrentLinkedQueue<>();
    private final AtomicLong orphanCount = new AtomicLong();

    public FileReaper(Disk disk) {
        this.disk = disk;
    }

    void bury(String name) {
        names.add(name);
    }

    /** Deletes what was handed in. */
    public void deleteObsolete() {
        @Nullable String name = names.poll();
        while (name != null) {
            try {
                disk.delete(name);
            } catch (StorageIoException left) {
                orphanCount.incrementAndGet();
            }
            name = names.poll();
        }
    }

    /** Files that could not be deleted since the store was opened. */
    public long orphanCount() {
        return orphanCount.get();
    }
}
