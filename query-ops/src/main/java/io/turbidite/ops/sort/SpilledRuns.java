package io.turbidite.ops.sort;

import io.turbidite.core.Cleanup;
import io.turbidite.core.file.Disk;
import io.turbidite.core.memory.QueryMemory;
import io.turbidite.core.sort.RunStorage;
import io.turbidite.core.sort.SortBuffer;
import io.turbidite.core.sort.SortRuns;
import io.turbidite.core.sort.SortedInput;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.run.OperatorMemory;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.run.RunOptions.Spill;
import io.turbidite.ops.run.StopLooks;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What one operator spilled. <em>Confined to one thread at a time.</em> Owns the files and their
 * buffers.
 *
 * <p>It keeps the query's share of its store's memory from the first run on: whoever gives its
 * buffers back before it reads the runs might not get the share again.
 *
 * <p>As many runs are read at once as the query's share of its store's memory has room for: each
 * takes 64 KiB, and as much as its longest row where that is longer. Two are read in any case.
 *
 * <p>While entries are written or merged, the query's stop is looked at each thousand of them.
 */
public final class SpilledRuns implements AutoCloseable {
    /** Names are unique in this process; those of another are passed over. */
    private static final AtomicLong NEXT_NUMBER = new AtomicLong();

    /** Bounded by how many runs are read at once. */
    private final OperatorMemory buffers;

    private final LargePieces large;
    private final QueryMemory.@Nullable Share share;
    private final long memoryBytes;
    private final StopLooks looks;
    private final SortRuns runs;
    private boolean entered;
    private long drawnBytes;

    /** As {@link #SpilledRuns(RunOptions, long, OperatorMeter)}, told to nobody. */
    public SpilledRuns(RunOptions options, long memoryBytes) {
        this(options, memoryBytes, new OperatorMeter());
    }

    /**
     * @param options have a place for it
     * @param memoryBytes what reading the runs may take
     * @param meter of the operator, told what is written and held
     */
    public SpilledRuns(RunOptions options, long memoryBytes, OperatorMeter meter) {
        Spill spill = Objects.requireNonNull(options.spill(), "nowhere to spill to");
        this.share = options.share();
        this.memoryBytes = memoryBytes;
        this.buffers = OperatorMemory.of(RunOptions.defaults(), Long.MAX_VALUE, meter);
        this.large = new LargePieces(meter);
        spill.disk().createDirectories(spill.directory());
        this.looks = new StopLooks(options::checkNotStopped);
        runs = new SortRuns(
                new SpillStorage(spill, buffers, large, meter),
                memoryBytes,
                entries -> new WatchedInput(entries, looks));
        if (share != null) {
            share.enter();
            entered = true;
        }
    }

    /** Writes the first entries of {@code buffer} as a run, and empties it. */
    public void add(SortBuffer buffer, long countMax) {
        try (SortedInput entries = new WatchedInput(buffer.sorted(), looks)) {
            runs.add(entries, countMax);
        }
        buffer.clear();
    }

    /** Inputs over all runs, few enough to be read at once; they end with this object. */
    public List<SortedInput> inputs() {
        if (share != null) {
            share.giveBack(drawnBytes);
            drawnBytes = share.drawUpTo(Math.min(memoryBytes, runs.readBytesMax()));
            runs.readWithin(drawnBytes);
        }
        return runs.inputs();
    }

    private void giveBack() {
        if (share != null && entered) {
            entered = false;
            share.giveBack(drawnBytes);
            share.leave();
        }
    }

    /** Deletes all runs. */
    @Override
    public void close() {
        new Cleanup()
                .add(runs::close)
                .add(buffers::close)
                .add(large::close)
                .add(this::giveBack)
                .run();
    }

    /**
     * In the directory of a query. Immutable.
     *
     * @param buffers of blocks; has no bound of its own: how many there are at a time depends on
     *     the runs
     * @param large for rows that are longer than a block
     */
    private record SpillStorage(
            Spill spill, OperatorMemory buffers, LargePieces large, OperatorMeter meter)
            implements RunStorage {
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
            if (bytesMin > BLOCK_BYTES) {
                return large.take(bytesMin);
            }
            MemorySegment buffer = buffers.take(bytesMin);
            if (buffer == null) {
                throw new IllegalStateException("no buffer of " + bytesMin + " bytes");
            }
            return buffer;
        }

        @Override
        public void giveBuffer(MemorySegment buffer) {
            if (buffer.byteSize() == BLOCK_BYTES || !large.give(buffer)) {
                buffers.give(buffer);
            }
        }

        @Override
        public void written(long bytes) {
            meter.work().spilled(bytes);
        }
    }
}
