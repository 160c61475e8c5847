package io.turbidite.hashlog;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.StoreInUseException;
import io.turbidite.core.Undo;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskName;
import io.turbidite.hashlog.registry.RegistryFile;

import java.util.function.Function;

/** The directory of a log. One opening holds it at a time. <em>Stateless.</em> */
final class LogDirectory {
    private LogDirectory() {}

    /** Opens under the directory's lock, and releases the lock if the opening fails. */
    static HashLog locked(Disk disk, String directory, Function<Disk.Lock, HashLog> opening) {
        Disk.Lock lock = disk.tryLock(directory + "/LOCK");
        if (lock == null) {
            throw new StoreInUseException(disk.description() + "/" + directory);
        }
        try (Undo undo = Undo.of(lock::close)) {
            return undo.keep(opening.apply(lock));
        }
    }

    /**
     * Requires that the directory holds nothing of a log that has lost its registry: a new log
     * would destroy it.
     *
     * @throws CorruptionException otherwise
     */
    static void requireNoLog(Disk disk, String directory) {
        for (String name : disk.list(directory)) {
            if (isLogFile(name)) {
                throw CorruptionException.missing(
                        directory + "/HASHLOG", "%s is there; restore it".formatted(name));
            }
        }
    }

    /** Whether the directory holds anything of a log, with its registry or without. */
    static boolean hasLogFiles(Disk disk, String directory) {
        return disk.exists(directory)
                && (RegistryFile.exists(disk, directory)
                        || disk.list(directory).stream().anyMatch(LogDirectory::isLogFile));
    }

    private static boolean isLogFile(String name) {
        return name.matches("[0-9a-f]{8}\\.(pages|index|run)");
    }

    /** Creates a directory durably: its name is durable once the parent directory is synced. */
    static void createDurably(Disk disk, String directory) {
        disk.createDirectories(directory);
        for (String at = directory; !at.isEmpty(); at = DiskName.parent(at)) {
            disk.syncDirectory(DiskName.parent(at));
        }
    }
}
