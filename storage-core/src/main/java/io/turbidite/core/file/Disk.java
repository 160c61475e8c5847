package io.turbidite.core.file;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * A directory tree on durable storage, rooted where it was opened. Names are relative, with
 * {@code /} between parts; a name that leaves the root is refused.
 *
 * <p><em>Thread-safe.</em> Every method throws {@link io.turbidite.core.StorageIoException} with a
 * kind.
 *
 * <p>Durability: file content is durable after {@link DiskFile#sync()}; creations, renames and
 * deletions are durable after {@link #syncDirectory} of the directory they happened in. Nothing
 * else is promised, and the simulated disk breaks everything that is not.
 */
public interface Disk {
    /** Creates a file for reading and writing; fails with ALREADY_EXISTS if there is one. */
    DiskFile create(String name);

    /**
     * Opens a file for reading and writing.
     *
     * <p>A file that this process has {@linkplain DiskFile#tryLock locked} is not opened a second
     * time, by this or any other method: the system gives a lock up when <em>any</em> opening of
     * its file is closed.
     *
     * @throws io.turbidite.core.InvalidRequestException if it is locked here
     */
    DiskFile open(String name);

    /** Opens a file for reading. */
    DiskFile openReadOnly(String name);

    /**
     * As {@link #create}, but what is read and written goes past the operating system's page cache.
     * Every transfer must be aligned to {@link DiskFile#blockBytes()}: file offset, byte count, and
     * the address of memory off the heap. {@link DirectDisk} is for whoever can't promise that.
     *
     * @return null if the file system has no direct I/O, or blocks of a size that nobody wants;
     *     nothing has happened
     */
    default @Nullable DiskFile createDirect(String name) {
        return null;
    }

    /**
     * As {@link #openReadOnly}, past the page cache as {@link #createDirect}; null if that is
     * refused.
     */
    default @Nullable DiskFile openDirect(String name) {
        return null;
    }

    /**
     * Whether a file that is open for writing {@linkplain DiskFile#map can be mapped}, and space is
     * set aside when it is written rather than when that is synced. One file may be refused still.
     */
    default boolean mapsFiles() {
        return false;
    }

    /**
     * How many names a file has: more than one if somebody made hard links of it.
     *
     * @param name of a file that is there
     */
    default int nameCount(String name) {
        return 1;
    }

    /** Whether there is a file or directory of that name, durable or not. */
    boolean exists(String name);

    /**
     * What the name leads to, without opening it; the root is {@code ""}. A symbolic link inside
     * the disk is not followed.
     */
    FileStatus status(String name);

    /** The plain names in a directory, sorted; the root is {@code ""}. */
    List<String> list(String directory);

    /** Creates a directory and its parents; an existing one is left as it is. */
    void createDirectories(String directory);

    /** Deletes a file or an empty directory; fails with NOT_FOUND if there is none. */
    void delete(String name);

    /** Renames atomically within the disk, replacing a file that has the new name. */
    void rename(String from, String to);

    /**
     * Gives a file a second name, here or in another directory tree: one content, two names, and
     * whichever name is deleted leaves the other. The file should be one that nobody changes any
     * more.
     *
     * <p>Durable after a sync of the directory that the new name is in, as a creation is.
     *
     * @param target where the new name goes
     * @return false if a file of this disk can't have a name there: it is another file system, or
     *     one without hard links; nothing has happened, and a copy will do
     */
    boolean link(String name, Disk target, String targetName);

    /**
     * Makes names that were created, renamed or deleted in the directory durable.
     *
     * @throws io.turbidite.core.StorageIoException if the system could not
     */
    void syncDirectory(String directory);

    /** Bytes that can still be written, as far as the file system knows. */
    long usableBytes();

    /**
     * Takes the exclusive lock of {@code name} (created if missing), held until closed; refused if
     * another process, or another opening in this one, holds it. It keeps out whoever asks for it,
     * nobody else.
     */
    LockAnswer tryLock(String name);

    /** What people know this disk by: the real path, or the simulation's seed. */
    String description();

    /** A held lock. */
    interface Lock extends AutoCloseable {
        /**
         * Whether the file that is locked still has its name. A lock on a file that somebody has
         * deleted or replaced keeps nobody out: others lock what has the name now.
         *
         * @throws io.turbidite.core.StorageIoException if that can't be found out
         */
        boolean isInPlace();

        @Override
        void close();
    }
}
