package io.turbidite.ops;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.core.scan.Source;
import io.turbidite.ops.MemorySource.Entry;
import io.turbidite.ops.MemorySource.Opened;
import io.turbidite.ops.MemorySource.Partition;
import io.turbidite.ops.MemorySource.Shown;
import io.turbidite.ops.MemorySource.Stored;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;

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
                    && MemorySource.mayMatch(of, stored.component(), ranges(filter))) {
                found.add(stored);
            }
        }
        return new Records(found.iterator());
    }

    @Override
    public IndexCursor search(int partition, String index, KeyRange range, FilterPredicate filter) {
        opened.checkOpen();
        return new Entries(entries(partition, index, range, filter).iterator());
    }

    private List<Entry> entries(
            int partition, String index, KeyRange range, FilterPredicate filter) {
        Partition of = source.partition(partition);
        List<Entry> found = new ArrayList<>();
        for (Entry entry : of.entries.get(source.indexNumber(index)).values()) {
            if (range.contains(
                            Slice.of(MemorySource.join(entry.secondaryKey(), entry.primaryKey())))
                    && MemorySource.mayMatch(of, entry.component(), ranges(filter))) {
                found.add(entry);
            }
        }
        return found;
    }

    private List<KeyRange> ranges(FilterPredicate filter) {
        if (!filter.ranges().isEmpty()
                && filter.ranges().size() != source.filterFields().size()) {
            throw new AssertionError("a filter predicate of " + filter.ranges().size());
        }
        return filter.ranges();
    }

    @Override
    public RecordCursor fetch(int partition, KeyBatch sortedKeys) {
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
        return new Records(found.iterator());
    }

    @Override
    public long estimateScan(KeyRange primaryKeys, FilterPredicate filter) {
        opened.checkOpen();
        long count = 0;
        for (int i = 0; i < partitionCount; i++) {
            Partition of = source.partition(i);
            count += of.records.values().stream()
                    .filter(stored -> primaryKeys.contains(Slice.of(stored.key()))
                            && MemorySource.mayMatch(of, stored.component(), ranges(filter)))
                    .count();
        }
        return Math.round(count * source.estimateFactor);
    }

    @Override
    public long estimateSearch(String index, KeyRange range, FilterPredicate filter) {
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
    }

    private final class Records implements RecordCursor {
        private final Opened cursor = new Opened(source, "record cursor");
        private final Iterator<Stored> rest;
        private final Shown key = new Shown();
        private final Shown record = new Shown();
        private Slice keySlice = new Slice();
        private Slice recordSlice = new Slice();
        private long at;
        private long visited;

        Records(Iterator<Stored> rest) {
            this.rest = rest;
        }

        @Override
        public boolean next() {
            opened.checkOpen();
            cursor.move();
            key.spoil();
            record.spoil();
            if (!rest.hasNext()) {
                return false;
            }
            Stored stored = rest.next();
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
            cursor.close();
        }
    }

    private final class Entries implements IndexCursor {
        private final Opened cursor = new Opened(source, "index cursor");
        private final Iterator<Entry> rest;
        private final Shown secondaryKey = new Shown();
        private final Shown primaryKey = new Shown();
        private Slice secondarySlice = new Slice();
        private Slice primarySlice = new Slice();
        private long at;

        Entries(Iterator<Entry> rest) {
            this.rest = rest;
        }

        @Override
        public boolean next() {
            opened.checkOpen();
            cursor.move();
            secondaryKey.spoil();
            primaryKey.spoil();
            if (!rest.hasNext()) {
                return false;
            }
            Entry entry = rest.next();
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
