package io.turbidite.ops.intersect;

import io.turbidite.core.Cleanup;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.sort.SortBuffer;
import io.turbidite.core.sort.SortedInput;
import io.turbidite.core.sort.SortedMerge;
import io.turbidite.ops.frame.OperatorMeter;
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
    private final Slice secondaryKey = new Slice();
    private final ByteSink gathered = new ByteSink(64, Integer.MAX_VALUE - 8);
    private final Slice gatheredKey = new Slice();
    private boolean isOnEntry;

    private SortedSide(SortBuffer buffer, @Nullable SpilledRuns runs, SortedInput entries) {
        this.buffer = buffer;
        this.runs = runs;
        this.entries = entries;
    }

    /** Candidates of one index on their way. <em>Confined to one thread.</em> */
    static final class Collector implements AutoCloseable {
        private final RunOptions options;
        private final OperatorMeter meter;
        private final long memoryBytes;
        private final SortBuffer buffer;

        /** Those that are not sorted yet; null once they were too many. */
        private @Nullable CandidateList list;

        private final ByteSink payload = new ByteSink(64, Integer.MAX_VALUE - 8);
        private final Slice payloadSlice = new Slice();
        private @Nullable SpilledRuns runs;
        private long count;
        private long sortedCount;
        private boolean isGivenAway;

        Collector(RunOptions options, long memoryBytes, OperatorMeter meter) {
            this.options = options;
            this.meter = meter;
            this.memoryBytes = memoryBytes / 2;
            this.list = new CandidateList(options, memoryBytes / 2, meter);
            this.buffer = new SortBuffer(OperatorMemory.of(options, memoryBytes / 2, meter));
        }

        /**
         * Adds a candidate; false if there is no memory for it, nor anywhere to put others.
         *
         * @param hash of the primary key
         * @param secondaryKey empty where nobody asks for it
         */
        boolean add(
                long hash,
                Slice primaryKey,
                long timestamp,
                long checkedUntil,
                Slice secondaryKey) {
            count++;
            CandidateList found = list;
            if (found != null) {
                if (found.add(hash, primaryKey, timestamp, checkedUntil, secondaryKey)) {
                    return true;
                }
                list = null;
                if (!found.moveTo(this, null)) {
                    return false;
                }
            }
            return addToSort(primaryKey, timestamp, checkedUntil, secondaryKey);
        }

        boolean addToSort(Slice primaryKey, long timestamp, long checkedUntil, Slice secondaryKey) {
            payload.clear().putLong(checkedUntil).putBytes(secondaryKey).asSlice(payloadSlice);
            boolean fits = buffer.add(primaryKey, timestamp, payloadSlice) != SortBuffer.FULL;
            if (!fits && buffer.count() > 0 && options.spill() != null) {
                SpilledRuns spilled = runs;
                if (spilled == null) {
                    spilled = new SpilledRuns(options, memoryBytes, meter);
                    runs = spilled;
                }
                spilled.add(buffer, Long.MAX_VALUE);
                fits = buffer.add(primaryKey, timestamp, payloadSlice) != SortBuffer.FULL;
            }
            sortedCount += fits ? 1 : 0;
            return fits;
        }

        /** Candidates found. */
        long count() {
            return count;
        }

        /** Of these those that were sorted. */
        long sortedCount() {
            return sortedCount;
        }

        /**
         * The candidates in order, but for those that another index can't have.
         *
         * @param others what it may have; null: all of them
         * @return null if there is no memory to sort them, nor anywhere to put others
         */
        @Nullable
        SortedSide sorted(@Nullable CandidateBits others) {
            CandidateList found = list;
            list = null;
            if (found != null && !found.moveTo(this, others)) {
                return null;
            }
            SpilledRuns spilled = runs;
            SortedInput entries;
            if (spilled == null) {
                entries = buffer.sorted();
            } else {
                spilled.add(buffer, Long.MAX_VALUE);
                entries = SortedMerge.of(spilled.inputs());
            }
            isGivenAway = true;
            return new SortedSide(buffer, spilled, entries);
        }

        /** Gives up what was collected, unless it was {@link #sorted}. */
        @Override
        public void close() {
            CandidateList found = list;
            if (found != null) {
                list = null;
                found.close();
            }
            if (!isGivenAway) {
                isGivenAway = true;
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

    @Override
    public boolean begin() {
        isOnEntry = entries.next();
        return isOnEntry;
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
