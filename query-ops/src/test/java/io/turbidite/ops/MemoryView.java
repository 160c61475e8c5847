package io.turbidite.ops;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.geo.Box;
import io.turbidite.core.scan.FetchOptions;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.IndexSearch;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.core.scan.RecordRun;
import io.turbidite.core.scan.Source;
import io.turbidite.ops.MemorySource.Entry;
import io.turbidite.ops.MemorySource.Opened;
import io.turbidite.ops.MemorySource.Partition;
import io.turbidite.ops.MemorySource.Shown;
import io.turbidite.ops.MemorySource.Stored;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/** A view on a {@link MemorySource}. */
final class MemoryView implements ReadView {
    private final MemorySource source;
    private final long timestamp;
    private final int partitionCount;
    private final Opened opened;

    MemoryView(MemorySource source, long timestamp, int partitionCount) {
        this.source = source;
        this.timestamp = timestamp;
        this.partitionCount = partitionCount;
        this.opened = new Opened(source, "view");
    }

    @Override
    public Source source() {
        return source;
    }

    @Override
    public long timestamp() {
        return timestamp;
    }

    @Override
    public int partitionCount() {
        return partitionCount;
    }

    @Override
    public boolean get(Slice primaryKey, ByteSink record) {
        opened.move();
        byte[] key = primaryKey.toByteArray();
        Stored stored = source.partition(source.partitionOf(key)).records.get(key);
        if (stored != null) {
            record.putBytes(stored.record());
        }
        return stored != null;
    }

    @Override
    public RecordCursor scan(int partition, KeyRange primaryKeys, FilterPredicate filter) {
        opened.checkOpen();
        Partition of = source.partition(partition);
        List<Stored> found = new ArrayList<>();
        for (Stored stored : of.records.values()) {
            if (primaryKeys.contains(Slice.of(stored.key()))
                    && MemorySource.mayMatch(of, stored.component(), filter)) {
                found.add(stored);
            }
        }
        return new Records(found);
    }

    @Override
    public IndexCursor search(
            int partition, String index, IndexSearch range, FilterPredicate filter) {
        opened.checkOpen();
        return new Entries(entries(partition, index, range, filter));
    }

    private List<Entry> entries(
            int partition, String index, IndexSearch range, FilterPredicate filter) {
        Partition of = source.partition(partition);
        List<Entry> found = new ArrayList<>();
        for (Entry entry : of.entries.get(source.indexNumber(index)).values()) {
            if (range.contains(
                            Slice.of(MemorySource.join(entry.secondaryKey(), entry.primaryKey())))
                    && MemorySource.mayMatch(of, entry.component(), filter)) {
                found.add(entry);
            }
        }
        if (range instanceof IndexSearch.Nearest nearest) {
            // stable: equally far ones stay in the order of keys
            found.sort(Comparator.comparingDouble(entry -> {
                Box value = new Box();
                nearest.kind().decode(Slice.of(entry.secondaryKey()), 0, value);
                return nearest.place().distance(value);
            }));
        }
        return found;
    }

    @Override
    public RecordCursor fetch(int partition, KeyBatch sortedKeys) {
        return new Records(stored(partition, sortedKeys));
    }

    /** In any order, unless the options ask for one. */
    @Override
    public RecordCursor fetch(int partition, KeyBatch sortedKeys, FetchOptions options) {
        assertThat(options.pruning() == FetchOptions.Pruning.NONE || sortedKeys.hasTimestamps())
                .isTrue();
        source.fetchCount.incrementAndGet();
        List<Stored> found = stored(partition, sortedKeys);
        if (!options.isOrdered()) {
            Collections.reverse(found);
        }
        return new Records(found);
    }

    @Override
    public double missShare() {
        return source.missShare;
    }

    private List<Stored> stored(int partition, KeyBatch sortedKeys) {
        opened.checkOpen();
        List<Stored> found = new ArrayList<>();
        byte[] previous = null;
        Slice slice = new Slice();
        for (int i = 0; i < sortedKeys.size(); i++) {
            byte[] key = sortedKeys.key(i, slice).toByteArray();
            if (previous != null && Arrays.compareUnsigned(previous, key) >= 0) {
                throw new AssertionError("keys of a fetch are not ascending and distinct");
            }
            if (source.partitionOf(key) != partition) {
                throw new AssertionError("a key of another partition");
            }
            Stored stored = source.partition(partition).records.get(key);
            if (stored != null) {
                found.add(stored);
            }
            previous = key;
        }
        return found;
    }

    @Override
    public long estimateScan(KeyRange primaryKeys, FilterPredicate filter) {
        source.estimateCount.incrementAndGet();
        opened.checkOpen();
        long count = 0;
        for (int i = 0; i < partitionCount; i++) {
            Partition of = source.partition(i);
            count += of.records.values().stream()
                    .filter(stored -> primaryKeys.contains(Slice.of(stored.key()))
                            && MemorySource.mayMatch(of, stored.component(), filter))
                    .count();
        }
        return Math.round(count * source.estimateFactor);
    }

    @Override
    public long estimateSearch(String index, IndexSearch range, FilterPredicate filter) {
        source.estimateCount.incrementAndGet();
        opened.checkOpen();
        long count = 0;
        for (int i = 0; i < partitionCount; i++) {
            count += entries(i, index, range, filter).size();
        }
        return count;
    }

    @Override
    public void close() {
        opened.close();
        if (source.failOnClose) {
            throw new io.turbidite.core.CorruptionException(
                    "memory", 0, "view", "closed", "damaged by the test");
        }
    }

    /** A place in a sorted list: on an element, or in the gap before one. */
    private static final class Walk<T> {
        private final List<T> elements;
        private final Function<T, byte[]> keyOf;
        private int at;
        private boolean onElement;

