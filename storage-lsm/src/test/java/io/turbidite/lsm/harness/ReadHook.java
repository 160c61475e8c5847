package io.turbidite.lsm.harness;

import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.ForwardingDisk;
import io.turbidite.core.file.ForwardingFile;
import io.turbidite.lsm.version.StoreFiles;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicReference;

/** A disk on which something happens in the middle of a read of a component. */
public final class ReadHook implements ForwardingDisk {
    private final Disk disk;
    private final AtomicReference<@Nullable Runnable> next = new AtomicReference<>();

    public ReadHook(Disk disk) {
        this.disk = disk;
    }

    /** Has the next read of a component, on whatever thread, begin with {@code once}. */
    public void inNextRead(Runnable once) {
        next.set(once);
    }

    /** Whether there was one since. */
    public boolean hasRun() {
        return next.get() == null;
    }

    @Override
    public Disk disk() {
        return disk;
    }

    @Override
    public DiskFile wrap(DiskFile file) {
        return file.name().startsWith(StoreFiles.DATA + "/") ? new HookedFile(file, next) : file;
    }

    private record HookedFile(DiskFile file, AtomicReference<@Nullable Runnable> next)
            implements ForwardingFile {
        @Override
        public int read(long fileOffset, MemorySegment target, long targetOffset, int byteCount) {
            Runnable once = next.getAndSet(null);
            if (once != null) {
                once.run();
            }
            return file.read(fileOffset, target, targetOffset, byteCount);
        }
    }
}
