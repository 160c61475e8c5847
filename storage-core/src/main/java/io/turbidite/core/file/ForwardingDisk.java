package io.turbidite.core.file;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * A disk in front of another one: all it has to say is what is different. What it doesn't say, the
 * other one answers; every file that is created or opened goes through {@link #wrap}.
 */
public interface ForwardingDisk extends Disk {
    /** The disk behind. */
    Disk disk();

    /**
     * What a file of the disk behind is to its callers: the file itself, or a
     * {@link ForwardingFile}.
     */
    default DiskFile wrap(DiskFile file) {
        return file;
    }

    /** A file in front of one of these is not mapped, and is written as any other. */
    @Override
    default boolean mapsFiles() {
        return disk().mapsFiles();
    }

    @Override
    default DiskFile create(String name) {
        return wrap(disk().create(name));
    }

    @Override
    default DiskFile open(String name) {
        return wrap(disk().open(name));
    }

    @Override
    default DiskFile openReadOnly(String name) {
        return wrap(disk().openReadOnly(name));
    }

    @Override
    default @Nullable DiskFile createDirect(String name) {
        DiskFile file = disk().createDirect(name);
        return file == null ? null : wrap(file);
    }

    @Override
    default @Nullable DiskFile openDirect(String name) {
        DiskFile file = disk().openDirect(name);
        return file == null ? null : wrap(file);
    }

    @Override
    default boolean exists(String name) {
        return disk().exists(name);
    }

    @Override
    default FileStatus status(String name) {
        return disk().status(name);
    }

    @Override
    default List<String> list(String directory) {
        return disk().list(directory);
    }

    @Override
    default void createDirectories(String directory) {
        disk().createDirectories(directory);
    }

    @Override
    default void delete(String name) {
        disk().delete(name);
    }

    @Override
    default void rename(String from, String to) {
        disk().rename(from, to);
    }

    @Override
    default boolean link(String name, Disk target, String targetName) {
        return disk().link(name, target, targetName);
    }

    @Override
    default void syncDirectory(String directory) {
        disk().syncDirectory(directory);
    }

    @Override
    default long usableBytes() {
        return disk().usableBytes();
    }

    @Override
    default LockAnswer tryLock(String name) {
        return disk().tryLock(name);
    }

    @Override
    default String description() {
        return disk().description();
    }
}