        Walk(List<T> elements, Function<T, byte[]> keyOf) {
            this.elements = elements;
            this.keyOf = keyOf;
        }

        boolean next() {
            at += onElement ? 1 : 0;
            onElement = at < elements.size();
            return onElement;
        }

        boolean previous() {
            onElement = at > 0;
            at = Math.max(0, at - 1);
            return onElement;
        }

        void seek(Slice key) {
            at = 0;
            onElement = false;
            byte[] target = key.toByteArray();
            while (at < elements.size()
                    && Arrays.compareUnsigned(keyOf.apply(elements.get(at)), target) < 0) {
                at++;
            }
        }

        void seekEnd() {
            at = elements.size();
            onElement = false;
        }

        T element() {
            return elements.get(at);
        }
    }

    private final class Records implements RecordCursor {
        private final Opened cursor = new Opened(source, "record cursor");
        private final Walk<Stored> walk;
        private final Shown key = new Shown();
        private final Shown record = new Shown();
        private Slice keySlice = new Slice();
        private Slice recordSlice = new Slice();
        private long at;
        private long visited;
        private long runs;
        private MemorySegment runMemory = MemorySegment.NULL;

        Records(List<Stored> found) {
            this.walk = new Walk<>(found, Stored::key);
        }

        @Override
        public boolean next() {
            return show(walk::next);
        }

        @Override
        public boolean previous() {
            return show(walk::previous);
        }

        @Override
        public void seek(Slice target) {
            opened.checkOpen();
            walk.seek(target);
        }

        @Override
        public void seekEnd() {
            opened.checkOpen();
            walk.seekEnd();
        }

        /** Who takes the records of a run one by one asks this of each but the first. */
        @Override
        public void checkOpen() {
            source.recordsOneByOne.incrementAndGet();
            opened.checkOpen();
        }

        /** Runs of 1, 2, 3, … records, each in memory of just their length. */
        @Override
        public boolean nextRun(RecordRun run) {
            if (source.runRecordsMax == 1) {
                return RecordCursor.super.nextRun(run);
            }
            int most = 1 + (int) (runs++ % source.runRecordsMax);
            runMemory.fill((byte) 0xFF);
            List<byte[]> records = new ArrayList<>();
            while (records.size() < most && show(walk::next)) {
                records.add(walk.element().record());
            }
            if (records.isEmpty()) {
                return false;
            }
            runMemory = Arena.ofAuto()
                    .allocate(
                            records.stream().mapToLong(record -> record.length).sum());
            int[] offsets = new int[records.size()];
            int[] lengths = new int[records.size()];
            int offset = 0;
            for (int i = 0; i < offsets.length; i++) {
                offsets[i] = offset;
                lengths[i] = records.get(i).length;
                MemorySegment.copy(
                        records.get(i), 0, runMemory, ValueLayout.JAVA_BYTE, offset, lengths[i]);
                offset += lengths[i];
            }
            run.begin(new Slice().set(runMemory, 0, lengths[0]));
            run.add(offsets, lengths, 1, offsets.length - 1);
            return true;
        }

        private boolean show(BooleanSupplier move) {
            opened.checkOpen();
            cursor.move();
            key.spoil();
            record.spoil();
            if (!move.getAsBoolean()) {
                return false;
            }
            Stored stored = walk.element();
            visited++;
            keySlice = key.show(stored.key());
            recordSlice = record.show(stored.record());
            at = stored.timestamp();
            return true;
        }

        @Override
        public Slice key() {
            cursor.checkOpen();
            return keySlice;
        }

        @Override
        public long timestamp() {
            cursor.checkOpen();
            return at;
        }

        @Override
        public Slice record() {
            cursor.checkOpen();
            return recordSlice;
        }

        @Override
        public long visitedCount() {
            return visited;
        }

        @Override
        public void close() {
            key.spoil();
            record.spoil();
            runMemory.fill((byte) 0xFF);
            cursor.close();
            if (source.failOnRecordsClose) {
                throw new IllegalStateException("a cursor does not close");
            }
        }
    }

    private final class Entries implements IndexCursor {
        private final Opened cursor = new Opened(source, "index cursor");
        private final Walk<Entry> walk;
        private final Shown secondaryKey = new Shown();
        private final Shown primaryKey = new Shown();
        private Slice secondarySlice = new Slice();
        private Slice primarySlice = new Slice();
        private long at;

        Entries(List<Entry> found) {
            this.walk = new Walk<>(
                    found, entry -> MemorySource.join(entry.secondaryKey(), entry.primaryKey()));
        }

        @Override
        public boolean next() {
            return show(walk::next);
        }

        @Override
        public boolean previous() {
            return show(walk::previous);
        }

        @Override
        public void seek(Slice target) {
            opened.checkOpen();
            walk.seek(target);
        }

        @Override
        public void seekEnd() {
            opened.checkOpen();
            walk.seekEnd();
        }

        private boolean show(BooleanSupplier move) {
            opened.checkOpen();
            cursor.move();
            secondaryKey.spoil();
            primaryKey.spoil();
            if (!move.getAsBoolean()) {
                return false;
            }
            Entry entry = walk.element();
            secondarySlice = secondaryKey.show(entry.secondaryKey());
            primarySlice = primaryKey.show(entry.primaryKey());
            at = entry.timestamp();
            return true;
        }

        @Override
        public Slice secondaryKey() {
            cursor.checkOpen();
            return secondarySlice;
        }

        @Override
        public Slice primaryKey() {
            cursor.checkOpen();
            return primarySlice;
        }

        @Override
        public long timestamp() {
            cursor.checkOpen();
            return at;
        }

        @Override
        public void close() {
            secondaryKey.spoil();
            primaryKey.spoil();
            cursor.close();
        }
    }
}
