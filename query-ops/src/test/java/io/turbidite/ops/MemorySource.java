package io.turbidite.ops;

import io.turbidite.core.ClosedException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.geo.Box;
import io.turbidite.core.index.EntryKeyList;
import io.turbidite.core.index.EntryKeys;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.QueryMeans;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.Source;
import io.turbidite.core.type.RecordType;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A source on the heap that holds its readers to the contract: what a cursor shows is overwritten
 * when it moves, closed things throw, keys of a fetch must be sorted and of the partition, and what
 * is left open is counted.
 *
 * <p>Records lie in components of {@link #COMPONENT_RECORDS} operations with minimum and maximum of
 * the filter fields, and a filter really skips components. An index that is not always valid keeps
 * the entries of everything that was ever written. Not to be changed while it is read.
 */
public final class MemorySource implements Source {
    static final int COMPONENT_RECORDS = 16;

    private final String name;
    private final RecordType type;
    private final List<String> primaryKey;
    private final List<String> filterFields;
    private final List<IndexDescription> indexes;
    private final List<Partition> partitions = new ArrayList<>();
    private final List<KeySpec> filterSpecs;
    private final KeySpec primarySpec;
    private final RecordWriter writer;
    private final RecordView view;
    private long timestamp;
    double estimateFactor = 1;
    public int failAfterMoves = Integer.MAX_VALUE;

    /** Most records of a run; 1: each is shown by itself. */
    public int runRecordsMax = 40;

    /** Records of runs that were taken one by one, and not as a batch. */
    public final AtomicLong recordsOneByOne = new AtomicLong();

    /** Whether a view that is closed throws. */
    public volatile boolean failOnClose;

    /** Whether a cursor of records that is closed throws. */
    boolean failOnRecordsClose;

    /** All other threads have no memory to move a cursor. */
    @Nullable
    Thread hasMemory;

    @Nullable
    public QueryMeans means;

    /** What views say of the cache. */
    double missShare;

    /** Fetches that were opened. */
    final AtomicInteger fetchCount = new AtomicInteger();

    public final AtomicInteger openCount = new AtomicInteger();
    public int openViewCount;
    final AtomicInteger estimateCount = new AtomicInteger();
    public final AtomicInteger moveCount = new AtomicInteger();

    /** Done at each move of a cursor, by its thread. */
    public Runnable onMove = () -> {};

    /** A record and where it lies. */
    @SuppressWarnings("ArrayRecordComponent") // never compared as a whole
    record Stored(byte[] key, byte[] record, long timestamp, long component) {}

    /** An index entry; the map's key is the secondary key with the primary key behind it. */
    @SuppressWarnings("ArrayRecordComponent") // never compared as a whole
    record Entry(byte[] secondaryKey, byte[] primaryKey, long timestamp, long component) {}

    /** Smallest and largest encoded values; null while none was seen. */
    static final class MinMax {
        byte @Nullable [] min;
        byte @Nullable [] max;
        boolean hasAbsent;
        final Box box = new Box();
    }

    /** One partition's records, index entries and component filters. */
    static final class Partition {
        final TreeMap<byte[], Stored> records = new TreeMap<>(Arrays::compareUnsigned);
        final List<TreeMap<byte[], Entry>> entries = new ArrayList<>();
        final TreeMap<Long, List<MinMax>> filters = new TreeMap<>();
    }

    MemorySource(
            RecordType type,
            List<String> primaryKey,
            List<String> filterFields,
            List<IndexDescription> indexes,
            int partitionCount) {
        this("Memory", type, primaryKey, filterFields, indexes, partitionCount);
    }

    public MemorySource(
            String name,
            RecordType type,
            List<String> primaryKey,
            List<String> filterFields,
            List<IndexDescription> indexes,
            int partitionCount) {
        this.name = name;
        this.type = type;
        this.primaryKey = List.copyOf(primaryKey);
        this.filterFields = List.copyOf(filterFields);
        this.indexes = List.copyOf(indexes);
        this.primarySpec = KeySpec.of(type, primaryKey, "primary key");
        this.filterSpecs = filterFields.stream()
                .map(field -> KeySpec.of(type, List.of(field), "filter"))
                .toList();
        this.writer = new RecordWriter(type);
        this.view = new RecordView(type);
        for (int i = 0; i < partitionCount; i++) {
            Partition partition = new Partition();
            indexes.forEach(index -> partition.entries.add(new TreeMap<>(Arrays::compareUnsigned)));
            partitions.add(partition);
        }
    }

    public MemorySource upsert(Map<String, ? extends @Nullable Object> fields) {
        checkUnread();
        byte[] record = writer.write(fields).toByteArray();
        byte[] key = key(primarySpec, record);
        Partition partition = partitions.get(partitionOf(key));
        delete(partition, key);
        timestamp++;
        Stored stored = new Stored(key, record, timestamp, timestamp / COMPONENT_RECORDS);
        partition.records.put(key, stored);
        for (int i = 0; i < indexes.size(); i++) {
            for (byte[] secondaryKey : secondaryKeys(i, record)) {
                partition
                        .entries
                        .get(i)
                        .put(
                                join(secondaryKey, key),
                                new Entry(secondaryKey, key, timestamp, stored.component));
            }
        }
        widenFilters(partition, stored);
        return this;
    }

    MemorySource delete(Object... keyValues) {
        checkUnread();
        byte[] key = primarySpec.encode(keyValues);
        delete(partitions.get(partitionOf(key)), key);
        timestamp++;
        return this;
    }

    private void delete(Partition partition, byte[] key) {
        Stored old = partition.records.remove(key);
        for (int i = 0; old != null && i < indexes.size(); i++) {
            for (byte[] secondaryKey : secondaryKeys(i, old.record)) {
                if (indexes.get(i).alwaysValid()) {
                    partition.entries.get(i).remove(join(secondaryKey, key));
                }
            }
        }
    }

    private void widenFilters(Partition partition, Stored stored) {
        List<MinMax> filters = partition.filters.computeIfAbsent(
                stored.component,
                _ -> filterFields.stream().map(_ -> new MinMax()).toList());
        for (int i = 0; i < filterFields.size(); i++) {
            view.wrap(Slice.of(stored.record));
            MinMax filter = filters.get(i);
            if (view.isAbsent(type.indexOf(filterFields.get(i)))) {
                filter.hasAbsent = true;
                continue;
            }
            byte[] value = key(filterSpecs.get(i), stored.record);
            filter.box.add(box(type.indexOf(filterFields.get(i))));
            if (filter.min == null || Arrays.compareUnsigned(value, filter.min) < 0) {
                filter.min = value;
            }
            if (filter.max == null || Arrays.compareUnsigned(value, filter.max) > 0) {
                filter.max = value;
            }
        }
    }

    /** Around what the view's record has in a field; nothing if that has no place. */
    private Box box(int field) {
        return switch (type.field(field).kind()) {
            case POINT, LONLAT -> {
                double x = view.getCoordinate(field, 0);
                double y = view.getCoordinate(field, 1);
                yield new Box().set(x, y, x, y);
            }
            case RECTANGLE ->
                new Box()
                        .set(
                                view.getCoordinate(field, 0),
                                view.getCoordinate(field, 1),
                                view.getCoordinate(field, 2),
                                view.getCoordinate(field, 3));
            default -> new Box();
        };
    }

    /** Whether a component may hold records inside every range and window. */
    static boolean mayMatch(Partition partition, long component, FilterPredicate predicate) {
        List<MinMax> filters = partition.filters.get(component);
        if (filters == null) {
            return true;
        }
        for (int i = 0; i < predicate.ranges().size(); i++) {
            MinMax filter = filters.get(i);
            KeyRange range = predicate.ranges().get(i);
            boolean overlaps = filter.min != null
                    && filter.max != null
                    && range.overlaps(Slice.of(filter.min), Slice.of(filter.max));
            boolean wantsAbsent = range.contains(Slice.of(new byte[2]));
            if (!range.isAll() && !overlaps && !(filter.hasAbsent && wantsAbsent)) {
                return false;
            }
        }
        return predicate.windows().stream()
                .allMatch(window ->
                        filters.get(window.field()).box.intersects(new Box().set(window.bounds())));
    }

    /** None, one or many; each distinct. */
    private List<byte[]> secondaryKeys(int index, byte[] record) {
        if (!indexes.get(index).multiValued()) {
            return List.of(key(KeySpec.of(type, indexes.get(index).fields(), "index"), record));
        }
        EntryKeyList keys = new EntryKeyList();
        EntryKeys entryKeys = indexes.get(index).entryKeys(type);
        entryKeys.append(view.wrap(Slice.of(record)), new Slice(), keys);
        List<byte[]> copies = new ArrayList<>();
        for (int i = 0; i < keys.count(); i++) {
            copies.add(keys.key(i, new Slice()).toByteArray());
        }
        return copies;
    }

    private byte[] key(KeySpec spec, byte[] record) {
        ByteSink sink = new ByteSink(64, 1 << 20);
        spec.append(view.wrap(Slice.of(record)), sink);
        return sink.asSlice(new Slice()).toByteArray();
    }

    static byte[] join(byte[] a, byte[] b) {
        byte[] joined = Arrays.copyOf(a, a.length + b.length);
        System.arraycopy(b, 0, joined, a.length, b.length);
        return joined;
    }

    int partitionOf(byte[] key) {
        return Math.floorMod(Arrays.hashCode(key) * 0x9E3779B9, partitions.size());
    }

    Partition partition(int index) {
        return partitions.get(index);
    }

    int indexNumber(String indexName) {
        for (int i = 0; i < indexes.size(); i++) {
            if (indexes.get(i).name().equals(indexName)) {
                return i;
            }
        }
        throw new AssertionError("no index " + indexName);
    }

    /** All live records, decoded. */
    List<Map<String, @Nullable Object>> all() {
        List<Map<String, @Nullable Object>> all = new ArrayList<>();
        for (Partition partition : partitions) {
            for (Stored stored : partition.records.values()) {
                all.add(new RecordView(type).wrap(Slice.of(stored.record)).toMap());
            }
        }
        return all;
    }

    private void checkUnread() {
        if (openCount.get() > 0) {
            throw new AssertionError("changed while it is read");
        }
    }

    @Override
    public @Nullable QueryMeans means() {
        return means;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public RecordType type() {
        return type;
    }

    @Override
    public List<String> primaryKey() {
        return primaryKey;
    }

    @Override
    public List<String> filterFields() {
        return filterFields;
    }

    @Override
    public List<IndexDescription> indexes() {
        return indexes;
    }

    @Override
    public ReadView openView() {
        openViewCount++;
        return new MemoryView(this, timestamp, partitions.size());
    }

    /** Bytes that a cursor shows, overwritten when it moves. */
    static final class Shown {
        private byte[] shown = new byte[0];
        private final Slice slice = new Slice();

        Slice show(byte[] bytes) {
            spoil();
            // at another place each time, so that a kept slice is noticed even where bytes are
            // equal
            shown = bytes.clone();
            return slice.set(MemorySegment.ofArray(shown), 0, shown.length);
        }

        void spoil() {
            Arrays.fill(shown, (byte) 0xEE);
        }
    }

    /** Something that must be closed, by the thread that uses it, and not used after. */
    static final class Opened {
        private final MemorySource source;
        private final String what;
        private boolean closed;

        Opened(MemorySource source, String what) {
            this.source = source;
            this.what = what;
            source.openCount.incrementAndGet();
        }

        void checkOpen() {
            if (closed) {
                throw new ClosedException(what);
            }
        }

        /** Counts a move, and fails where a test wants it to. */
        void move() {
            checkOpen();
            Thread only = source.hasMemory;
            if (only != null && !only.equals(Thread.currentThread())) {
                throw new OutOfMemoryError("for the test");
            }
            source.onMove.run();
            if (source.moveCount.incrementAndGet() > source.failAfterMoves) {
                throw new io.turbidite.core.CorruptionException(
                        "memory", 0, what, "sound", "damaged by the test");
            }
        }

        void close() {
            if (!closed) {
                closed = true;
                source.openCount.decrementAndGet();
            }
        }
    }
}
