package io.turbidite.lsm;

import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Predicate;

/** A disk that says it has synced what it has not: bugs to be planted under a store. */
final class CarelessDisk implements Disk {
    private final Disk disk;
    private final Predicate<String> skipsFileSync;
    private final Predicate<String> skipsDirectorySync;

    CarelessDisk(Disk disk, Predicate<String> skipsFileSync, Predicate<String> skipsDirectorySync) {
        this.disk = disk;
        this.skipsFileSync = skipsFileSync;
        this.skipsDirectorySync = skipsDirectorySync;
    }

    @Override
    public DiskFile create(String name) {
        return wrap(disk.create(name));
    }

    @Override
    public DiskFile open(String name) {
        return wrap(disk.open(name));
    }

    @Override
    public DiskFile openReadOnly(String name) {
        return disk.openReadOnly(name);
    }

    @Override
    public boolean exists(String name) {
        return disk.exists(name);
    }

    @Override
    public List<String> list(String directory) {
        return disk.list(directory);
    }

    @Override
    public void createDirectories(String directory) {
        disk.createDirectories(directory);
    }

    @Override
    public void delete(String name) {
        disk.delete(name);
    }

    @Override
    public void rename(String from, String to) {
        disk.rename(from, to);
    }

    @Override
    public boolean link(String name, Disk target, String targetName) {
        return disk.link(name, target, targetName);
    }

    @Override
    public void syncDirectory(String directory) {
        if (!skipsDirectorySync.test(directory)) {
            disk.syncDirectory(directory);
        }
    }

    @Override
    public long usableBytes() {
        return disk.usableBytes();
    }

    @Override
    public @Nullable Lock tryLock(String name) {
        return disk.tryLock(name);
    }

    @Override
    public String description() {
        return "careless " + disk.description();
    }

    private DiskFile wrap(DiskFile file) {
        return skipsFileSync.test(file.name()) ? new UnsyncedFile(file) : file;
    }

    private record UnsyncedFile(DiskFile file) implements DiskFile {
        @Override
        public String name() {
            return file.name();
        }

        @Override
        public long size() {
            return file.size();
        }

        @Override
        public int read(long fileOffset, MemorySegment target, long targetOffset, int byteCount) {
            return file.read(fileOffset, target, targetOffset, byteCount);
        }

        @Override
        public void write(long fileOffset, MemorySegment source, long sourceOffset, int byteCount) {
            file.write(fileOffset, source, sourceOffset, byteCount);
        }

        @Override
        public void truncate(long size) {
            file.truncate(size);
        }

        @Override
        public void sync() {
            // the bug
        }

        @Override
        public void close() {
            file.close();
        }
    }
}
