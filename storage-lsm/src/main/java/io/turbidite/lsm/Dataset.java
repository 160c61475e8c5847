package io.turbidite.lsm;

import io.turbidite.core.DuplicateKeyException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeyForm;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.memory.Pool;
import io.turbidite.core.meter.ReadTally;
import io.turbidite.core.meter.SlowOperations;
import io.turbidite.core.record.RecordBinding;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.QueryMeans;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordBatch;
import io.turbidite.core.scan.RecordScan;
import io.turbidite.core.scan.Source;
import io.turbidite.core.time.Clock;
import io.turbidite.core.type.RecordType;
import io.turbidite.lsm.component.PageOptions;
import io.turbidite.lsm.dataset.MeasuredFacts;
import io.turbidite.lsm.dataset.OpenDataset;
import io.turbidite.lsm.engine.DatasetLoad;
import io.turbidite.lsm.engine.IndexRepair;
import io.turbidite.lsm.engine.SchemaChanges;
import io.turbidite.lsm.entry.Found;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.read.BatchGet;
import io.turbidite.lsm.read.DatasetSample;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.RepairCounts;
import io.turbidite.lsm.schema.RepairOptions;
import io.turbidite.lsm.strategy.advice.Advice;
import io.turbidite.lsm.strategy.advice.Advisor;
import io.turbidite.lsm.write.Operations;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * A named collection of records of one open type, identified by a primary key.
 *
 * <p>Records come as maps, as JSON, or encoded ({@link #newRecordWriter}). Each write returns when
 * it is visible to every reader and as durable as the store's mode says. A read sees the data of
 * the moment when it began.
 *
 * <em>Thread-safe.</em>
 */
public final class Dataset implements Source {
    private final Store store;
    private final OpenDataset opened;
    private final SlowOperations slow;
    private final Pool<RecordScratch> scratches;
    private final Pool<BatchGet> batchGets = new Pool<>(BatchGet::new);

    Dataset(Store store, OpenDataset opened) {
        this.store = store;
        this.slow = SlowOperations.of(store.meters());
        this.opened = opened;
        this.scratches = new Pool<>(() -> new RecordScratch(
                store.engine(),
                opened.schema().type(),
                new ReadTally(slow, store.core().clock())));
    }

    /**
     * Puts a record. It replaces the record with the same primary key, if there is one.
     *
     * @throws InvalidRequestException naming the field, if the record does not fit the type
     */
    public void upsert(Map<String, ? extends @Nullable Object> fields) {
        RecordScratch scratch = scratches.take();
        scratch.begin().upsert(opened, scratch.writer.write(fields));
        write(scratch);
    }

    /**
     * As {@link #upsert}, but returns as soon as the record is visible, as {@link
     * Store#writeAsync} does.
     */
    public Commit upsertAsync(Map<String, ? extends @Nullable Object> fields) {
        RecordScratch scratch = scratches.take();
        scratch.begin().upsert(opened, scratch.writer.write(fields));
        return writeAsync(scratch);
    }

    /** Puts a record given as a JSON object. */
    public void upsertJson(String json) {
        RecordScratch scratch = scratches.take();
        scratch.begin().upsert(opened, scratch.writer.writeJson(utf8(json)));
        write(scratch);
    }

    /** Puts a record encoded by {@link #newRecordWriter}; makes no garbage. */
    public void upsertRecord(Slice record) {
        RecordScratch scratch = scratches.take();
        scratch.begin().upsert(opened, record);
        write(scratch);
    }

    /** As {@link #upsertRecord}, but returns as {@link #upsertAsync} does. */
    public Commit upsertRecordAsync(Slice record) {
        RecordScratch scratch = scratches.take();
        scratch.begin().upsert(opened, record);
        return writeAsync(scratch);
    }

    /**
     * Puts a record whose primary key must be free.
     *
     * @throws DuplicateKeyException if the key is taken; nothing was changed
     */
    public void insert(Map<String, ? extends @Nullable Object> fields) {
        RecordScratch scratch = scratches.take();
        scratch.begin().insert(opened, scratch.writer.write(fields));
        write(scratch);
    }

    /** Puts a record given as a JSON object, whose primary key must be free. */
    public void insertJson(String json) {
        RecordScratch scratch = scratches.take();
        scratch.begin().insert(opened, scratch.writer.writeJson(utf8(json)));
        write(scratch);
    }

    /** Puts an encoded record whose primary key must be free. */
    public void insertRecord(Slice record) {
        RecordScratch scratch = scratches.take();
        scratch.begin().insert(opened, record);
        write(scratch);
    }

    /**
     * Puts a record if its primary key is free. Reads the key, whatever the strategy.
     *
     * @return whether it was free; if not, nothing was changed
     */
    public boolean insertIfAbsent(Map<String, ? extends @Nullable Object> fields) {
        RecordScratch scratch = scratches.take();
        scratch.begin().upsert(opened, scratch.writer.write(fields)).onlyIf(Operations.NO_VERSION);
        return writeIf(scratch);
    }

    /**
     * Puts a record in place of a certain version. Reads the key, whatever the strategy.
     *
     * @param version of {@link #getVersioned}
     * @return whether that version was there; if not, nothing was changed
     */
    public boolean replaceIf(long version, Map<String, ? extends @Nullable Object> fields) {
        RecordScratch scratch = scratches.take();
        scratch.begin().upsert(opened, scratch.writer.write(fields)).onlyIf(existing(version));
        return writeIf(scratch);
    }

    /**
     * Deletes a certain version of a record. Reads the key, whatever the strategy.
     *
     * @param version of {@link #getVersioned}
     * @return whether that version was there; if not, nothing was changed
     */
    public boolean deleteIf(long version, Object... primaryKey) {
        RecordScratch scratch = scratches.take();
        encodeKey(scratch.key, primaryKey).asSlice(scratch.slice);
        scratch.begin().delete(opened, scratch.slice).onlyIf(existing(version));
        return writeIf(scratch);
    }

    /** Puts an encoded record in place of a version, or of none ({@link Operations#NO_VERSION}). */
    boolean putIf(long version, Slice record) {
        RecordScratch scratch = scratches.take();
        scratch.begin().upsert(opened, record).onlyIf(version);
        return writeIf(scratch);
    }

    private static long existing(long version) {
        if (version <= Operations.NO_VERSION) {
            throw new InvalidRequestException("%d is no version of a record".formatted(version));
        }
        return version;
    }

    private boolean writeIf(RecordScratch scratch) {
        store.engine().write(scratch.write);
        boolean isDone = !scratch.write.isRefused();
        scratches.give(scratch);
        return isDone;
    }

    /**
     * Puts what a function makes of a record. Nothing is locked while the function runs: if another
     * write comes in between, it is called again with the newer record.
     *
     * @param change is given the fields of the record, a map of its own, or null if there is none.
     *     It returns those of the new one, with the same primary key, or null to delete the record
     * @return what it returned when the write was done
     * @throws InvalidRequestException if the new record has another primary key
     */
    public @Nullable Map<String, @Nullable Object> compute(
            UnaryOperator<@Nullable Map<String, @Nullable Object>> change, Object... primaryKey) {
        return Changes.compute(this, change, primaryKey);
    }

    /** Deletes the record with this primary key, if there is one. */
    public void delete(Object... primaryKey) {
        RecordScratch scratch = scratches.take();
        encodeKey(scratch.key, primaryKey).asSlice(scratch.slice);
        scratch.begin().delete(opened, scratch.slice);
        write(scratch);
    }

    /** As {@link #delete}, but returns as {@link #upsertAsync} does. */
    public Commit deleteAsync(Object... primaryKey) {
        RecordScratch scratch = scratches.take();
        encodeKey(scratch.key, primaryKey).asSlice(scratch.slice);
        scratch.begin().delete(opened, scratch.slice);
        return writeAsync(scratch);
    }

    private Commit writeAsync(RecordScratch scratch) {
        long sequence = store.engine().writeAsync(scratch.write);
        scratches.give(scratch);
        return new Commit(store.engine().commits(), sequence);
    }

    private void write(RecordScratch scratch) {
        store.engine().write(scratch.write);
        scratches.give(scratch);
    }

    /**
     * The record with this primary key, its fields by name in declared order; null if there is
     * none.
     */
    public @Nullable Map<String, @Nullable Object> get(Object... primaryKey) {
        RecordScratch scratch = scratches.take();
        Slice key = encodeKey(scratch.key, primaryKey).asSlice(scratch.slice);
        Map<String, @Nullable Object> fields = null;
        if (find(key, scratch.reads, scratch.found) == Found.MATTER) {
            fields = scratch.view
                    .wrap(scratch.found.value.asSlice(scratch.slice))
                    .toMap();
        }
        scratches.give(scratch);
        return fields;
    }

    /** As {@link #get}, with the version of the record. */
    public @Nullable VersionedRecord getVersioned(Object... primaryKey) {
        RecordScratch scratch = scratches.take();
        Slice key = encodeKey(scratch.key, primaryKey).asSlice(scratch.slice);
        VersionedRecord versioned = null;
        if (find(key, scratch.reads, scratch.found) == Found.MATTER) {
            long version = scratch.found.timestamp;
            versioned = new VersionedRecord(
                    scratch.view
                            .wrap(scratch.found.value.asSlice(scratch.slice))
                            .toMap(),
                    version);
        }
        scratches.give(scratch);
        return versioned;
    }

    /**
     * Copies the encoded record with this encoded primary key into {@code record}; makes no
     * garbage.
     *
     * @return whether there is such a record
     */
    public boolean getRecord(Slice primaryKey, ByteSink record) {
        RecordScratch scratch = scratches.take();
        boolean there = find(primaryKey, scratch.reads, scratch.foundIn(record)) == Found.MATTER;
        if (!there) {
            record.clear();
        }
        scratches.give(scratch);
        return there;
    }

    /**
     * Gets the records of many encoded primary keys at one moment. For each key, in the order of
     * adding, {@code records} holds its record or says that there is none. Each component is read
     * once, in key order; no key makes garbage.
     *
     * @param keys sorted by this call; a repeated key gets an answer each time
     * @throws InvalidRequestException if {@code records} can't hold all records
     */
    public void getRecords(KeyBatch keys, RecordBatch records) {
        try (ReadView view = openView()) {
            view.get(keys, records);
        }
    }

    /**
     * The records of many primary keys at one moment, each component read once.
     *
     * @param primaryKeys the value of a key of one field, or a list of values
     * @return for each key, in order, its record as {@link #get} gives it
     */
    public List<@Nullable Map<String, @Nullable Object>> getAll(List<?> primaryKeys) {
        return Changes.getAll(this, primaryKeys);
    }

    /**
     * The records whose primary keys are in a range, as they are now, in key order. Close it soon:
     * it keeps old versions alive.
     */
    public RecordScan scan(KeyRange primaryKeys) {
        return RecordScan.owning(openView(), primaryKeys);
    }

    /**
     * Deletes all records whose primary keys are in a range, as they were when this began. Batches
     * of some thousand are atomic each; a record that is put meanwhile into the range may stay.
     *
     * @param primaryKeys of {@link #primaryKeySpec()}: {@code KeyRange.between(spec.encode(1L),
     *     true, spec.encode(9L), false)}
     * @return how many there were
     */
    public long deleteRange(KeyRange primaryKeys) {
        return Changes.deleteRange(store, this, primaryKeys);
    }

    private int find(Slice key, ReadTally reads, Found found) {
        store.checkReadable();
        reads.begin();
        int code = opened.find(key, store.core().timestamps(), found);
        reads.end();
        return code;
    }

    /**
     * The dataset as one of Java records.
     *
     * @param lookup of a class that may call the record's constructor and accessors, usually {@code
     *     MethodHandles.lookup()} beside it
     * @throws InvalidRequestException listing all components and fields that do not fit
     */
    public <R extends Record> TypedDataset<R> typed(MethodHandles.Lookup lookup, Class<R> type) {
        return new TypedDataset<>(this, RecordBinding.of(lookup, type, type()));
    }

    <R extends Record> void upsert(RecordBinding<R> binding, R record) {
        RecordScratch scratch = scratches.take();
        scratch.begin().upsert(opened, binding.write(scratch.writer, record));
        write(scratch);
    }

    <R extends Record> Commit upsertAsync(RecordBinding<R> binding, R record) {
        RecordScratch scratch = scratches.take();
        scratch.begin().upsert(opened, binding.write(scratch.writer, record));
        return writeAsync(scratch);
    }

    <R extends Record> void insert(RecordBinding<R> binding, R record) {
        RecordScratch scratch = scratches.take();
        scratch.begin().insert(opened, binding.write(scratch.writer, record));
        write(scratch);
    }

    <R extends Record> boolean insertIfAbsent(RecordBinding<R> binding, R record) {
        RecordScratch scratch = scratches.take();
        Slice encoded = binding.write(scratch.writer, record);
        scratch.begin().upsert(opened, encoded).onlyIf(Operations.NO_VERSION);
        return writeIf(scratch);
    }

    <R extends Record> @Nullable R get(RecordBinding<R> binding, Object[] primaryKey) {
        RecordScratch scratch = scratches.take();
        Slice key = encodeKey(scratch.key, primaryKey).asSlice(scratch.slice);
        R record = null;
        if (find(key, scratch.reads, scratch.found) == Found.MATTER) {
            record = binding.read(scratch.view.wrap(scratch.found.value.asSlice(scratch.slice)));
        }
        scratches.give(scratch);
        return record;
    }

    /** A reusable writer of encoded records for {@link #upsertRecord}; for one thread. */
    public RecordWriter newRecordWriter() {
        return new RecordWriter(schema().type());
    }

    /** Encodes the values of a primary key. */
    public KeySpec primaryKeySpec() {
        return schema().primaryKey();
    }

    @Override
    public KeyForm keyForm() {
        return schema().primaryKey().form();
    }

    /** Its number in the store: no other dataset ever has it, one of the same name neither. */
    public int id() {
        return schema().id();
    }

    @Override
    public String name() {
        return schema().name();
    }

    @Override
    public RecordType type() {
        return schema().type();
    }

    @Override
    public List<String> primaryKey() {
        return schema().primaryKey().fields();
    }

    @Override
    public List<String> filterFields() {
        return schema().filterFields();
    }

    /** How new components keep their pages, except those of indexes with pages of their own. */
    public PageOptions pages() {
        return schema().components().pages();
    }

    @Override
    public List<IndexDescription> indexes() {
        return DatasetView.describe(schema());
    }

    @Override
    public QueryMeans means() {
        return store.engine().queryMeans();
    }

    @Override
    public ReadView openView() {
        return store.openView(this);
    }

    /**
     * Starts a bulk load of records whose primary keys ascend. The dataset must be empty, and takes
     * no other writes until the loader is closed.
     *
     * @param expectedRecords sizes the Bloom filters; a rough number is good enough, at least 0
     * @throws InvalidRequestException if the dataset holds records, is being loaded, or has a
     *     unique index (create or enable that afterwards: building it checks all keys at once)
     */
    public BulkLoader bulkLoad(long expectedRecords) {
        return new BulkLoader(DatasetLoad.sorted(store.engine(), opened, expectedRecords));
    }

    /**
     * Starts a bulk load of records in any order; otherwise as {@link #bulkLoad}.
     *
     * @throws InvalidRequestException if the dataset holds records, or is being loaded
     */
    public BulkLoader bulkLoadUnsorted(DuplicateKeys duplicates) {
        boolean refusesRepeats = switch (duplicates) {
            case LAST_COUNTS -> false;
            case REFUSED -> true;
        };
        return new BulkLoader(DatasetLoad.unsorted(store.engine(), opened, refusesRepeats));
    }

    /**
     * Creates a secondary index while writers and readers go on. Returns when searches can use it.
     *
     * @throws InvalidRequestException naming what is wrong with the spec, or a record that does not
     *     fit; {@link DuplicateKeyException} if the index is unique and two records have the same
     *     key. Nothing is left of the index
     * @throws io.turbidite.core.StorageIoException if the disk is full; nothing is left of the
     *     index
     */
    public void createIndex(IndexSpec spec) {
        startIndex(spec).await();
    }

    /**
     * Starts to create a secondary index. Returns when writers maintain it. The rest goes on in the
     * background; the handle tells the progress.
     *
     * @throws InvalidRequestException naming what is wrong with the spec
     */
    public IndexBuild startIndex(IndexSpec spec) {
        return new IndexBuild(changes()
                .startIndex(
                        opened,
                        spec.name(),
                        base -> spec.resolve(
                                changes().core().kinds(),
                                base.name(),
                                base.type(),
                                base.primaryKey(),
                                base.catalog().nextId(),
                                base.maintenance(),
                                IndexSchema.State.BUILDING)));
    }

    /**
     * Drops an index, disabled or not. If it is being built, the build stops. Cursors that search
     * the index throw an {@link InvalidRequestException}, or come to their end.
     *
     * @throws InvalidRequestException if no index has that name
     */
    public void dropIndex(String index) {
        changes().dropIndex(opened, index);
    }

    /**
     * Keeps an index's definition and drops the rest. Until the index is enabled again, it is
     * neither maintained nor searched, and a unique index is not enforced.
     *
     * @throws InvalidRequestException if no ready index has that name
     */
    public void disableIndex(String index) {
        changes().disableIndex(opened, index);
    }

    /**
     * Builds a disabled index anew, as {@link #createIndex} does. It stays disabled if that fails.
     */
    public void enableIndex(String index) {
        startEnableIndex(index).await();
    }

    /**
     * Builds a damaged index anew from the records: reads the whole primary, then disables and
     * enables the index. If the build fails after that, the index stays disabled, and a suppressed
     * exception of the failure says so. A unique index is then not enforced.
     *
     * @throws io.turbidite.core.QuarantinedException if a component of the primary is in
     *     quarantine; the index stays as it is
     * @throws io.turbidite.core.CorruptionException if a component of the primary is damaged; the
     *     index stays as it is
     */
    public void rebuildIndex(String index) {
        startRebuildIndex(index).await();
    }

    /** As {@link #startIndex}, for {@link #rebuildIndex}. */
    public IndexBuild startRebuildIndex(String index) {
        return new IndexBuild(changes().startRebuild(opened, index));
    }

    /** As {@link #startIndex}, for a disabled index. */
    public IndexBuild startEnableIndex(String index) {
        return new IndexBuild(changes().startEnable(opened, index));
    }

    private SchemaChanges changes() {
        return store.engine().schemaChanges();
    }

    /** Writes all memory components to disk. Returns when they are there. */
    public void flush() {
        for (Partition partition : opened.partitions()) {
            store.background().flush(partition);
        }
    }

    /**
     * Merges each index of each partition into one component, without what is known to be invalid.
     */
    public void mergeAll() {
        for (Partition partition : opened.partitions()) {
            store.background().mergeAll(partition);
        }
    }

    /**
     * Checks the entries of all indexes that are not eager against the primary's key trees (LUO19
     * §4.4, standalone repair), several indexes at once: what was superseded by what is on disk,
     * and is below every snapshot, is invalidated. Searches pass it over at once, the next merge
     * drops it. Returns when done.
     *
     * @return what was done
     * @throws InvalidRequestException if there is no such index
     */
    public RepairCounts repair() {
        return IndexRepair.ofAll(store.engine(), opened, IndexRepair.options(store.engine()));
    }

    /**
     * As {@link #repair()}, for one index.
     *
     * @throws InvalidRequestException if there is no such index, or it is eager
     */
    public RepairCounts repair(String index) {
        return IndexRepair.ofOne(store.engine(), opened, index);
    }

    /** As {@link #repair()}, with other options than the store's own; for experiments. */
    public RepairCounts repair(RepairOptions options) {
        return IndexRepair.ofAll(store.engine(), opened, options);
    }

    /**
     * Finds obsolete entries by scanning all records of the primary on disk, as DELI does (LUO19
     * §6.5, primary repair). Slower than {@link #repair()}, and it misses what merges have dropped.
     * For comparison.
     *
     * @return what was done
     */
    public RepairCounts repairByRecords() {
        return IndexRepair.runByRecords(store.engine(), opened);
    }

    Store store() {
        return store;
    }

    /** The engine's part of this dataset. */
    OpenDataset opened() {
        return opened;
    }

    /**
     * Says what other maintenance strategies would cost and save this dataset's indexes, by the
     * counts since its creation. Changes nothing.
     */
    public Advice advise() {
        store.checkReadable();
        return Advisor.advise(MeasuredFacts.of(opened, store.core()));
    }

    DatasetSchema schema() {
        return opened.schema();
    }

    DatasetSample sample() {
        return opened.sample();
    }

    List<Partition> partitions() {
        return opened.partitions();
    }

    SlowOperations slow() {
        return slow;
    }

    Clock clock() {
        return store.core().clock();
    }

    Partition partition(long keyHash) {
        return opened.partition(keyHash);
    }

    BatchGet takeBatchGet() {
        return batchGets.take();
    }

    void giveBatchGet(BatchGet lookup) {
        batchGets.give(lookup);
    }

    /** The encoded key of these values, as many as it has fields. */
    byte[] encodeKey(Object... values) {
        return encodeKey(new ByteSink(64, 64 * Limits.KEY_BYTES_MAX), values)
                .asSlice(new Slice())
                .toByteArray();
    }

    private ByteSink encodeKey(ByteSink sink, Object[] values) {
        if (values.length != schema().primaryKey().fields().size()) {
            throw new InvalidRequestException("the primary key of %s is %s: %d values were given"
                    .formatted(schema().name(), schema().primaryKey().fields(), values.length));
        }
        sink.clear();
        schema().primaryKey().appendValues(sink, Arrays.asList(values));
        return sink;
    }

    private static Slice utf8(String json) {
        byte[] bytes = json.getBytes(StandardCharsets.UTF_8);
        return new Slice().set(MemorySegment.ofArray(bytes), 0, bytes.length);
    }

    @Override
    public String toString() {
        return "dataset " + schema().name();
    }
}
