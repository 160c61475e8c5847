package io.turbidite.ops.intersect;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.sort.SortBuffer;
import io.turbidite.core.sort.SortedInput;
import io.turbidite.core.sort.SortedMerge;
import io.turbidite.ops.run.Cleanup;
import io.turbidite.ops.run.OperatorMemory;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.sort.SpilledRuns;

import org.jspecify.annotations.Nullable;

/**
 * Candidates that were collected, sorted by primary key and timestamp, in memory or in runs. Owns
 * both. <em>Confined to one thread.</em>
 */
final class SortedSide implements Side {
    private final SortBuffer buffer;
    private final @Nullable SpilledRuns runs;
    private final SortedInput entries;
    private final long count;
    private final Slice secondaryKey = new Slice();
    private final ByteSink gathered = new ByteSink(64, Integer.MAX_VALUE - 8);
    private final Slice gatheredKey = new Slice();
    private boolean isOnEntry;

    private SortedSide(
            SortBuffer buffer, @Nullable SpilledRuns runs, SortedInput entries, long count) {
        this.buffer = buffer;
        this.runs = runs;
        this.entries = entries;
        this.count = count;
        this.isOnEntry = entries.next();
    }

    /** Candidates of one index on their way. <em>Confined to one thread.</em> */
    static final class Collector implements AutoCloseable {
        private final RunOptions options;
        private final long memoryBytes;
        private final SortBuffer buffer;
        private final ByteSink payload = new ByteSink(64, Integer.MAX_VALUE - 8);
        private final Slice payloadSlice = new Slice();
        private @Nullable SpilledRuns runs;
        private long count;
        private boolean isGivenAway;

        Collector(RunOptions options, long memoryBytes) {
            this.options = options;
            this.memoryBytes = memoryBytes;
            this.buffer = new SortBuffer(OperatorMemory.of(memoryBytes));
        }

        /**
         * Adds a candidate; false if there is no memory for it, nor anywhere to put others.
         *
         * @param secondaryKey empty where nobody asks for it
         */
        boolean add(Slice primaryKey, long timestamp, long checkedUntil, Slice secondaryKey) {
            payload.clear().putLong(checkedUntil).putBytes(secondaryKey).asSlice(payloadSlice);
            boolean fits = buffer.add(primaryKey, timestamp, payloadSlice) != SortBuffer.FULL;
            if (!fits && buffer.count() > 0 && options.spill() != null) {
                SpilledRuns spilled = runs;
                if (spilled == null) {
                    spilled = new SpilledRuns(options.spill(), memoryBytes);
                    runs = spilled;
                }
                spilled.add(buffer, Long.MAX_VALUE);
                fits = buffer.add(primaryKey, timestamp, payloadSlice) != SortBuffer.FULL;
            }
            count += fits ? 1 : 0;
            return fits;
        }

        long count() {
            return count;
        }

        SortedSide sorted() {
            SpilledRuns spilled = runs;
            SortedInput entries;
            if (spilled == null) {
                entries = buffer.sorted();
            } else {
                spilled.add(buffer, Long.MAX_VALUE);
                entries = SortedMerge.of(spilled.inputs());
            }
            isGivenAway = true;
            return new SortedSide(buffer, spilled, entries, count);
        }

        /** Gives up what was collected, unless it was {@link #sorted}. */
        @Override
        public void close() {
            if (!isGivenAway) {
                release(buffer, runs);
            }
        }
    }

    private static void release(SortBuffer buffer, @Nullable SpilledRuns runs) {
        Cleanup cleanup = new Cleanup().add(buffer::close);
        if (runs != null) {
            cleanup.add(runs::close);
        }
        cleanup.run();
    }

    /** Candidates, of all keys. */
    long count() {
        return count;
    }

    @Override
    public boolean isOnEntry() {
        return isOnEntry;
    }

    @Override
    public Slice key() {
        return entries.key();
    }

    @Override
    public int advance(Slice key) {
        while (isOnEntry) {
            int order = entries.key().compareBytes(key);
            if (order >= 0) {
                return order;
            }
            isOnEntry = entries.next();
        }
        return -1;
    }

    @Override
    public void gather(EntriesOfKey into) {
        gathered.clear().putBytes(entries.key()).asSlice(gatheredKey);
        do {
            Slice payload = entries.payload();
            long checkedUntil = payload.segment().get(Bytes.I64, payload.offset());
            secondaryKey.set(
                    payload.segment(),
                    payload.offset() + Long.BYTES,
                    payload.length() - Long.BYTES);
            into.add(entries.number(), checkedUntil, secondaryKey);
            isOnEntry = entries.next();
        } while (isOnEntry && entries.key().contentEquals(gatheredKey));
    }

    @Override
    public void close() {
        release(buffer, runs);
    }
}
