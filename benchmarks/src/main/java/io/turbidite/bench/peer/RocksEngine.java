package io.turbidite.bench.peer;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.log.Durability;

import org.jspecify.annotations.Nullable;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.CompressionType;
import org.rocksdb.DBOptions;
import org.rocksdb.FlushOptions;
import org.rocksdb.LRUCache;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * RocksDB through its Java bindings, tuned as its users would: direct buffers on hot paths, a
 * reused write batch, Bloom filter of 10 bits a key, 16 KiB blocks with a hash index, log on, no
 * sync per write. A secondary index is a column family of (attribute, id), kept by hand: the header
 * of the old record is read, its entry is single-deleted and the new one put where the attribute
 * changed.
 */
public final class RocksEngine implements Engine {
    static {
        RocksDB.loadLibrary();
    }

    private static final int HEADER_BYTES = 4 * Tweet.ATTRIBUTE_COUNT + 8;
    private static final int BATCH = 1_000;
    private static final long LOG_NANOS = 1_000_000;

    private final RocksDB db;
    private final List<ColumnFamilyHandle> families = new ArrayList<>();
    private final List<AutoCloseable> owned = new ArrayList<>();
    private final WriteOptions writeOptions = new WriteOptions().setSync(false);
    private final ReadOptions readOptions = new ReadOptions();
    private final int secondaryCount;
    private final boolean blind;

    /** Flushes the log where a write does not. */
    private final @Nullable Thread flusher;

    private final ByteBuffer key = direct(8);
    private final ByteBuffer value = direct(1 << 10);
    private final ByteBuffer entry = direct(12);

    /**
     * Write memory is the primary's memtable; a secondary's is a quarter of it, and there may be
     * three of each.
     */
    public RocksEngine(PeerOptions options) {
        this(options, false, 0);
    }

    /**
     * @param memtableBytesMax of all memtables together; 0 for as many as there may be
     */
    private RocksEngine(PeerOptions options, boolean blind, long memtableBytesMax) {
        this.blind = blind;
        secondaryCount = options.secondaryCount();
        long writeMemoryBytes = options.writeMemoryBytes();
        LRUCache cache = own(new LRUCache(options.cacheBytes()));
        ColumnFamilyOptions primary =
                own(RocksTuning.ofRecords(writeMemoryBytes, cache, own(new BloomFilter(10))));
        ColumnFamilyOptions secondary = own(new ColumnFamilyOptions())
                .setWriteBufferSize(Math.max(1 << 20, writeMemoryBytes / 4))
                .setCompressionType(CompressionType.NO_COMPRESSION)
                .setTableFormatConfig(new BlockBasedTableConfig().setBlockCache(cache));
        DBOptions database = own(RocksTuning.database(memtableBytesMax))
                .setManualWalFlush(options.durability() == Durability.BUFFERED)
                .setUseDirectReads(options.directIo())
                .setUseDirectIoForFlushAndCompaction(options.directIo());
        List<ColumnFamilyDescriptor> descriptors = new ArrayList<>();
        descriptors.add(new ColumnFamilyDescriptor(RocksDB.DEFAULT_COLUMN_FAMILY, primary));
        for (int i = 0; i < secondaryCount; i++) {
            descriptors.add(new ColumnFamilyDescriptor(("a" + i).getBytes(US_ASCII), secondary));
        }
        try {
            db = RocksDB.open(database, options.directory().toString(), descriptors, families);
        } catch (RocksDBException failed) {
            throw new IllegalStateException(failed);
        }
        flusher = options.durability() == Durability.BUFFERED
                ? Thread.ofPlatform().name("wal-flusher").start(this::flushLog)
                : null;
    }

    /** As Turbidite's log is written under {@link Durability#BUFFERED}: every millisecond. */
    private void flushLog() {
        try {
            while (!Thread.interrupted()) {
                db.flushWal(false);
                LockSupport.parkNanos(LOG_NANOS);
            }
        } catch (RocksDBException failed) {
            throw new IllegalStateException(failed);
        }
    }

