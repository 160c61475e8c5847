package io.turbidite.hashlog;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StoreInUseException;
import io.turbidite.core.Undo;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.WholeFile;
import io.turbidite.hashlog.log.LogSite;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Copies the files of a log that nobody has open: a backup of it, and a log from a backup.
 * <em>Static, without state.</em>
 *
 * <p>The registry comes last, under its name only when all else is durable: a copy that was cut
 * short is no log. What a log's files say of damage they say in the copy, too; {@link LogCheck}
 * tells whether it is sound.
 */
public final class LogCopy {
    private static final int BUFFER_BYTES = 1 << 20;
    private static final String LOCK = "LOCK";
    private static final String REGISTRY = "HASHLOG";

    /** Drafts and what was left of them: no part of a log. */
    private static final String DRAFT_SUFFIX = ".new";

    private LogCopy() {}

    /**
     * What was copied. <em>Immutable.</em>
     *
     * @param files whole ones
     * @param bytes of these
     * @param finished whether it ran to the end; if not, the copy is no log
     */
    public record Result(int files, long bytes, boolean finished) {}

    /**
     * Copies a log.
     *
     * @param site of the log, on a disk
     * @param beside directories beside the log's that belong to it, as those of feeds; those that
     *     are not there are left out
     * @param target has nothing in any of these directories
     * @param stopped ends it between two pieces of 1 MiB
     * @throws InvalidRequestException if there is no log, or {@code target} has files
     * @throws StoreInUseException if the log is open
     * @throws io.turbidite.core.StorageIoException if a file can't be read or written
     */
    public static Result run(
            LogSite site, List<String> beside, Disk target, BooleanSupplier stopped) {
        Disk disk = site.disk();
        if (disk == null) {
            throw new InvalidRequestException("a log in memory has no files to copy");
        }
        String log = site.directory();
        if (!LogDirectory.hasLogFiles(disk, log) || !disk.exists(log + "/" + REGISTRY)) {
            throw LogDirectory.noLog(site);
        }
        List<String> directories = new ArrayList<>(beside);
        directories.removeIf(directory -> !disk.exists(directory));
        directories.addFirst(log);
        for (String directory : directories) {
            if (target.exists(directory) && !target.list(directory).isEmpty()) {
                throw new InvalidRequestException(
                        "%s has files already: name a directory that is new or empty"
                                .formatted(target.description()));
            }
        }
        try (Disk.Lock _ = disk.tryLock(log + "/" + LOCK).orRefuse(site.where())) {
            return new Run(disk, target, stopped).all(directories, log + "/" + REGISTRY);
        }
    }

    private static final class Run {
        private final Disk from;
        private final Disk to;
        private final BooleanSupplier stopped;
        private final MemorySegment buffer = MemorySegment.ofArray(new byte[BUFFER_BYTES]);
        private int files;
        private long bytes;

        Run(Disk from, Disk to, BooleanSupplier stopped) {
            this.from = from;
            this.to = to;
            this.stopped = stopped;
        }

        Result all(List<String> directories, String registry) {
            for (String directory : directories) {
                to.createDirectories(directory);
                for (String file : from.list(directory)) {
                    String name = directory + "/" + file;
                    boolean isPart = !file.equals(LOCK)
                            && !file.endsWith(DRAFT_SUFFIX)
                            && !name.equals(registry);
                    if (isPart && !copy(name)) {
                        return new Result(files, bytes, false);
                    }
                }
                to.syncDirectory(directory);
            }
            to.syncDirectory("");
            boolean finished = copy(registry);
            return new Result(files, bytes, finished);
        }

        /** False if it was stopped; then there is no file of this name. */
        private boolean copy(String name) {
            WholeFile whole = WholeFile.of(to, name);
            try (Undo undo = Undo.of(whole::abandon)) {
                long length;
                try (DiskFile source = from.openReadOnly(name);
                        DiskFile target = whole.create()) {
                    length = source.size();
                    for (long at = 0; at < length; ) {
                        if (stopped.getAsBoolean()) {
                            return false;
                        }
                        int wanted = (int) Math.min(BUFFER_BYTES, length - at);
                        int read = source.read(at, buffer, 0, wanted);
                        if (read != wanted) {
                            throw new CorruptionException(
                                    name,
                                    at,
                                    "bytes",
                                    String.valueOf(wanted),
                                    String.valueOf(read));
                        }
                        target.write(at, buffer, 0, read);
                        at += read;
                    }
                    target.sync();
                }
                whole.place();
                undo.keep();
                files++;
                bytes += length;
                return true;
            }
        }
    }
}
