package io.turbidite.core.sort;

import io.turbidite.core.StorageIoException;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
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
    private long readBytesMax;
    private final Deque<Run> runs = new ArrayDeque<>();
    private final List<RunReader> readers = new ArrayList<>();

    /** Files that could not be deleted. */
    private final List<String> leftovers = new ArrayList<>();

    private @Nullable StorageIoException failure;

    private long runCount;
    private long writtenBytes;

    /**
     * @param memoryBytes what reading the runs may take; two runs are read at once in any case
     * @param filter what entries go through when runs are merged into one
     */
    public SortRuns(RunStorage storage, long memoryBytes, UnaryOperator<SortedInput> filter) {
        this.storage = storage;
        this.filter = filter;
        readWithin(memoryBytes);
    }

    /** Changes what reading the runs may take; two are read at once in any case. */
    public void readWithin(long memoryBytes) {
        readBytesMax = memoryBytes;
    }

    /** What reading all runs at once would take, or as many as are read at once at most. */
    public long readBytesMax() {
        return runs.stream()
                .map(this::readBytes)
                .sorted(Comparator.reverseOrder())
                .limit(FAN_IN_MAX)
                .mapToLong(Long::longValue)
                .sum();
    }

    /** What reading a run takes: a block, and another one for its large entries. */
    private long readBytes(Run run) {
        return storage.blockBytes() + largeBytes(run);
    }

    private long largeBytes(Run run) {
        return run.blockBytesMax() > storage.blockBytes() ? run.blockBytesMax() : 0;
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
        int count = countToMerge();
        while (count > 0) {
            mergeSome(count);
            count = countToMerge();
        }
        return inputsOf(runs.size());
    }

    /** How many runs to merge into one: the fewest that suffice, or as many as can be; 0: none. */
    private int countToMerge() {
        long left = runs.stream().mapToLong(this::readBytes).sum();
        if (runs.size() <= 2 || (runs.size() <= FAN_IN_MAX && left <= readBytesMax)) {
            return 0;
        }
        int count = 0;
        long merged = 0;
        long large = 0;
        for (Run run : runs) {
            long readBytes = readBytes(run);
            large = Math.max(large, largeBytes(run));
            // the run that is written has large entries too
            boolean isTooMuch = count == FAN_IN_MAX || merged + readBytes + large > readBytesMax;
            if (count >= 2 && isTooMuch) {
                break;
            }
            count++;
            merged += readBytes;
            left -= readBytes;
            boolean suffices = runs.size() - count + 1 <= FAN_IN_MAX
                    && left + storage.blockBytes() + large <= readBytesMax;
            if (count >= 2 && suffices) {
                break;
            }
        }
        return count;
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
