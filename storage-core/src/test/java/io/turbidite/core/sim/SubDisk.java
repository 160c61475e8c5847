package io.turbidite.core.sim;

import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.DiskName;
import io.turbidite.core.file.FileStatus;
import io.turbidite.core.file.LockAnswer;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * A directory of another disk as a disk of its own: so that two stores lie on one simulated disk,
 * lose power together, and can link to one another's files. <em>Thread-safe</em> as the other is.
 */
public final class SubDisk implements Disk {
    private final Disk disk;
    private final String directory;

    private SubDisk(Disk disk, String directory) {
        this.disk = disk;
        this.directory = directory;
    }

    /** The directory, made durably if there is none. */
    public static SubDisk of(Disk disk, String directory) {
        if (!disk.exists(DiskName.check(directory))) {
            disk.createDirectories(directory);
            disk.syncDirectory(DiskName.parent(directory));
        }
        return new SubDisk(disk, directory);
    }

    @Override
    public DiskFile create(String name) {
        return disk.create(inner(name));
    }

    @Override
    public DiskFile open(String name) {
        return disk.open(inner(name));
    }

    @Override
    public DiskFile openReadOnly(String name) {
        return disk.openReadOnly(inner(name));
    }

    @Override
    public @Nullable DiskFile createDirect(String name) {
        return disk.createDirect(inner(name));
    }

    @Override
    public @Nullable DiskFile openDirect(String name) {
        return disk.openDirect(inner(name));
    }

    @Override
    public boolean exists(String name) {
        return disk.exists(inner(name));
    }

    @Override
    public FileStatus status(String name) {
        return disk.status(innerDirectory(name));
    }

    @Override
    public List<String> list(String name) {
        return disk.list(innerDirectory(name));
    }

    @Override
    public void createDirectories(String name) {
        disk.createDirectories(innerDirectory(name));
    }

    @Override
    public void delete(String name) {
        disk.delete(inner(name));
    }

    @Override
    public void rename(String from, String to) {
        disk.rename(inner(from), inner(to));
    }

    @Override
    public boolean link(String name, Disk target, String targetName) {
        return target instanceof SubDisk other
                ? disk.link(inner(name), other.disk, other.inner(targetName))
                : disk.link(inner(name), target, targetName);
    }

    @Override
    public void syncDirectory(String name) {
        disk.syncDirectory(innerDirectory(name));
    }

    @Override
    public long usableBytes() {
        return disk.usableBytes();
    }

    @Override
    public LockAnswer tryLock(String name) {
        return disk.tryLock(inner(name));
    }

    @Override
    public String description() {
        return "%s of %s".formatted(directory, disk.description());
    }

    private String inner(String name) {
        return directory + "/" + DiskName.check(name);
    }

    private String innerDirectory(String name) {
        return name.isEmpty() ? directory : inner(name);
    }
}
