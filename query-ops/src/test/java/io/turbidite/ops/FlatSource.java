package io.turbidite.ops;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.IndexSearch;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.core.scan.Source;
import io.turbidite.core.type.RecordType;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * The cheapest possible source, one partition of records side by side off the heap: what a query
 * over it costs is what the operators cost. Records must come in key order.
 */
final class FlatSource implements Source, ReadView {
    private final RecordType type;
    private final KeySpec primary;
    private final KeySpec secondary;
    private final IndexDescription index;
    private final ByteSink keys = new ByteSink(1 << 20, 1 << 30);
    private final ByteSink records = new ByteSink(1 << 20, 2_000_000_000);
    private final ByteSink secondaryKeys = new ByteSink(1 << 20, 1 << 30);
    private final int[] keyEnds;
    private final int[] recordEnds;
    private final int[] secondaryEnds;
    private Integer[] byIndex = new Integer[0];
    private int count;

    FlatSource(RecordType type, String primaryKey, String indexed, int countMax) {
        this.type = type;
        this.primary = KeySpec.of(type, List.of(primaryKey), "primary key");
        this.secondary = KeySpec.of(type, List.of(indexed), "index");
        this.index = new IndexDescription(
                "by_" + indexed, IndexDescription.Kind.BTREE, List.of(indexed), true);
        this.keyEnds = new int[countMax + 1];
        this.recordEnds = new int[countMax + 1];
        this.secondaryEnds = new int[countMax + 1];
    }

    void add(Slice record, RecordView view) {
        view.wrap(record);
        primary.append(view, keys);
        secondary.append(view, secondaryKeys);
        records.putBytes(record);
        count++;
        keyEnds[count] = keys.length();
        recordEnds[count] = records.length();
        secondaryEnds[count] = secondaryKeys.length();
    }

    void finish() {
        byIndex = new Integer[count];
        Arrays.setAll(byIndex, i -> i);
        Slice a = new Slice();
        Slice b = new Slice();
        Arrays.sort(
                byIndex,
                Comparator.<Integer>comparingInt(i -> 0)
                        .thenComparing(
                                (x, y) -> secondaryKey(x, a).compareBytes(secondaryKey(y, b))));
    }

    long recordBytes() {
        return records.length();
    }

    private Slice key(int i, Slice slice) {
        return slice.set(keys.segment(), keyEnds[i], keyEnds[i + 1] - keyEnds[i]);
    }

    private Slice record(int i, Slice slice) {
        return slice.set(records.segment(), recordEnds[i], recordEnds[i + 1] - recordEnds[i]);
    }

    private Slice secondaryKey(int i, Slice slice) {
        return slice.set(
                secondaryKeys.segment(), secondaryEnds[i], secondaryEnds[i + 1] - secondaryEnds[i]);
    }

    @Override
    public String name() {
        return "Flat";
    }

    @Override
    public RecordType type() {
        return type;
    }

    @Override
    public List<String> primaryKey() {
        return primary.fields();
    }

    @Override
    public List<String> filterFields() {
        return List.of();
    }

    @Override
    public List<IndexDescription> indexes() {
        return List.of(index);
    }

    @Override
    public ReadView openView() {
        return this;
    }

    @Override
    public Source source() {
        return this;
    }

    @Override
    public long timestamp() {
        return count;
    }

    @Override
    public int partitionCount() {
        return 1;
    }

