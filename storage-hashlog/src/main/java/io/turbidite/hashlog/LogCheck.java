package io.turbidite.hashlog;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.StoreInUseException;
import io.turbidite.core.epoch.Epochs;
import io.turbidite.core.file.Disk;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.hashlog.history.Runs;
import io.turbidite.hashlog.log.LogSite;
import io.turbidite.hashlog.log.RecordHeader;
import io.turbidite.hashlog.log.SoundRecords;
import io.turbidite.hashlog.log.SoundRecords.Loss;
import io.turbidite.hashlog.recovery.Checkpoints;
import io.turbidite.hashlog.registry.HistoryRun;
import io.turbidite.hashlog.registry.RegisteredPsf;
import io.turbidite.hashlog.registry.RegistryFile;
import io.turbidite.hashlog.registry.RegistryState;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;

/**
 * Looks at all of a log that nobody has open, and changes nothing but the lock's file. <em>Used
 * once, by one thread.</em>
 *
 * <ol>
 *   <li>Files: the registry, both tail marks, every block of every page, index checkpoints, runs of
 *       history.
 *   <li>Index against records, if all pages are sound: it opens the log for reading, evaluates the
 *       PSFs of each record anew, and compares them with the record's key pointers; each of these
 *       must be found along its chain.
 * </ol>
 */
public final class LogCheck {
    /** Errors that are kept; the rest is counted. */
    private static final int ERROR_COUNT_MAX = 1_000;

    private static final long TABLE_BYTES_MAX = 1L << 40;

    private final LogSite site;
    private final Disk disk;
    private final BooleanSupplier stopped;
    private final List<String> errors = new ArrayList<>();
    private long errorCount;

    private LogCheck(LogSite site, Disk disk, BooleanSupplier stopped) {
        this.site = site;
        this.disk = disk;
        this.stopped = stopped;
    }

    /**
     * What a check found. <em>Immutable.</em>
     *
     * @param records that are there, deleted ones included
     * @param bytes of these records
     * @param keyPointers of these records; each was compared with its record
     * @param chains whose way was followed; -1 if the index was not looked at, because pages are
     *     damaged or the check was stopped
     * @param errors what is wrong and where; the first 1,000
     * @param errorCount of all
     * @param finished whether it ran to the end
     */
    public record Result(
            long records,
            long bytes,
            long keyPointers,
            long chains,
            List<String> errors,
            long errorCount,
            boolean finished) {
        public Result {
            errors = List.copyOf(errors);
        }

        /** Whether nothing is wrong. */
        public boolean isSound() {
            return errorCount == 0;
        }
    }

    /**
     * Checks the log in the site's directory.
     *
     * @param options to open it with
     * @param stopped ends the check early
     * @throws InvalidRequestException if there is no log, or one in memory
     * @throws StoreInUseException if it is open
     */
    public static Result run(LogSite site, HashLogOptions options, BooleanSupplier stopped) {
        Disk disk = site.disk();
        if (disk == null) {
            throw new InvalidRequestException("a log in memory has no files to check");
        }
        if (!LogDirectory.hasLogFiles(disk, site.directory())) {
            throw LogDirectory.noLog(site);
        }
        return new LogCheck(site, disk, stopped).run(options);
    }

    private Result run(HashLogOptions options) {
        Counts counts = new Counts();
        boolean finished;
        boolean isOpenable;
        try (Disk.Lock _ = disk.tryLock(site.directory() + "/LOCK").orRefuse(site.where())) {
            RegistryState registry = registry();
            finished = registry == null || pages(registry, counts);
            isOpenable = registry != null && finished && errorCount == 0;
            if (registry != null) {
                checkpoints(registry);
                runs(registry);
            }
        }
        long chains = -1;
        if (isOpenable) {
            try (HashLog log = HashLog.openForReading(site, options)) {
                ChainCheck check = new ChainCheck(log, this::error, stopped);
                finished = check.run();
                counts.keyPointers = check.keyPointerCount();
                chains = finished ? check.chainCount() : -1;
            } catch (StorageException e) {
                error(message(e));
            }
        }
        return new Result(
                counts.records,
                counts.bytes,
                counts.keyPointers,
                chains,
                errors,
                errorCount,
                finished);
    }

    private static final class Counts {
        long records;
        long bytes;
        long keyPointers;
    }

    private void error(String what) {
        errorCount++;
        if (errors.size() < ERROR_COUNT_MAX) {
            errors.add(what);
        }
    }

    private static String message(StorageException e) {
        return Objects.requireNonNullElse(e.getMessage(), e.toString());
    }

    private @Nullable RegistryState registry() {
        try {
            return RegistryFile.read(disk, site.directory()).state();
        } catch (StorageException e) {
            if (e instanceof StorageIoException io) {
                SoundRecords.requireOfFile(io);
            }
            error(message(e));
            return null;
        }
    }

    private boolean pages(RegistryState registry, Counts counts) {
        SoundRecords pages =
                new SoundRecords(disk, site.directory(), registry.logId(), registry.shape());
        if (pages.marksLost() > 0) {
            error("%s/TAIL: %d of its two tail marks can't be read"
                    .formatted(site.directory(), pages.marksLost()));
        }
        boolean finished = pages.visit(
                new SoundRecords.Visitor() {
                    @Override
                    public void record(
                            long address, long header, MemorySegment segment, long offset) {
                        if (RecordHeader.kind(header) == RecordHeader.RECORD) {
                            counts.records++;
                            counts.bytes += RecordHeader.payloadBytes(header);
                        }
                    }

                    @Override
                    public void lost(Loss loss) {
                        error(loss.toString());
                    }
                },
                stopped);
        pages.unreadFiles()
                .forEach(name -> error("%s: the disk gave an error for it".formatted(name)));
        return finished;
    }

    private void checkpoints(RegistryState registry) {
        Checkpoints checkpoints = new Checkpoints(disk, site.directory(), registry.logId());
        // its table is the check's, not the log's: it need not fit into the log's budget
        MemoryBudget.Account account =
                MemoryBudget.of(TABLE_BYTES_MAX).account("check of checkpoints");
        Epochs epochs = Epochs.create(1, site.clock());
        for (long number : checkpoints.numbers()) {
            try {
                checkpoints.check(number, epochs, account);
            } catch (StorageException e) {
                error(message(e));
            }
        }
    }

    private void runs(RegistryState registry) {
        Runs runs = new Runs(disk, site.directory(), registry.logId());
        for (RegisteredPsf psf : registry.psfs()) {
            for (HistoryRun run : psf.runs()) {
                try {
                    runs.check(psf.id(), run);
                } catch (StorageException e) {
                    error(message(e));
                }
            }
        }
    }
}
