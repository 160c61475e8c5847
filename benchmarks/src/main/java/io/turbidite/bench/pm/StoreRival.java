package io.turbidite.bench.pm;

import io.turbidite.bench.engine.Scratch;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeyCodec;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.Reading;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.FetchOptions;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.IndexSearch;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.core.scan.ValidSearch;
import io.turbidite.core.time.Clock;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.component.ComponentOptions;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.ops.Predicates;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.pm.PmKind;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/** Records in a store, with a secondary index of one kind. */
final class StoreRival implements AutoCloseable {
    static final String INDEX = "by_key";
    private static final long SETTLED_NANOS = 300_000_000;
    private static final int MEMORY_SHARE = 16;
    private static final long MEMORY_BYTES_MIN = 1 << 20;

    /** What the index is. */
    enum Kind {
        PM("PM index", Maintenance.VALIDATION),
        LSM_VALIDATION("LSM index, validation", Maintenance.VALIDATION),
        LSM_EAGER("LSM index, eager", Maintenance.EAGER);

        private final String label;
        private final Maintenance maintenance;

        Kind(String label, Maintenance maintenance) {
            this.label = label;
            this.maintenance = maintenance;
        }

        String label() {
            return label;
        }

        private IndexSpec index() {
            return this == PM
                    ? IndexSpec.pm(INDEX, "key")
                            .withParameter("mode", "volatile")
                            .withParameter("bytes", "16GiB")
                    : IndexSpec.btree(INDEX, "key");
        }
    }

    private final Path directory;
    private final Kind kind;
    private final Store store;
    private final Dataset records;
    private final RecordWriter writer;
    private final KeySpec keys;
    private final String text;

    // ---- of the thread that asks
    private final KeyBatch batch = new KeyBatch(1 << 16);
    private final ByteSink id = new ByteSink(16, 16);
    private final ByteSink found = new ByteSink(1 << 10, Limits.RECORD_BYTES_MAX);
    private final Slice slice = new Slice();

    /**
     * @param recordCount how many there will be: the write memory is a sixteenth of them
     * @param recordBytes about how long each is
     * @param changes what is otherwise than with all in the cache
     */
    StoreRival(
            Path directory,
            Kind kind,
            String policy,
            int recordCount,
            int recordBytes,
            UnaryOperator<StoreOptions> changes) {
        this.kind = kind;
        this.directory = Scratch.empty(directory);
        long bytes = (long) recordCount * recordBytes;
        this.store = Store.open(
                directory,
                changes.apply(StoreOptions.defaults()
                        .withIndexKinds(new PmKind())
                        .withDurability(Durability.BUFFERED)
                        .withWriteMemoryBytes(Math.max(MEMORY_BYTES_MIN, bytes / MEMORY_SHARE))
                        .withCacheBytes(4 * bytes + (64L << 20))));
        this.records = store.createDataset(DatasetSpec.named("Records")
                .field("id", "int64")
                .field("key", "int64")
                .field("text", "string")
                .primaryKey("id")
                .maintenance(kind.maintenance)
                .components(ComponentOptions.primary().withKeyTree(true))
                .mergePolicy(MergePolicySpec.parse(policy))
                .index(kind.index()));
        this.writer = records.newRecordWriter();
        this.keys = KeySpec.of(records.type(), List.of("key"), "benchmark");
        this.text = "x".repeat(Math.max(1, recordBytes - 2 * Long.BYTES));
    }

    /** Writes all of a load; flushes and merges included. */
    void feed(Operations operations) {
        write(operations, 0, operations.count());
        flush();
        settle();
    }

    /** Writes all of a load, flushed as so many components. */
    void writeLayers(Operations operations, int componentCount) {
        for (int i = 0; i < componentCount; i++) {
            write(
                    operations,
                    share(operations, i, componentCount),
                    share(operations, i + 1, componentCount));
            flush();
        }
        settle();
    }

    private static int share(Operations operations, int parts, int of) {
        return (int) ((long) operations.count() * parts / of);
    }

    /** Writes some operations of a load. */
    void write(Operations operations, int from, int end) {
        for (int i = from; i < end; i++) {
            write(writer, operations, i);
        }
    }

