package io.turbidite.lsm.harness;

import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.ForwardingDisk;
import io.turbidite.core.file.ForwardingFile;

import java.util.function.Predicate;

/** A disk that says it has synced what it has not: bugs to be planted under a store. */
public final class CarelessDisk implements ForwardingDisk {
    private final Disk disk;
    private final Predicate<String> skipsFileSync;
    private final Predicate<String> skipsDirectorySync;

    public CarelessDisk(
            Disk disk, Predicate<String> skipsFileSync, Predicate<String> skipsDirectorySync) {
        this.disk = disk;
        this.skipsFileSync = skipsFileSync;
        this.skipsDirectorySync = skipsDirectorySync;
    }

    @Override
    public Disk disk() {
        return disk;
    }

    @Override
    public void syncDirectory(String directory) {
        if (!skipsDirectorySync.test(directory)) {
            disk.syncDirectory(directory);
        }
    }

    @Override
    public String description() {
        return "careless " + disk.description();
    }

    @Override
    public DiskFile wrap(DiskFile file) {
        return skipsFileSync.test(file.name()) ? new UnsyncedFile(file) : file;
    }

    private record UnsyncedFile(DiskFile file) implements ForwardingFile {
        @Override
        public void sync() {
            // the bug
        }
    }
}
