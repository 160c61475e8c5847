package io.turbidite.ops.sort;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.ops.run.Cleanup;
import io.turbidite.ops.run.RunOptions.Spill;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The runs of one operator: makes their files, merges them down to what can be read at once, deletes
 * them at the end. <em>Confined to one thread at a time.</em>
 */
public final class RunStore implements AutoCloseable {
    /** Most runs read at once: 128 blocks of 64 KiB are 8 MiB. */
    private static final int FAN_IN_MAX = 128;

    /** Names are unique in this process; {@link #create} passes over those of another. */
    private static final AtomicLong NEXT_NUMBER = new AtomicLong();

    private final Spill spill;
    private final int fanIn;
    private final List<Run> runs = new ArrayList<>();

    /**
     * @param memoryBytes what reading the runs may take
     */
    public RunStore(Spill spill, long memoryBytes) {
        this.spill = spill;
        this.fanIn = Math.clamp(memoryBytes / RunFormat.BLOCK_BYTES, 2, FAN_IN_MAX);
    }

    int runCount() {
        return runs.size();
    }

    /** Writes the rest of {@code input} as a run; the caller closes the input. */
    public void add(SortedInput input) {
        Run run = create();
        runs.add(run);
        while (input.next()) {
            run.file.add(input.key(), input.payload());
        }
        run.file.rewind();
    }

    /** Inputs over all runs, few enough to be read at once; closing them deletes nothing. */
    public List<SortedInput> inputs() {
        while (runs.size() > fanIn) {
            List<Run> merged = new ArrayList<>(runs.subList(0, fanIn));
            runs.subList(0, fanIn).clear();
            try {
                add(SortedMerge.of(inputsOf(merged)));
            } finally {
                new Cleanup().addAll(merged, this::delete).run();
            }
        }
        return inputsOf(runs);
    }

    /** Deletes all runs. */
    @Override
    public void close() {
        List<Run> all = List.copyOf(runs);
        runs.clear();
        new Cleanup().addAll(all, this::delete).run();
    }

    private static List<SortedInput> inputsOf(List<Run> some) {
        return some.stream().map(run -> (SortedInput) run.file).toList();
    }

    private Run create() {
        Disk disk = spill.disk();
        disk.createDirectories(spill.directory());
        while (true) {
            String name =
                    "%s/run-%d.tmp".formatted(spill.directory(), NEXT_NUMBER.incrementAndGet());
            try {
                DiskFile file = disk.create(name);
                return new Run(name, new RunFile(file));
            } catch (StorageIoException e) {
                if (e.kind() != StorageIoException.Kind.ALREADY_EXISTS) {
                    throw e;
                }
                // another process's, or one that a killed process left: take the next number
            }
        }
    }

    private void delete(Run run) {
        new Cleanup()
                .add(run.file::close)
                .add(() -> spill.disk().delete(run.name))
                .run();
    }

    /** A run and its file's name. */
    private record Run(String name, RunFile file) {}
}