    /** Writes an operation; each thread has a writer. */
    void write(RecordWriter with, Operations operations, int operation) {
        with.begin();
        with.setLong(0, operations.recordNumber(operations.record(operation)));
        with.setLong(1, operations.keyNumber(operations.key(operation)));
        with.setString(2, text);
        records.upsertRecord(with.finish());
    }

    RecordWriter newWriter() {
        return records.newRecordWriter();
    }

    void flush() {
        records.flush();
    }

    /** Builds the index from the records. */
    void rebuild() {
        records.rebuildIndex(INDEX);
    }

    /** Pages of the cache that were asked for so far. */
    long pagesAsked() {
        return total("cache.hits") + total("cache.loads");
    }

    /** Waits until merges have been done for a while. */
    void settle() {
        Clock clock = Clock.system();
        long[] busy = {clock.monotonicNanos()};
        store.environment().tasks().await(() -> {
            long now = clock.monotonicNanos();
            if (total("merge.backlog.bytes") > 0) {
                busy[0] = now;
            }
            return now - busy[0] > SETTLED_NANOS;
        });
    }

    /** The records of a secondary key that are the newest, as one number, whatever their order. */
    long records(ReadView view, long keyNumber, int limit, FetchOptions options) {
        long sum = 0;
        try (RecordStream found = view.fetch(0, newestKeys(view, keyNumber, limit), options)) {
            while (found.next()) {
                sum += Operations.mixed(0, number(found.key()));
                if (found.record().length() < text.length()) {
                    throw new IllegalStateException("a record is too short");
                }
            }
        }
        return sum;
    }

    /** As {@link #records}, by a query. */
    long queried(ReadView view, long keyNumber, int limit, int workers) {
        RunOptions options = RunOptions.defaults()
                .withTasks(store.environment().tasks())
                .withLookupWorkers(workers);
        long sum = 0;
        try (QueryResult found = Query.on(view)
                .where(Predicates.eq("key", keyNumber))
                .newestFirst()
                .limit(limit)
                .usingIndex(INDEX)
                .with(options)
                .run()) {
            for (Map<String, @Nullable Object> row : found) {
                if (!(row.get("id") instanceof Long number)) {
                    throw new IllegalStateException("a row without its key");
                }
                sum += Operations.mixed(0, number);
            }
        }
        return sum;
    }

    /** The newest primary keys of a secondary key, sorted; valid until the next call. */
    KeyBatch newestKeys(ReadView view, long keyNumber, int limit) {
        batch.clear();
        IndexDescription index = view.indexes().getFirst();
        IndexSearch search = search(keyNumber);
        if (kind == Kind.PM) {
            try (ValidSearch found =
                    ValidSearch.open(view, 0, index, search, FilterPredicate.none(), limit)) {
                for (int i = 0; i < limit && found.next(); i++) {
                    add(found.primaryKey(), found.timestamp());
                }
            }
        } else {
            Newest newest = Newest.of(view, index, search, limit);
            for (int i = 0; i < newest.count; i++) {
                id.clear();
                KeyCodec.appendLong(id, newest.numbers[i]);
                add(id.asSlice(slice), newest.times[i]);
            }
        }
        batch.sortDistinct();
        return batch;
    }

    private void add(Slice primaryKey, long timestamp) {
        if (!batch.add(primaryKey, timestamp)) {
            throw new IllegalStateException("too many keys");
        }
    }

    /** How long a record is; 0 if there is none. */
    long get(ReadView view, long recordNumber) {
        id.clear();
        KeyCodec.appendLong(id, recordNumber);
        found.clear();
        return view.get(id.asSlice(slice), found) ? found.asSlice(slice).length() : 0;
    }

    private long total(String name) {
        return store.meters().instruments().stream()
                .filter(instrument -> instrument.name().equals(name))
                .mapToLong(instrument -> ((Reading) instrument).value())
                .sum();
    }

    ReadView openView() {
        return records.openView();
    }

    /** What is asked for by a secondary key's number: newest first where the index can. */
    IndexSearch search(long keyNumber) {
        byte[] key = keys.encode(keyNumber);
        return kind == Kind.PM ? IndexSearch.Newest.of(key) : KeyRange.closed(key, key);
    }

