package io.turbidite.ops.run;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.memory.QueryMemory;
import io.turbidite.core.scan.QueryMeans;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.time.Clock;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.CancellationException;
import java.util.function.BooleanSupplier;

/**
 * What a query may use. <em>Immutable.</em>
 *
 * @param memoryBytesMax most bytes that sorting and grouping hold before they spill, or fail where
 *     there is nowhere to spill to, at least 32 KiB. Raise it for large sorts, groups and joins;
 *     lower it when many queries run at a time
 * @param keyBatchBytes encoded primary keys that are sorted and fetched together, at least 4 KiB.
 *     Raise it when an index finds very many records and the device is slow
 * @param spill where sorting and grouping put what does not fit; null: nowhere. Set it for queries
 *     whose memory is not known; queries of datasets set it by themselves
 * @param tasks runs partitions side by side where a query reads all before it answers; null: one
 *     after another on the caller's thread. Leave it: queries of datasets set it
 * @param sideBySideRows rows or entries that a query must be expected to read before its partitions
 *     are read side by side, at least 0; 0: however few. Raise it to keep a process with other work
 *     from having workers, {@link Long#MAX_VALUE} for none
 * @param lookupWorkers workers that fetch records by a secondary index beside the reader, where
 *     {@code tasks} are given and the query has no other work side by side, 0 to 64; 0: none. Raise
 *     it when records come from a device that serves many reads at a time
 * @param share what the query holds of the memory that the queries of its store have together;
 *     null: of nobody's. Leave it: each run of a query of a dataset has one of its own
 * @param stop asked before each frame and each thousand records, by any thread: once it says true,
 *     the query ends with a {@link CancellationException}. Set it when callers may give up
 * @param clock by which each operator's processor time is taken, for {@code explain}; null: it is
 *     not. Set it to see where the time of a query goes, which costs it some hundredths
 */
