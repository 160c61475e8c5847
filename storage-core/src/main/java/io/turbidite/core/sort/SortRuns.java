package io.turbidite.core.sort;

import io.turbidite.core.StorageIoException;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * What a sort has on disk: writes runs, merges them down to what can be read at once, deletes them
 * at the end.
 *
 * <p>If the runs are more than there are buffers for, some are first merged into one, the earliest
 * first and the fewest that suffice, so that most entries are written once.
 *
 * <p>A call that fails loses no run: it may be made again. <em>Confined to one thread at a
 * time.</em> Owns the files and whoever reads them.
 */
public final class SortRuns implements AutoCloseable {
    /** More files open at once would not make merges cheaper. */
    private static final int FAN_IN_MAX = 128;

    private final RunStorage storage;
    private final UnaryOperator<SortedInput> filter;
    private int fanInMax;
    private final Deque<Run> runs = new ArrayDeque<>();
    private final List<RunReader> readers = new ArrayList<>();

    /** Files that could not be deleted. */
    private final List<String> leftovers = new ArrayList<>();

    private @Nullable StorageIoException failure;

    private long runCount;
    private long writtenBytes;

    /**
     * @param memoryBytes what reading the runs may take; two blocks at least are taken
     * @param filter what entries go through when runs are merged into one
     */
    public SortRuns(RunStorage storage, long memoryBytes, UnaryOperator<SortedInput> filter) {
        this.storage = storage;
        this.filter = filter;
        readWithin(memoryBytes);
    }

    /** Changes what reading the runs may take; two blocks at least are taken. */
    public void readWithin(long memoryBytes) {
        fanInMax = Math.clamp(memoryBytes / storage.blockBytes(), 2, FAN_IN_MAX);
    }

    /** What reading all runs at once would take, or as many as are read at once at most. */
    public long readBytesMax() {
        return (long) Math.min(runs.size(), FAN_IN_MAX) * storage.blockBytes();
    }

    public boolean isEmpty() {
        return runs.isEmpty();
    }

    /** Runs written, those of intermediate merges too. */
    public long runCount() {
        return runCount;
    }

    /** Bytes of these runs. */
    public long writtenBytes() {
        return writtenBytes;
    }

    /**
     * Writes what is left of {@code input} as a run, at most {@code countMax} entries; the caller
     * closes it.
     */
    public void add(SortedInput input, long countMax) {
        String name = null;
        boolean complete = false;
        try {
            Run run;
            try (RunWriter writer = RunWriter.create(storage)) {
                name = writer.name();
                run = writer.write(input, countMax);
            }
            runs.addLast(run);
            complete = true;
            runCount++;
            writtenBytes += run.bytes();
            storage.written(run.bytes());
        } finally {
            if (!complete && name != null) {
                delete(name);
            }
        }
    }

    /**
     * Inputs over all runs, few enough to be read at once; they end with the next call, or with
     * this object.
     */
    public List<SortedInput> inputs() {
        while (runs.size() > fanInMax) {
            mergeSome(Math.min(fanInMax, runs.size() - fanInMax + 1));
        }
        return inputsOf(runs.size());
    }

    /** Merges the first runs into one, which goes last: so runs of about the same size meet. */
    private void mergeSome(int count) {
        add(filter.apply(SortedMerge.of(inputsOf(count))), Long.MAX_VALUE);
        closeReaders();
        for (int i = 0; i < count; i++) {
            delete(runs.removeFirst().name());
        }
    }

    private List<SortedInput> inputsOf(int count) {
        closeReaders();
        runs.stream().limit(count).forEach(run -> readers.add(RunReader.open(storage, run)));
        return List.copyOf(readers);
    }

    private void closeReaders() {
        List<RunReader> some = List.copyOf(readers);
        readers.clear();
        SortedMerge.closeAll(some);
    }

    /** Notes what can't be deleted, to try again at the end. */
    private void delete(String name) {
        try {
            storage.disk().delete(name);
        } catch (StorageIoException e) {
            leftovers.add(name);
            failure = e;
        }
    }

    /**
     * Deletes all runs. What can't be deleted is left to whoever owns the directory.
     *
     * @throws StorageIoException why a file could not be deleted; all others are
     */
    @Override
    public void close() {
        List<String> names = new ArrayList<>(leftovers);
        runs.forEach(run -> names.add(run.name()));
        runs.clear();
        leftovers.clear();
        failure = null;
        try {
            closeReaders();
        } finally {
            names.forEach(this::delete);
        }
        if (failure != null) {
            throw failure;
        }
    }
}
