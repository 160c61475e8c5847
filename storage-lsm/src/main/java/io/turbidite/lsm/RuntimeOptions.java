package io.turbidite.lsm;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.memory.QueryMemory;

/**
 * Budgets that the stores of a {@link StoreRuntime} share. <em>Immutable.</em> A value out of range
 * is refused with an {@link InvalidRequestException} that names the option.
 *
 * @param writeMemoryBytes memory components of all stores together, at least 1 MiB. Change it as
 *     that of {@link StoreOptions}, for the sum of what all stores write
 * @param cacheBytes the buffer cache of all stores, at least 1 MiB. Change it as that of {@link
 *     StoreOptions}
 * @param queryMemoryBytes what all queries of all stores hold together of the rows that they sort,
 *     group and join, at least 8 MiB; 0: a quarter of the write memory, and 16 MiB at least. What
 *     does not fit is spilled. Raise it when queries spill much, or are refused with a {@link
 *     io.turbidite.core.QueryMemoryException}
 * @param ioBytesPerSecond the most that flushes and merges of all stores together may write a
 *     second, at least 64 KiB; 0 for no limit. Set it when reads, or others on the device, suffer
 *     from merges
 */
public record RuntimeOptions(
        long writeMemoryBytes, long cacheBytes, long queryMemoryBytes, long ioBytesPerSecond) {
    private static final long MIB = 1 << 20;
    private static final long IO_BYTES_MIN = 64 << 10;

    public RuntimeOptions {
        require(writeMemoryBytes >= MIB, "writeMemoryBytes", writeMemoryBytes, "at least 1 MiB");
        require(cacheBytes >= MIB, "cacheBytes", cacheBytes, "at least 1 MiB");
        require(
                queryMemoryBytes == 0 || queryMemoryBytes >= QueryMemory.BYTES_MIN,
                "queryMemoryBytes",
                queryMemoryBytes,
                "at least 8 MiB, or 0 for a quarter of the write memory");
        require(
                ioBytesPerSecond == 0 || ioBytesPerSecond >= IO_BYTES_MIN,
                "ioBytesPerSecond",
                ioBytesPerSecond,
                "at least 64 KiB, or 0 for no limit");
    }

    /** 128 MiB to write in, 256 MiB of cache, no limit for I/O. */
    public static RuntimeOptions defaults() {
        return new RuntimeOptions(128 * MIB, 256 * MIB, 0, 0);
    }

    /** The same with another {@link #writeMemoryBytes}. */
    public RuntimeOptions withWriteMemoryBytes(long bytes) {
        return new RuntimeOptions(bytes, cacheBytes, queryMemoryBytes, ioBytesPerSecond);
    }

    /** The same with another {@link #cacheBytes}. */
    public RuntimeOptions withCacheBytes(long bytes) {
        return new RuntimeOptions(writeMemoryBytes, bytes, queryMemoryBytes, ioBytesPerSecond);
    }

    /** The same with another {@link #queryMemoryBytes}. */
    public RuntimeOptions withQueryMemoryBytes(long bytes) {
        return new RuntimeOptions(writeMemoryBytes, cacheBytes, bytes, ioBytesPerSecond);
    }

    /** The same with another {@link #ioBytesPerSecond}. */
    public RuntimeOptions withIoBytesPerSecond(long bytes) {
        return new RuntimeOptions(writeMemoryBytes, cacheBytes, queryMemoryBytes, bytes);
    }

    private static void require(boolean holds, String name, long value, String rule) {
        if (!holds) {
            throw new InvalidRequestException(
                    "%s is %d but must be %s".formatted(name, value, rule));
        }
    }
}
