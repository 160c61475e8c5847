package io.turbidite.hashlog;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Undo;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskName;
import io.turbidite.hashlog.log.LogEnd;
import io.turbidite.hashlog.log.LogSite;
import io.turbidite.hashlog.registry.RegistryFile;
import io.turbidite.hashlog.registry.RegistryState;

import java.util.function.Function;

/**
 * Makes and opens the log in a directory. One opening holds it at a time. <em>Stateless.</em>
 */
final class LogDirectory {
    private LogDirectory() {}

    /** {@link HashLog#create}. */
    static HashLog create(LogSite site, HashLogOptions options, long logId) {
        Disk disk = site.disk();
        if (disk == null) {
            RegistryState state = fresh(options, logId);
            return new HashLog(site, options, OpenedLog.fresh(site, options, state), null);
        }
        createDurably(disk, site.directory());
        return locked(disk, site.directory(), lock -> {
            if (RegistryFile.exists(disk, site.directory())) {
                throw new InvalidRequestException(
                        "there is a hash log in %s: open it, or take another directory"
                                .formatted(site.where()));
            }
            return create(site, options, logId, disk, lock);
        });
    }

    private static RegistryState fresh(HashLogOptions options, long logId) {
        return RegistryState.fresh(
                logId, options.log().shape(), options.tableBits(), options.parser());
    }

    /** Writes the marks before the registry, because the registry says that they exist. */
    private static HashLog create(
            LogSite site, HashLogOptions options, long logId, Disk disk, Disk.Lock lock) {
        requireNoLog(disk, site.directory());
        RegistryState state = fresh(options, logId);
        LogEnd.prepare(site, state.shape(), logId);
        RegistryFile.write(disk, site.directory(), state);
        return new HashLog(site, options, OpenedLog.fresh(site, options, state), lock);
    }

    /** {@link HashLog#open}, and {@link HashLog#openForReading}. */
    static HashLog open(LogSite site, HashLogOptions options, boolean readOnly) {
        Disk disk = site.disk();
        if (disk == null || !hasLogFiles(disk, site.directory())) {
            throw noLog(site); // no file of a lock comes where there is nothing of a log
        }
        return locked(disk, site.directory(), lock -> {
            if (!RegistryFile.exists(disk, site.directory())) {
                requireNoLog(disk, site.directory());
                throw noLog(site);
            }
            return new HashLog(
                    site, options, OpenedLog.recover(site, options, disk, readOnly), lock);
        });
    }

    static InvalidRequestException noLog(LogSite site) {
        return new InvalidRequestException("there is no hash log in %s".formatted(site.where()));
    }

    /** {@link HashLog#openOrCreate}. */
    static HashLog openOrCreate(LogSite site, HashLogOptions options, long logId) {
        Disk disk = site.disk();
        if (disk == null) {
            return create(site, options, logId);
        }
        createDurably(disk, site.directory());
        return locked(
                disk,
                site.directory(),
                lock -> RegistryFile.exists(disk, site.directory())
                        ? new HashLog(
                                site, options, OpenedLog.recover(site, options, disk, false), lock)
                        : create(site, options, logId, disk, lock));
    }

    /** Opens under the directory's lock, and releases the lock if the opening fails. */
    private static HashLog locked(
            Disk disk, String directory, Function<Disk.Lock, HashLog> opening) {
        Disk.Lock lock =
                disk.tryLock(directory + "/LOCK").orRefuse(disk.description() + "/" + directory);
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
    private static void requireNoLog(Disk disk, String directory) {
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
    private static void createDurably(Disk disk, String directory) {
        disk.createDirectories(directory);
        for (String at = directory; !at.isEmpty(); at = DiskName.parent(at)) {
            disk.syncDirectory(DiskName.parent(at));
        }
    }
}
