package io.turbidite.lsm.backup;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Undo;
import io.turbidite.core.cache.BufferCache;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.lsm.version.Manifest;
import io.turbidite.lsm.version.ManifestState;
import io.turbidite.lsm.version.StoreFiles;

import java.nio.file.Path;
import java.util.List;

/**
 * Copies a backup into an empty directory and checks every byte of the copy. The backup stays what
 * it is: nothing is linked, so that neither can damage the other, and it is not opened as a store.
 */
public final class Restore {
    private Restore() {}

    /**
     * Restores one directory into another, new or empty.
     *
     * @throws InvalidRequestException if {@code backup} is none, or {@code directory} is not empty
     *     or lies in it
     * @throws io.turbidite.core.CorruptionException if the backup is damaged; nothing is restored
     */
    public static RestoreReport copy(Path backup, Path directory) {
        RealDisk.checkDirectory(backup);
        RealDisk source = RealDisk.open(backup);
        if (source.encloses(directory)) {
            throw new InvalidRequestException("%s lies inside the backup in %s; restore elsewhere"
                    .formatted(directory, source.description()));
        }
        try (Tasks tasks = ThreadTasks.create("turbidite-restore")) {
            return RealDisk.filled(
                    directory, target -> copy(source, target, tasks, Clock.system()));
        }
    }

    /**
     * As {@link #copy(Path, Path)}, of one disk's root into that of another, which is left empty if
     * it fails.
     */
    public static RestoreReport copy(Disk backup, Disk target, Tasks tasks, Clock clock) {
        ManifestState state = read(backup);
        TargetDirectory directory = new TargetDirectory(target);
        directory.prepare();
        try (Undo undo = Undo.of(directory::abandon);
                BufferCache cache = ComponentCopies.newCache(tasks, clock);
                ComponentCopies copies = new ComponentCopies(target, cache)) {
            List<StoredFile> files = StoredFile.allOf(state);
            files.forEach(file -> copies.copy(backup, file));
            directory.complete(state);
            undo.keep();
            return new RestoreReport(
                    state.lastTimestamp(),
                    files.size(),
                    StoredFile.bytes(files),
                    StoredFile.quarantined(state));
        }
    }

    /** The manifest of a backup that was not opened since, other than to be read: it has no log. */
    private static ManifestState read(Disk backup) {
        if (!backup.exists(StoreFiles.MANIFEST)) {
            throw new InvalidRequestException(
                    backup.exists(StoreFiles.INCOMPLETE)
                            ? "%s is a backup that was interrupted: it is not whole"
                                    .formatted(backup.description())
                            : "%s is no backup: it has no %s"
                                    .formatted(backup.description(), StoreFiles.MANIFEST));
        }
        if (backup.exists(StoreFiles.LOCK)) {
            backup.tryLock(StoreFiles.LOCK).orRefuse(backup.description()).close();
        }
        ManifestState state = Manifest.open(backup).state();
        if (!backup.exists(StoreFiles.UNOPENED)
                || state.logPosition() > 0
                || state.hasLog()
                || (backup.exists(StoreFiles.LOG)
                        && !backup.list(StoreFiles.LOG).isEmpty())) {
            throw new InvalidRequestException(
                    ("%s is no backup, or one that has been opened as a store since, and may have changed (it has"
                                    + " no file %s): back it up to a new directory and restore from there")
                            .formatted(backup.description(), StoreFiles.UNOPENED));
        }
        return state;
    }
}
