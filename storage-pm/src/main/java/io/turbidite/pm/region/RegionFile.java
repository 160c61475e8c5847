package io.turbidite.pm.region;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.FileStatus;
import io.turbidite.core.index.OutsideFile.Removal;

import org.jspecify.annotations.Nullable;

/**
 * What has the name of a region's file, looked at before it is opened, changed or deleted: others
 * may have put something of theirs there. Nothing is changed or deleted but a file with a header of
 * that region, which nobody has open. Stateless.
 *
 * <p>The kind is asked for first: to open a pipe waits for ever. Who has a region open holds the
 * lock of its file: two stores may mean the same file, in containers that both call their directory
 * {@code /data}.
 */
public final class RegionFile {
    private RegionFile() {}

    /**
     * Opens the file of a region that is there, to be read.
     *
     * @throws CorruptionException if it is no file
     */
    static DiskFile openReadOnly(Disk disk, String name) {
        requireFile(disk, name);
        return disk.openReadOnly(name);
    }

    /**
     * Opens the file of a region that is there, to be mapped and changed; locked.
     *
     * @throws CorruptionException if it is no file, or another one, or damaged so that it can't be
     *     told, or has a second name: what that is for would be changed as well
     * @throws StorageIoException if somebody else has it open
     */
    static DiskFile open(Disk disk, String name, long storeId, long regionId) {
        requireFile(disk, name);
        int nameCount = disk.nameCount(name);
        if (nameCount > 1) {
            throw new CorruptionException(
                    name, 0, "names of the file", "1", "%d: hard links".formatted(nameCount));
        }
        DiskFile file = locked(disk, name);
        boolean isOwn = false;
        try {
            isOwn = RegionHeader.isIn(file, storeId, regionId);
        } finally {
            if (!isOwn) {
                file.close();
            }
        }
        if (!isOwn) {
            throw new CorruptionException(
                    name,
                    0,
                    "header",
                    "one of region %x of store %x".formatted(regionId, storeId),
                    "none: it is another file, or both of its headers are damaged");
        }
        return file;
    }

    private static void requireFile(Disk disk, String name) {
        if (disk.status(name).kind() != FileStatus.Kind.FILE) {
            throw new CorruptionException(
                    name, 0, "kind", "a file", "a directory, a link, a pipe or a device");
        }
    }

    private static DiskFile locked(Disk disk, String name) {
        DiskFile file;
        try {
            file = disk.open(name);
        } catch (InvalidRequestException here) {
            throw inUse(name, here);
        }
        lock(file);
        return file;
    }

    /** Locks a file, or closes it. */
    static void lock(DiskFile file) {
        boolean isLocked = false;
        try {
            isLocked = file.tryLock();
        } catch (InvalidRequestException here) {
            throw inUse(file.name(), here);
        } finally {
            if (!isLocked) {
                file.close();
            }
        }
        if (!isLocked) {
            throw inUse(file.name(), null);
        }
    }

    private static StorageIoException inUse(String name, @Nullable Exception cause) {
        return new StorageIoException(
                StorageIoException.Kind.ACCESS_DENIED,
                "lock",
                name,
                "another store has this file open: one whose directory has the same name, in another container perhaps",
                cause);
    }

    /**
     * Deletes what was made to try a directory out, by a process that was killed: a file of zeros,
     * of a page at most, which nobody has locked.
     *
     * @param name of a probe
     */
    public static void sweep(Disk disk, String name) {
        FileStatus found = disk.status(name);
        if (found.kind() != FileStatus.Kind.FILE
                || found.byteCount() > SegmentMemory.PROBE_BYTES
                || disk.nameCount(name) > 1) {
            return;
        }
        try (DiskFile file = locked(disk, name)) {
            if (RegionHeader.isBlank(file)) {
                disk.delete(name);
            }
        }
    }

    /**
     * Deletes the file of a region, durably, if it is that region's: a header says so, or nothing
     * was written to it but zeros, as when it was begun. No link is followed.
     *
     * @throws StorageIoException if it can't be read or deleted, or somebody has it open
     */
    public static Removal remove(Disk disk, String name, long storeId, long regionId) {
        if (!disk.exists(name)) {
            return Removal.GONE;
        }
        if (disk.status(name).kind() != FileStatus.Kind.FILE) {
            return Removal.ANOTHERS;
        }
        try (DiskFile file = locked(disk, name)) {
            if (!RegionHeader.isIn(file, storeId, regionId) && !RegionHeader.isBlank(file)) {
                return Removal.ANOTHERS;
            }
            disk.delete(name);
        }
        disk.syncDirectory("");
        return Removal.GONE;
    }
}