public record RunOptions(
        long memoryBytesMax,
        int keyBatchBytes,
        @Nullable Spill spill,
        @Nullable Tasks tasks,
        long sideBySideRows,
        int lookupWorkers,
        QueryMemory.@Nullable Share share,
        BooleanSupplier stop,
        @Nullable Clock clock) {
    /** Less would be all overhead; a query over long records needs more, and says so. */
    public static final long MEMORY_BYTES_MIN = 32 << 10;

    /** With the reader four threads, as PERS24 §5.3 has it: most of them wait for the disk. */
    private static final int LOOKUP_WORKERS = 3;

    private static final int LOOKUP_WORKERS_MAX = 64;

    /** A millisecond of reading, beside some tens of microseconds of starting a worker. */
    private static final long SIDE_BY_SIDE_ROWS = 16_384;

    private static final RunOptions DEFAULTS = new RunOptions(
            64L << 20,
            4 << 20,
            null,
            null,
            SIDE_BY_SIDE_ROWS,
            LOOKUP_WORKERS,
            null,
            () -> false,
            null);

    /**
     * A directory for temporary files.
     *
     * @param directory created when first used; files in it are deleted when the query is closed
     */
    public record Spill(Disk disk, String directory) {}

    public RunOptions {
        if (memoryBytesMax < MEMORY_BYTES_MIN) {
            throw new InvalidRequestException("memoryBytesMax %d is below the least of %d"
                    .formatted(memoryBytesMax, MEMORY_BYTES_MIN));
        }
        // LUO19 §3.2 batches in megabytes; a batch must hold at least one longest key
        if (keyBatchBytes < 4 << 10) {
            throw new InvalidRequestException(
                    "keyBatchBytes %d is below the least of 4096".formatted(keyBatchBytes));
        }
        if (sideBySideRows < 0) {
            throw new InvalidRequestException(
                    "sideBySideRows %d is below 0".formatted(sideBySideRows));
        }
        if (lookupWorkers < 0 || lookupWorkers > LOOKUP_WORKERS_MAX) {
            throw new InvalidRequestException("lookupWorkers %d must be 0 to %d"
                    .formatted(lookupWorkers, LOOKUP_WORKERS_MAX));
        }
    }

    /**
     * Looks whether the query was stopped.
     *
     * @throws CancellationException if it was
     */
    public void checkNotStopped() {
        if (stop.getAsBoolean()) {
            throw new CancellationException("the query was stopped");
        }
    }

    /** 64 MiB, batches of 4 MiB; a place to spill to and workers are those of the dataset. */
    public static RunOptions defaults() {
        return DEFAULTS;
    }

    /** Begins with the {@link #defaults defaults}. */
    public static Builder builder() {
        return defaults().toBuilder();
    }

    /** Begins with these options. */
    public Builder toBuilder() {
        return new Builder(this);
    }

    /** The same with another {@link #memoryBytesMax}. */
    public RunOptions withMemoryBytesMax(long bytes) {
        return toBuilder().memoryBytesMax(bytes).build();
    }

    /** The same with another {@link #keyBatchBytes}. */
    public RunOptions withKeyBatchBytes(int bytes) {
        return toBuilder().keyBatchBytes(bytes).build();
    }

    /** The same with another {@link #spill}: a directory of that disk. */
    public RunOptions withSpill(Disk disk, String directory) {
        return toBuilder().spill(new Spill(disk, directory)).build();
    }

    /** The same with another {@link #tasks}. */
    public RunOptions withTasks(Tasks newTasks) {
        return toBuilder().tasks(newTasks).build();
    }

    /** The same with another {@link #sideBySideRows}. */
    public RunOptions withSideBySideRows(long count) {
        return toBuilder().sideBySideRows(count).build();
    }

    /** The same with another {@link #lookupWorkers}. */
    public RunOptions withLookupWorkers(int count) {
        return toBuilder().lookupWorkers(count).build();
    }

    /**
     * The same for one run by the calling thread, with what the source of its records has for its
     * queries: memory, and a place to spill to and workers for partitions unless these options have
     * them.
     *
     * @param means null: the source has nothing, and the options stay as they are
     */
    public RunOptions of(@Nullable QueryMeans means) {
        if (means == null || share != null) {
            return this;
        }
        return new RunOptions(
                memoryBytesMax,
                keyBatchBytes,
                spill == null ? new Spill(means.disk(), means.spillDirectory()) : spill,
                tasks == null ? means.tasks() : tasks,
                sideBySideRows,
                // they take more CPU where pages are in the cache: who gives tasks wants them
                tasks == null ? 0 : lookupWorkers,
                means.memory().share(memoryBytesMax, stop),
                stop,
                clock);
    }

    /** For a message that says that there is no memory: what to do where others hold it. */
    public String others() {
        return share == null ? "" : ", or close results: queries hold " + share.held();
    }

    /** The same for a part of what {@code whole} is for. */
    public RunOptions within(RunOptions whole) {
        return share != null || whole.share == null
                ? this
                : new RunOptions(
                        memoryBytesMax,
                        keyBatchBytes,
                        spill == null ? whole.spill : spill,
                        tasks == null ? whole.tasks : tasks,
                        sideBySideRows,
                        tasks == null ? whole.lookupWorkers : lookupWorkers,
                        whole.share,
                        stop,
                        clock == null ? whole.clock : clock);
    }

    /** The same with another {@link #clock}. */
    public RunOptions withClock(Clock newClock) {
        return toBuilder().clock(newClock).build();
    }

    /** The same with another {@link #stop}. */
    public RunOptions withStop(BooleanSupplier newStop) {
        return toBuilder().stop(newStop).build();
    }

    /**
     * Options under change; they are checked together when they are built. <em>Confined to one
     * thread.</em>
     */
    public static final class Builder {
        private long memoryBytesMax;
        private int keyBatchBytes;
        private @Nullable Spill spill;
        private @Nullable Tasks tasks;
        private long sideBySideRows;
        private int lookupWorkers;
        private QueryMemory.@Nullable Share share;
        private BooleanSupplier stop;
        private @Nullable Clock clock;

        private Builder(RunOptions from) {
            this.memoryBytesMax = from.memoryBytesMax;
            this.keyBatchBytes = from.keyBatchBytes;
            this.spill = from.spill;
            this.tasks = from.tasks;
            this.sideBySideRows = from.sideBySideRows;
            this.lookupWorkers = from.lookupWorkers;
            this.share = from.share;
            this.stop = from.stop;
            this.clock = from.clock;
        }

        /** Sets the option {@link RunOptions#memoryBytesMax}. */
        public Builder memoryBytesMax(long value) {
            memoryBytesMax = value;
            return this;
        }

        /** Sets the option {@link RunOptions#keyBatchBytes}. */
        public Builder keyBatchBytes(int value) {
            keyBatchBytes = value;
            return this;
        }

        /** Sets the option {@link RunOptions#spill}. */
        public Builder spill(@Nullable Spill value) {
            spill = value;
            return this;
        }

        /** Sets the option {@link RunOptions#tasks}. */
        public Builder tasks(@Nullable Tasks value) {
            tasks = value;
            return this;
        }

        /** Sets the option {@link RunOptions#sideBySideRows}. */
        public Builder sideBySideRows(long value) {
            sideBySideRows = value;
            return this;
        }

        /** Sets the option {@link RunOptions#lookupWorkers}. */
        public Builder lookupWorkers(int value) {
            lookupWorkers = value;
            return this;
        }

        /** Sets the option {@link RunOptions#stop}. */
        public Builder stop(BooleanSupplier value) {
            stop = value;
            return this;
        }

        /** Sets the option {@link RunOptions#clock}. */
        public Builder clock(@Nullable Clock value) {
            clock = value;
            return this;
        }

        /**
         * Checks the options together.
         *
         * @throws InvalidRequestException if one is out of its range, naming it
         */
        public RunOptions build() {
            return new RunOptions(
                    memoryBytesMax,
                    keyBatchBytes,
                    spill,
                    tasks,
                    sideBySideRows,
                    lookupWorkers,
                    share,
                    stop,
                    clock);
        }
    }
}
