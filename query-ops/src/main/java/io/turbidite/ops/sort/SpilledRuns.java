package io.turbidite.ops.sort;

import io.turbidite.core.Cleanup;
import io.turbidite.core.file.Disk;
import io.turbidite.core.sort.RunStorage;
import io.turbidite.core.sort.SortBuffer;
import io.turbidite.core.sort.SortRuns;
import io.turbidite.core.sort.SortedInput;
import io.turbidite.ops.run.OperatorMemory;
import io.turbidite.ops.run.RunOptions.Spill;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;

/**
 * What one operator spilled. <em>Confined to one thread at a time.</em> Owns the files and their
 * buffers.
 */
public final class SpilledRuns implements AutoCloseable {
    /** Names are unique in this process; those of another are passed over. */
    private static final AtomicLong NEXT_NUMBER = new AtomicLong();

    private final OperatorMemory buffers = OperatorMemory.of(Long.MAX_VALUE);
    private final SortRuns runs;

    /**
     * @param memoryBytes what reading the runs may take
     */
    public SpilledRuns(Spill spill, long memoryBytes) {
        spill.disk().createDirectories(spill.directory());
        runs = new SortRuns(
                new SpillStorage(spill, buffers), memoryBytes, UnaryOperator.identity());
    }

    /** Writes the first entries of {@code buffer} as a run, and empties it. */
    public void add(SortBuffer buffer, long countMax) {
        try (SortedInput entries = buffer.sorted()) {
            runs.add(entries, countMax);
        }
        buffer.clear();
    }

    /** Inputs over all runs, few enough to be read at once; they end with this object. */
    public List<SortedInput> inputs() {
        return runs.inputs();
    }

    /** Deletes all runs. */
    @Override
    public void close() {
        new Cleanup().add(runs::close).add(buffers::close).run();
    }

    /**
     * In the directory of a query. Immutable.
     *
     * @param buffers has no bound of its own: how many there are at a time depends on the runs
     */
    private record SpillStorage(Spill spill, OperatorMemory buffers) implements RunStorage {
        /** Each run of a merge has one in memory, so it is smaller than the disk would like it. */
        private static final int BLOCK_BYTES = 64 << 10;

        @Override
        public Disk disk() {
            return spill.disk();
        }

        /** A query has no name that another one would not have. */
        @Override
        public long ownerId() {
            return 0;
        }

        @Override
        public long newNumber() {
            return NEXT_NUMBER.incrementAndGet();
        }

        @Override
        public String nameOf(long number) {
            return "%s/run-%s.tmp".formatted(spill.directory(), number);
        }

        @Override
        public int blockBytes() {
            return BLOCK_BYTES;
        }

        @Override
        public MemorySegment takeBuffer(long bytesMin) {
            MemorySegment buffer = buffers.take(bytesMin);
            if (buffer == null) {
                throw new IllegalStateException("no buffer of " + bytesMin + " bytes");
            }
            return buffer;
        }

        @Override
        public void giveBuffer(MemorySegment buffer) {
            buffers.give(buffer);
        }

        @Override
        public void written(long bytes) {}
    }
}
