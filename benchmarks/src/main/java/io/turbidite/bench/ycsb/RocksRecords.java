package io.turbidite.bench.ycsb;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.turbidite.bench.peer.RocksTuning;

import org.rocksdb.BloomFilter;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.FlushOptions;
import org.rocksdb.LRUCache;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.WriteOptions;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * RocksDB with one value a record: its ten values one behind the other, each behind its length.
 * Buffers off the heap, reused; a value is looked at where it lies, and nothing is decoded. The log
 * is on, and written to no disk before a write returns, as is RocksDB's default.
 */
final class RocksRecords implements Records {
    static {
        RocksDB.loadLibrary();
    }

    static final String NAME = "RocksDB";

    private static final int KEY_BYTES_MAX = 64;
    private static final int RECORD_BYTES_MAX = 4 << 10;

    private final List<AutoCloseable> owned = new ArrayList<>();
    private final List<ColumnFamilyHandle> families = new ArrayList<>();
    private final WriteOptions writeOptions = own(new WriteOptions().setSync(false));
    private final ReadOptions readOptions = own(new ReadOptions());
    private final ByteBuffer keyBytes = ByteBuffer.allocateDirect(KEY_BYTES_MAX);
    private final ByteBuffer value = ByteBuffer.allocateDirect(RECORD_BYTES_MAX);
    private final RocksDB db;

    /** Opens the database, or makes it. */
    RocksRecords(Path directory, Budget budget) {
        LRUCache cache = own(new LRUCache(budget.cacheBytes()));
        try {
            db = RocksDB.open(
                    own(RocksTuning.database(budget.writeMemoryBytes())),
                    directory.toString(),
                    List.of(new ColumnFamilyDescriptor(
                            RocksDB.DEFAULT_COLUMN_FAMILY,
                            own(RocksTuning.ofRecords(
                                    budget.writeMemoryBytes(), cache, own(new BloomFilter(10)))))),
                    families);
        } catch (RocksDBException failed) {
            throw new IllegalStateException(failed);
        }
    }

    private <T extends AutoCloseable> T own(T resource) {
        owned.add(resource);
        return resource;
    }

    @Override
    public void insert(String key, Map<String, String> values) {
        value.clear();
        for (String field : FIELDS) {
            byte[] text = Objects.requireNonNull(values.get(field), field).getBytes(US_ASCII);
            value.putInt(text.length).put(text);
        }
        value.flip();
        put(key);
    }

    @Override
    public long read(String key, Depth depth) {
        get(key);
        return number(depth);
    }

    @Override
    public long scan(String first, int rows, Depth depth) {
        long sum = 0;
        try (RocksIterator iterator = db.newIterator(families.getFirst(), readOptions)) {
            iterator.seek(encoded(first));
            for (int i = 0; i < rows && iterator.isValid(); i++) {
                value.clear();
                iterator.value(value);
                sum = sum * 31 + number(depth);
                iterator.next();
            }
            iterator.status();
        } catch (RocksDBException failed) {
            throw new IllegalStateException(failed);
        }
        return sum;
    }

    @Override
    public long update(String key, Map<String, String> values, Depth depth) {
        get(key);
        int end = value.limit();
        long number = number(depth);
        values.forEach((field, text) -> replace(key, FIELDS.indexOf(field), text));
        value.position(0).limit(end);
        put(key);
        return number;
    }

    private void replace(String key, int field, String text) {
        int at = offset(field);
        byte[] bytes = text.getBytes(US_ASCII);
        if (value.getInt(at) != bytes.length) {
            throw new IllegalStateException("%s: a value of %d bytes becomes one of %d"
                    .formatted(key, value.getInt(at), bytes.length));
        }
        value.put(at + Integer.BYTES, bytes);
    }

    private void get(String key) {
        value.clear();
        try {
            int found = db.get(families.getFirst(), readOptions, encoded(key), value);
            if (found == RocksDB.NOT_FOUND || found > RECORD_BYTES_MAX) {
                throw new IllegalStateException(
                        "%s has %d bytes for %s".formatted(NAME, found, key));
            }
        } catch (RocksDBException failed) {
            throw new IllegalStateException(failed);
        }
    }

    private void put(String key) {
        try {
            db.put(families.getFirst(), writeOptions, encoded(key), value);
        } catch (RocksDBException failed) {
            throw new IllegalStateException(failed);
        }
    }

    private ByteBuffer encoded(String key) {
        return keyBytes.clear().put(key.getBytes(US_ASCII)).flip();
    }

    /** Where a value's length lies. */
    private int offset(int field) {
        int at = 0;
        for (int i = 0; i < field; i++) {
            at += Integer.BYTES + value.getInt(at);
        }
        return at;
    }

    private long number(Depth depth) {
        if (depth == Depth.ONE_VALUE) {
            int at = offset(LOOKED_AT);
            int length = value.getInt(at);
            return Records.ofOne(length, value.get(at + Integer.BYTES + length - 1));
        }
        long sum = 0;
        int at = 0;
        for (int i = 0; i < FIELDS.size(); i++) {
            int length = value.getInt(at);
            at += Integer.BYTES;
            // as String.hashCode says
            int hash = 0;
            for (int end = at + length; at < end; at++) {
                hash = hash * 31 + value.get(at);
            }
            sum = sum * 31 + hash;
        }
        return sum;
    }

    @Override
    public void settle() {
        try (FlushOptions wait = RocksTuning.wholeFlush()) {
            db.flush(wait, families);
            RocksTuning.awaitCompactions(db);
        } catch (RocksDBException failed) {
            throw new IllegalStateException(failed);
        }
    }

    @Override
    public void close() {
        families.forEach(ColumnFamilyHandle::close);
        db.close();
        for (AutoCloseable resource : owned.reversed()) {
            try {
                resource.close();
            } catch (Exception failed) {
                throw new IllegalStateException(failed);
            }
        }
    }
}
