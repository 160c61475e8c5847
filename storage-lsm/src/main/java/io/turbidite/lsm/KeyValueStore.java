package io.turbidite.lsm;

import static java.util.Objects.requireNonNull;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.Undo;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.RecordScan;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
import java.util.Map;
import java.util.function.BiPredicate;

/**
 * Keys and values that are bytes, in the order of the keys' unsigned bytes: a dataset with two
 * fields, for who comes from RocksDB or LMDB. Atomic, durable and recovered as all writes are.
 *
 * <pre>{@code
 * try (KeyValueStore map = KeyValueStore.open(Path.of("my-map"))) {
 *     map.put(key, value);
 *     byte[] there = map.get(key);
 *     map.forEach(from, to, (k, v) -> true);
 * }
 * }</pre>
 *
 * <p>A store may hold several of them beside other datasets: {@link #in}. <em>Thread-safe.</em> The
 * arrays that are given out are the caller's.
 */
public final class KeyValueStore implements AutoCloseable {
    private static final String KEY = "key";
    private static final String VALUE = "value";
    private static final String NAME = "KeyValues";

    private final Store store;
    private final Dataset dataset;
    private final boolean closesStore;

    private KeyValueStore(Store store, Dataset dataset, boolean closesStore) {
        this.store = store;
        this.dataset = dataset;
        this.closesStore = closesStore;
    }

    /**
     * Opens the one of a directory, made if there is none, with the default options.
     *
     * @throws io.turbidite.core.StoreInUseException if another process, or this one, has it open
     */
    public static KeyValueStore open(Path directory) {
        return open(directory, StoreOptions.defaults());
    }

    /** As {@link #open(Path)}, with options. */
    public static KeyValueStore open(Path directory, StoreOptions options) {
        Store store = Store.open(directory, options);
        try (Undo undo = Undo.of(store::close)) {
            return undo.keep(new KeyValueStore(store, dataset(store, NAME), true));
        }
    }

    /**
     * One in a store that is open, made if there is none; closing it leaves the store open.
     *
     * @param name of its dataset
     * @throws InvalidRequestException if there is a dataset of that name with other fields
     */
    public static KeyValueStore in(Store store, String name) {
        return new KeyValueStore(store, dataset(store, name), false);
    }

    private static Dataset dataset(Store store, String name) {
        return store.openDataset(DatasetSpec.named(name)
                .field(KEY, "bytes")
                .field(VALUE, "bytes")
                .primaryKey(KEY));
    }

    /**
     * Puts a value, in place of the one that the key has.
     *
     * @throws InvalidRequestException if the key has more than about {@value
     *     Limits#KEY_BYTES_MAX} bytes (each of 0, 1 and 2 counts twice), or the value more than
     *     {@value Limits#RECORD_BYTES_MAX}
     */
    public void put(byte[] key, byte[] value) {
        dataset.upsert(fields(key, value));
    }

    /**
     * Puts a value if the key has none.
     *
     * @return whether it had none; if not, nothing was changed
     */
    public boolean putIfAbsent(byte[] key, byte[] value) {
        return dataset.insertIfAbsent(fields(key, value));
    }

    private static Map<String, Object> fields(byte[] key, byte[] value) {
        return Map.of(KEY, requireNonNull(key, KEY), VALUE, requireNonNull(value, VALUE));
    }

    /** The value of a key; null if it has none. */
    public byte @Nullable [] get(byte[] key) {
        Map<String, @Nullable Object> record = dataset.get((Object) requireNonNull(key, KEY));
        return record == null ? null : (byte[]) record.get(VALUE);
    }

    /** Deletes a key with its value, if it has one. */
    public void delete(byte[] key) {
        dataset.delete((Object) requireNonNull(key, KEY));
    }

    /**
     * Deletes all keys in a range; batches of some thousand are atomic each.
     *
     * @param from included; null for the first
     * @param to excluded; null for the end
     * @return how many there were
     */
    public long deleteRange(byte @Nullable [] from, byte @Nullable [] to) {
        return dataset.deleteRange(range(from, to));
    }

    /**
     * Gives the keys and values in a range, as they are now, in order.
     *
     * @param from included; null for the first
     * @param to excluded; null for the end
     * @param consumer returns false when it has seen enough
     */
    public void forEach(
            byte @Nullable [] from, byte @Nullable [] to, BiPredicate<byte[], byte[]> consumer) {
        try (RecordScan scan = dataset.scan(range(from, to))) {
            boolean more = true;
            while (more && scan.next()) {
                RecordView record = scan.record();
                more = consumer.test(bytes(record, KEY), bytes(record, VALUE));
            }
        }
    }

    private static byte[] bytes(RecordView record, String field) {
        return record.getBytes(record.type().indexOf(field)).toByteArray();
    }

    private KeyRange range(byte @Nullable [] from, byte @Nullable [] to) {
        return KeyRange.of(encoded(from), encoded(to));
    }

    private byte @Nullable [] encoded(byte @Nullable [] key) {
        return key == null ? null : dataset.primaryKeySpec().encode((Object) key);
    }

    /** Changes that are made together, with {@link Batch#write}. */
    public Batch newBatch() {
        return new Batch(store.newBatch(), dataset.newRecordWriter());
    }

    /** The store that it is in. */
    public Store store() {
        return store;
    }

    /** The dataset behind it. */
    public Dataset dataset() {
        return dataset;
    }

    /** Closes the store too, if it was opened here. */
    @Override
    public void close() {
        if (closesStore) {
            store.close();
        }
    }

    /** Changes that are made all or not at all. <em>Confined to one thread.</em> */
    public final class Batch {
        private final WriteBatch batch;
        private final RecordWriter writer;

        private Batch(WriteBatch batch, RecordWriter writer) {
            this.batch = batch;
            this.writer = writer;
        }

        /** As {@link KeyValueStore#put}. */
        public Batch put(byte[] key, byte[] value) {
            batch.upsert(dataset, writer.write(fields(key, value)));
            return this;
        }

        /** As {@link KeyValueStore#delete}. */
        public Batch delete(byte[] key) {
            byte[] encoded = dataset.primaryKeySpec().encode((Object) requireNonNull(key, KEY));
            batch.delete(dataset, Slice.of(encoded));
            return this;
        }

        /** Makes the changes; the batch is empty then. */
        public void write() {
            store.write(batch);
            batch.clear();
        }
    }
}
