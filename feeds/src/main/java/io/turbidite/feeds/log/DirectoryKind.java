package io.turbidite.feeds.log;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.RealDisk;

import java.nio.file.Path;

/**
 * What a directory holds, told by names alone: who mistook one for another hears so, not of damage.
 */
public enum DirectoryKind {
    /** A store. */
    STORE,
    /** A hash log. */
    LOG,

    /** Neither, or what may be both. */
    OTHER;

    private static final String MANIFEST = "MANIFEST";
    private static final String LOG_DIRECTORY = "log";
    private static final String REGISTRY_NAME = "HASHLOG";
    private static final String REGISTRY = LOG_DIRECTORY + "/" + REGISTRY_NAME;
    private static final String SEGMENT_SUFFIX = ".pages";

    /** Of a directory, which may be missing. */
    public static DirectoryKind of(Path directory) {
        if (!RealDisk.isDirectory(directory)) {
            return OTHER;
        }
        Disk disk = RealDisk.open(directory);
        boolean isStore = disk.exists(MANIFEST);
        boolean isLog = disk.exists(REGISTRY)
                || (RealDisk.isDirectory(directory.resolve(LOG_DIRECTORY))
                        && disk.list(LOG_DIRECTORY).stream()
                                .anyMatch(name -> name.endsWith(SEGMENT_SUFFIX)));
        return isStore == isLog ? OTHER : isStore ? STORE : LOG;
    }

    /**
     * Requires that a directory is none of a hash log.
     *
     * @throws InvalidRequestException otherwise
     */
    public static void checkNoLog(Path directory) {
        if (of(directory) == LOG) {
            throw new InvalidRequestException(
                    "%s is a hash log, not a store: ./turbidite log inspect LOGDIR"
                            .formatted(directory));
        }
    }

    /**
     * Requires that a directory is none of a store, nor the one that a log keeps its files in.
     *
     * @throws InvalidRequestException otherwise
     */
    public static void checkNoStore(Path directory) {
        Path whole = directory.toAbsolutePath().normalize();
        Path log = whole.getParent();
        if (log != null && whole.endsWith(LOG_DIRECTORY) && of(log) == LOG) {
            throw new InvalidRequestException(
                    "%s lies in a hash log; the log is one directory up: %s"
                            .formatted(directory, log));
        }
        if (of(directory) == STORE) {
            throw new InvalidRequestException(
                    "%s is a store, not a hash log: ./turbidite inspect STORE"
                            .formatted(directory));
        }
    }
}