    /** Asks for the newest of one key after the other; by one search where the index can. */
    Asker asker(ReadView view, int limit) {
        return new Asker(this, view, limit);
    }

    /** <em>Confined to one thread.</em> */
    static final class Asker implements AutoCloseable {
        private final StoreRival store;
        private final ReadView view;
        private final int limit;
        private final @Nullable ValidSearch one;
        private final ByteSink key = new ByteSink(16, 16);
        private final Slice keySlice = new Slice();

        private Asker(StoreRival store, ReadView view, int limit) {
            this.store = store;
            this.view = view;
            this.limit = limit;
            this.one = store.kind == Kind.PM
                    ? ValidSearch.open(
                            view,
                            0,
                            view.indexes().getFirst(),
                            store.search(0),
                            FilterPredicate.none(),
                            limit)
                    : null;
        }

        long answer(long keyNumber) {
            ValidSearch search = one;
            if (search == null) {
                return newest(view, store.search(keyNumber), limit);
            }
            key.clear();
            KeyCodec.appendLong(key, keyNumber);
            search.restart(key.asSlice(keySlice), limit);
            return sumOfFirst(search, limit);
        }

        @Override
        public void close() {
            if (one != null) {
                one.close();
            }
        }
    }

    /** The newest records of a secondary key, as one number. */
    static long newest(ReadView view, IndexSearch search, int limit) {
        IndexDescription index = view.indexes().getFirst();
        if (search instanceof IndexSearch.Newest) {
            return newestFirst(view, index, search, limit);
        }
        Newest newest = Newest.of(view, index, search, limit);
        long sum = 0;
        for (int i = 0; i < newest.count; i++) {
            sum = Operations.mixed(sum, newest.numbers[i]);
        }
        return sum;
    }

    /** All records of a secondary key as one number, whatever their order. */
    static long sumOf(ReadView view, IndexSearch search) {
        long sum = 0;
        try (ValidSearch found = ValidSearch.open(
                view, 0, view.indexes().getFirst(), search, FilterPredicate.none())) {
            while (found.next()) {
                sum += Operations.mixed(0, number(found.primaryKey()));
            }
        }
        return sum;
    }

    /** The newest of all entries of a secondary key, for an index without that order. */
    private static final class Newest {
        final long[] times;
        final long[] numbers;
        int count;

        private Newest(int limit) {
            times = new long[limit];
            numbers = new long[limit];
        }

        static Newest of(ReadView view, IndexDescription index, IndexSearch search, int limit) {
            Newest newest = new Newest(limit);
            try (ValidSearch found =
                    ValidSearch.open(view, 0, index, search, FilterPredicate.none())) {
                while (found.next()) {
                    newest.add(found.timestamp(), found);
                }
            }
            return newest;
        }

        private void add(long time, ValidSearch entry) {
            if (count == times.length && time <= times[count - 1]) {
                return;
            }
            int at = count < times.length ? count++ : count - 1;
            while (at > 0 && times[at - 1] < time) {
                times[at] = times[at - 1];
                numbers[at] = numbers[at - 1];
                at--;
            }
            times[at] = time;
            numbers[at] = number(entry.primaryKey());
        }
    }

    private static long newestFirst(
            ReadView view, IndexDescription index, IndexSearch search, int limit) {
        try (ValidSearch found =
                ValidSearch.open(view, 0, index, search, FilterPredicate.none(), limit)) {
            return sumOfFirst(found, limit);
        }
    }

    private static long sumOfFirst(ValidSearch found, int limit) {
        long sum = 0;
        for (int i = 0; i < limit && found.next(); i++) {
            sum = Operations.mixed(sum, number(found.primaryKey()));
        }
        return sum;
    }

    /** The number of a primary key: a byte that tells its length, then the bytes that count. */
    static long number(Slice key) {
        long number = 0;
        for (int i = 1; i < key.length(); i++) {
            number = number << 8 | key.byteAt(i);
        }
        return number;
    }

    @Override
    public void close() {
        store.close();
        Scratch.delete(directory);
    }
}