    /**
     * One that never reads an old record: its entries stay in the secondary, and whoever searches
     * that must look at the records.
     */
    public static RocksEngine blind(PeerOptions options) {
        return new RocksEngine(options, true, 0);
    }

    /** One that holds no more in memory than the write memory that the others are given. */
    public static RocksEngine bounded(PeerOptions options) {
        return new RocksEngine(options, false, options.writeMemoryBytes());
    }

    private <T extends AutoCloseable> T own(T resource) {
        owned.add(resource);
        return resource;
    }

    private static ByteBuffer direct(int bytes) {
        return ByteBuffer.allocateDirect(bytes).order(ByteOrder.BIG_ENDIAN);
    }

    @Override
    public String name() {
        return "RocksDB";
    }

    @Override
    public Writer newWriter() {
        return new BatchWriter();
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
    public int get(long id) {
        try {
            key.clear().putLong(id).flip();
            value.clear();
            int found = db.get(families.get(0), readOptions, key, value);
            return found == RocksDB.NOT_FOUND ? -1 : value.getInt(0);
        } catch (RocksDBException failed) {
            throw new IllegalStateException(failed);
        }
    }

    @Override
    public Answer scan() {
        long rows = 0;
        long sum = 0;
        try (RocksIterator iterator = db.newIterator(families.get(0), readOptions)) {
            for (iterator.seekToFirst(); iterator.isValid(); iterator.next()) {
                key.clear();
                value.clear();
                iterator.key(key);
                int bytes = iterator.value(value);
                rows++;
                sum += Answer.of(key.getLong(0), value.getInt(0), bytes - HEADER_BYTES);
            }
        }
        return new Answer(rows, sum);
    }

    /**
     * The tweets made at a time or later; the number of each is of its time, its first attribute
     * and its length. There is no index of times: every record is looked at.
     */
    public Answer since(long created) {
        long rows = 0;
        long sum = 0;
        try (RocksIterator iterator = db.newIterator(families.get(0), readOptions)) {
            for (iterator.seekToFirst(); iterator.isValid(); iterator.next()) {
                value.clear();
                int bytes = iterator.value(value);
                long made = value.getLong(4 * Tweet.ATTRIBUTE_COUNT);
                if (made >= created) {
                    rows++;
                    sum += Answer.of(made, value.getInt(0), bytes - HEADER_BYTES);
                }
            }
        }
        return new Answer(rows, sum);
    }

    @Override
    public Answer byAttribute(int low, int high) {
        long[] ids = new long[1 << 10];
        int count = 0;
        try (RocksIterator iterator = db.newIterator(families.get(1), readOptions)) {
            entry.clear().putInt(low).flip();
            for (iterator.seek(entry); iterator.isValid(); iterator.next()) {
                entry.clear();
                iterator.key(entry);
                if (entry.getInt(0) > high) {
                    break;
                }
                if (count == ids.length) {
                    ids = Arrays.copyOf(ids, count * 2);
                }
                // flipped, so that the signed order of the sort is the order of the keys
                ids[count++] = entry.getLong(4) ^ Long.MIN_VALUE;
            }
        }
        Arrays.sort(ids, 0, count);
        return fetch(ids, count);
    }

    /**
     * How many records have their first attribute in a range, both ends included; of a blind one
     * each entry's record is looked at, as only that tells whether the entry is obsolete.
     */
    public long countByAttribute(int low, int high) {
        long count = 0;
        try (RocksIterator iterator = db.newIterator(families.get(1), readOptions)) {
            entry.clear().putInt(low).flip();
            for (iterator.seek(entry); iterator.isValid(); iterator.next()) {
                entry.clear();
                iterator.key(entry);
                int attribute = entry.getInt(0);
                if (attribute > high) {
                    break;
                }
                if (!blind || get(entry.getLong(4)) == attribute) {
                    count++;
                }
            }
        }
        return count;
    }

    private Answer fetch(long[] sorted, int count) {
        long rows = 0;
        long sum = 0;
        List<byte[]> keys = new ArrayList<>(BATCH);
        List<ColumnFamilyHandle> handles = new ArrayList<>(BATCH);
        try {
            for (int at = 0; at < count; at += BATCH) {
                keys.clear();
                handles.clear();
                for (int i = at; i < Math.min(count, at + BATCH); i++) {
                    byte[] bytes = new byte[8];
                    MemorySegment.ofArray(bytes).set(Bytes.I64_BE, 0, sorted[i] ^ Long.MIN_VALUE);
                    keys.add(bytes);
                    handles.add(families.get(0));
                }
                List<byte[]> values = db.multiGetAsList(readOptions, handles, keys);
                for (int i = 0; i < values.size(); i++) {
                    byte[] record = values.get(i);
                    rows++;
                    sum += Answer.of(
                            sorted[at + i] ^ Long.MIN_VALUE,
                            ByteBuffer.wrap(record).getInt(0),
                            record.length - HEADER_BYTES);
                }
            }
        } catch (RocksDBException failed) {
            throw new IllegalStateException(failed);
        }
        return new Answer(rows, sum);
    }

    @Override
    public long diskBytes() {
        try {
            return db.getAggregatedLongProperty("rocksdb.total-sst-files-size");
        } catch (RocksDBException failed) {
            throw new IllegalStateException(failed);
        }
    }

    @Override
    public void close() {
        stopFlusher();
        writeOptions.close();
        readOptions.close();
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

    private void stopFlusher() {
        if (flusher != null) {
            flusher.interrupt();
            try {
                flusher.join();
            } catch (InterruptedException stopped) {
                throw new IllegalStateException(stopped);
            }
        }
    }

    /** Looks the old record up, then writes one batch; its buffers are reused. */
    private final class BatchWriter implements Writer {
        private final WriteBatch batch = own(new WriteBatch());
        private final ByteBuffer id = direct(8);
        private final ByteBuffer oldHeader = direct(HEADER_BYTES);
        private final ByteBuffer record = direct(1 << 10);
        private final ByteBuffer newEntry = direct(12);
        private final ByteBuffer none = direct(0);
        private final byte[] oldEntry = new byte[12];

        @Override
        public void upsert(Tweet tweet) {
            try {
                batch.clear();
                id.clear().putLong(tweet.id).flip();
                int found = RocksDB.NOT_FOUND;
                if (!blind) {
                    oldHeader.clear();
                    found = db.get(families.get(0), readOptions, id, oldHeader);
                    id.rewind();
                }
                for (int i = 0; i < secondaryCount; i++) {
                    maintain(i, found != RocksDB.NOT_FOUND, tweet);
                }
                record.clear();
                for (int attribute : tweet.attributes) {
                    record.putInt(attribute);
                }
                record.putLong(tweet.created);
                MemorySegment.copy(
                        tweet.message.segment(),
                        tweet.message.offset(),
                        MemorySegment.ofBuffer(record.duplicate().clear()),
                        HEADER_BYTES,
                        tweet.message.length());
                record.position(HEADER_BYTES + tweet.message.length()).flip();
                batch.put(families.get(0), id, record);
                db.write(writeOptions, batch);
            } catch (RocksDBException failed) {
                throw new IllegalStateException(failed);
            }
        }

        private void maintain(int index, boolean hadOld, Tweet tweet) throws RocksDBException {
            int attribute = tweet.attributes[index];
            if (hadOld) {
                int old = oldHeader.getInt(4 * index);
                if (old == attribute) {
                    return;
                }
                ByteBuffer.wrap(oldEntry).putInt(old).putLong(tweet.id);
                batch.singleDelete(families.get(1 + index), oldEntry);
            }
            newEntry.clear().putInt(attribute).putLong(tweet.id).flip();
            batch.put(families.get(1 + index), newEntry, none);
        }
    }
}
