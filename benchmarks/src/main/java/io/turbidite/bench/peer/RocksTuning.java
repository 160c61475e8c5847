package io.turbidite.bench.peer;

import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.CompressionType;
import org.rocksdb.DBOptions;
import org.rocksdb.DataBlockIndexType;
import org.rocksdb.FlushOptions;
import org.rocksdb.LRUCache;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

import java.util.concurrent.locks.LockSupport;

/** RocksDB as its users would tune it for records of some hundred bytes. */
public final class RocksTuning {
    private static final long LOOK_NANOS = 1_000_000;

    private RocksTuning() {}

    /**
     * Records by key: Bloom filter of 10 bits a key, blocks of 16 KiB with a hash index. The caller
     * closes all.
     *
     * @param writeMemoryBytes of one memtable; there may be three
     */
    public static ColumnFamilyOptions ofRecords(
            long writeMemoryBytes, LRUCache cache, BloomFilter filter) {
        return new ColumnFamilyOptions()
                .setWriteBufferSize(writeMemoryBytes)
                .setMaxWriteBufferNumber(3)
                .setLevel0FileNumCompactionTrigger(4)
                .setMaxBytesForLevelBase(4 * writeMemoryBytes)
                .setLevelCompactionDynamicLevelBytes(true)
                .setMemtablePrefixBloomSizeRatio(0.1)
                .setMemtableWholeKeyFiltering(true)
                .setCompressionType(CompressionType.NO_COMPRESSION)
                .setTableFormatConfig(new BlockBasedTableConfig()
                        .setBlockCache(cache)
                        .setFilterPolicy(filter)
                        .setBlockSize(16 << 10)
                        .setBlockRestartInterval(4)
                        .setDataBlockIndexType(DataBlockIndexType.kDataBlockBinaryAndHash));
    }

    /**
     * A database that keeps its files open and works in the background on two threads.
     *
     * @param memtableBytesMax of all memtables together; 0 for as many as there may be
     */
    public static DBOptions database(long memtableBytesMax) {
        return new DBOptions()
                .setCreateIfMissing(true)
                .setCreateMissingColumnFamilies(true)
                .setMaxOpenFiles(-1)
                .setMaxBackgroundJobs(2)
                .setDbWriteBufferSize(memtableBytesMax);
    }

    /** Returns when no compaction runs or is due; what lies in memtables may stay there. */
    public static void awaitCompactions(RocksDB db) throws RocksDBException {
        while (db.getAggregatedLongProperty("rocksdb.num-running-compactions") > 0
                || db.getAggregatedLongProperty("rocksdb.compaction-pending") > 0) {
            // not a spin: its CPU would count as RocksDB's
            LockSupport.parkNanos(LOOK_NANOS);
        }
    }

    /** Options of a flush that returns when all is in tables. */
    public static FlushOptions wholeFlush() {
        return new FlushOptions().setWaitForFlush(true);
    }
}
