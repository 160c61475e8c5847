package io.turbidite.bench.ycsb;

/**
 * What each engine has.
 *
 * @param writeMemoryBytes all memory for writes together
 * @param cacheBytes of pages
 */
record Budget(long writeMemoryBytes, long cacheBytes) {
    private static final long MIB = 1 << 20;

    /** Write memory for a tenth of the data, and a cache for twice as much as there is. */
    static Budget of(long records) {
        return new Budget(Math.max(16, records / 8_000) * MIB, Math.max(64, records / 500) * MIB);
    }

    String says() {
        return "write memory %,d MiB (RocksDB's memtables together, by db_write_buffer_size), cache %,d MiB, each"
                .formatted(writeMemoryBytes / MIB, cacheBytes / MIB);
    }
}