    /** First record whose key is at or above {@code key}, from {@code from} on. */
    private int find(Slice key, int from) {
        Slice at = new Slice();
        int low = from;
        int high = count;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (key(middle, at).compareBytes(key) < 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** First entry whose secondary key is at or above {@code key}. */
    private int findEntry(Slice key) {
        Slice at = new Slice();
        int low = 0;
        int high = count;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (secondaryKey(byIndex[middle], at).compareBytes(key) < 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    @Override
    public boolean get(Slice primaryKey, ByteSink record) {
        int at = find(primaryKey, 0);
        if (at == count || !key(at, new Slice()).contentEquals(primaryKey)) {
            return false;
        }
        record.putBytes(record(at, new Slice()));
        return true;
    }

    @Override
    public RecordCursor scan(int partition, KeyRange primaryKeys, FilterPredicate filter) {
        Slice low = primaryKeys.low();
        Slice high = primaryKeys.high();
        int from = low == null ? 0 : find(low, 0);
        int to = high == null ? count : find(high, 0);
        return new Records(from, to, null);
    }

    @Override
    public IndexCursor search(
            int partition, String indexName, IndexSearch search, FilterPredicate filter) {
        KeyRange range = (KeyRange) search;
        int from = entryAt(range.low(), 0);
        int to = entryAt(range.high(), count);
        return new Entries(from, to);
    }

    private int entryAt(@Nullable Slice bound, int otherwise) {
        return bound == null ? otherwise : findEntry(bound);
    }

    @Override
    public RecordCursor fetch(int partition, KeyBatch sortedKeys) {
        return new Records(0, sortedKeys.size(), sortedKeys);
    }

    @Override
    public long estimateScan(KeyRange primaryKeys, FilterPredicate filter) {
        return count;
    }

    @Override
    public long estimateSearch(String indexName, IndexSearch search, FilterPredicate filter) {
        KeyRange range = (KeyRange) search;
        return (long) entryAt(range.high(), count) - entryAt(range.low(), 0);
    }

    @Override
    public void close() {
        // nothing is held
    }

    private final class Records implements RecordCursor {
        private final @Nullable KeyBatch batch;
        private final Slice key = new Slice();
        private final Slice record = new Slice();
        private final int from;
        private final int to;
        private int next;
        private boolean onRecord;
        private int found = -1;

        Records(int from, int to, @Nullable KeyBatch batch) {
            this.from = from;
            this.to = to;
            this.batch = batch;
            this.next = from;
        }

        @Override
        public boolean next() {
            if (next >= to) {
                onRecord = false;
                return false;
            }
            if (batch == null) {
                found = next;
                FlatSource.this.key(found, key);
            } else {
                found = find(batch.key(next, key), found + 1);
            }
            next++;
            onRecord = true;
            FlatSource.this.record(found, record);
            return true;
        }

        @Override
        public boolean previous() {
            int at = next - (onRecord ? 2 : 1);
            if (at < from) {
                next = from;
                onRecord = false;
                return false;
            }
            next = at;
            return next();
        }

        @Override
        public void seek(Slice target) {
            next = Math.clamp(find(target, 0), from, to);
            onRecord = false;
        }

        @Override
        public void seekEnd() {
            next = to;
            onRecord = false;
        }

        @Override
        public Slice key() {
            return key;
        }

        @Override
        public long timestamp() {
            return found;
        }

        @Override
        public Slice record() {
            return record;
        }

        @Override
        public long visitedCount() {
            return (long) next - from;
        }

        @Override
        public void close() {
            next = to;
        }
    }

    private final class Entries implements IndexCursor {
        private final Slice key = new Slice();
        private final Slice secondaryKey = new Slice();
        private final int from;
        private final int to;
        private int next;
        private boolean onEntry;

        Entries(int from, int to) {
            this.from = from;
            this.next = from;
            this.to = to;
        }

        @Override
        public boolean next() {
            if (next >= to) {
                onEntry = false;
                return false;
            }
            FlatSource.this.key(byIndex[next], key);
            FlatSource.this.secondaryKey(byIndex[next], secondaryKey);
            next++;
            onEntry = true;
            return true;
        }

        @Override
        public boolean previous() {
            int at = next - (onEntry ? 2 : 1);
            if (at < from) {
                next = from;
                onEntry = false;
                return false;
            }
            next = at;
            return next();
        }

        @Override
        public void seek(Slice target) {
            next = Math.clamp(findEntry(target), from, to);
            onEntry = false;
        }

        @Override
        public void seekEnd() {
            next = to;
            onEntry = false;
        }

        @Override
        public Slice secondaryKey() {
            return secondaryKey;
        }

        @Override
        public Slice primaryKey() {
            return key;
        }

        @Override
        public long timestamp() {
            return 0;
        }

        @Override
        public void close() {
            next = to;
        }
    }
}
