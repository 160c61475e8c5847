package io.turbidite.hashlog.history;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.FormatVersionException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.Undo;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.WholeFile;
import io.turbidite.hashlog.registry.HistoryRun;
import io.turbidite.hashlog.registry.RegisteredPsf;
import io.turbidite.hashlog.registry.RegistryState;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The run files of a log. <em>Thread-safe:</em> it keeps nothing but where they lie.
 *
 * <p>A file is whole and durable before the registry names it; one that the registry does not name
 * is left over from a power cut, and goes when the log is opened.
 */
public final class Runs {
    private static final String SUFFIX = ".run";

    private final Disk disk;
    private final String directory;
    private final long logId;

    public Runs(Disk disk, String directory, long logId) {
        this.disk = disk;
        this.directory = directory;
        this.logId = logId;
    }

    private String nameOf(long number) {
        return "%s/%08x%s".formatted(directory, number, SUFFIX);
    }

    private List<Long> numbers() {
        List<Long> numbers = new ArrayList<>();
        for (String name : disk.list(directory)) {
            if (name.matches("[0-9a-f]{8}\\" + SUFFIX)) {
                numbers.add(Long.parseLong(name.substring(0, 8), 16));
            }
        }
        return numbers;
    }

    /**
     * Writes a run; durable when it returns. One at a time.
     *
     * @param from the range that it covers, inclusive
     * @param to exclusive
     */
    public HistoryRun write(int psfId, long from, long to, RunEntries entries) {
        List<Long> there = numbers();
        long number = there.isEmpty() ? 1 : there.getLast() + 1;
        HistoryRun run = new HistoryRun(number, from, to);
        WholeFile whole = WholeFile.of(disk, nameOf(number));
        // on a full disk the draft would keep the space that is wanted
        try (Undo undo = Undo.of(whole::abandon)) {
            try (DiskFile file = whole.create()) {
                RunFile.write(file, logId, run, psfId, entries);
            }
            undo.keep();
        }
        whole.place();
        return run;
    }

    /**
     * The addresses of a hash within a range, newest first; whoever asks closes the cursor.
     *
     * @throws CorruptionException if the run is damaged
     */
    public RunCursor cursor(int psfId, HistoryRun run, long hash, long from, long to) {
        RunFile file = RunFile.of(disk.openReadOnly(nameOf(run.number())), logId, run, psfId);
        try (Undo undo = Undo.of(file::close)) {
            return undo.keep(new RunCursor(file, hash, from, to));
        }
    }

    /**
     * Reads all of a run.
     *
     * @throws CorruptionException if it is damaged, or another run's, or its entries are out of
     *     order or of its range
     */
    public void check(int psfId, HistoryRun run) {
        try (RunFile file =
                RunFile.of(disk.openReadOnly(nameOf(run.number())), logId, run, psfId)) {
            file.checkEntries(run);
        }
    }

    /** The runs that have nothing at {@code begin} or above it. */
    public static List<HistoryRun> below(RegistryState registry, long begin) {
        List<HistoryRun> below = new ArrayList<>();
        for (RegisteredPsf psf : registry.psfs()) {
            for (HistoryRun run : psf.runs()) {
                if (run.to() <= begin) {
                    below.add(run);
                }
            }
        }
        return below;
    }

    /** The registry without these runs. */
    public static RegistryState without(RegistryState registry, List<HistoryRun> runs) {
        RegistryState kept = registry;
        for (RegisteredPsf psf : registry.psfs()) {
            for (HistoryRun run : runs) {
                if (psf.runs().contains(run)) {
                    kept = kept.changed(psf.id(), p -> p.withoutRun(run));
                }
            }
        }
        return kept;
    }

    /** Deletes the files of runs that the registry, which is durable, names no longer. */
    public void delete(List<HistoryRun> runs) {
        for (HistoryRun run : runs) {
            if (disk.exists(nameOf(run.number()))) {
                disk.delete(nameOf(run.number()));
            }
        }
    }

    /**
     * The registry without runs that lie below {@code begin}, or can't be opened: the log says the
     * same.
     */
    public RegistryState withoutUnusable(RegistryState registry, long begin) {
        RegistryState kept = registry;
        for (RegisteredPsf psf : registry.psfs()) {
            for (HistoryRun run : psf.runs()) {
                if (run.to() <= begin || !isSound(psf.id(), run)) {
                    kept = kept.changed(psf.id(), p -> p.withoutRun(run));
                }
            }
        }
        return kept;
    }

    private boolean isSound(int psfId, HistoryRun run) {
        try (RunFile file =
                RunFile.of(disk.openReadOnly(nameOf(run.number())), logId, run, psfId)) {
            return file.entryCount() >= 0;
        } catch (CorruptionException | FormatVersionException | StorageIoException unusable) {
            return false;
        }
    }

    /** Deletes the files that the registry, which is durable, does not name. */
    public void deleteUnnamed(RegistryState registry) {
        Set<Long> named = new HashSet<>();
        registry.psfs().forEach(psf -> psf.runs().forEach(run -> named.add(run.number())));
        for (String name : disk.list(directory)) {
            if (name.matches("[0-9a-f]{8}\\.run\\.new")) {
                disk.delete(directory + "/" + name);
            }
        }
        for (long number : numbers()) {
            if (!named.contains(number)) {
                disk.delete(nameOf(number));
            }
        }
    }
}
