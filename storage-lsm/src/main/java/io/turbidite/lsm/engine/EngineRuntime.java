package io.turbidite.lsm.engine;

import io.turbidite.core.Cleanup;
import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.cache.BufferCache;
import io.turbidite.core.cache.CacheOptions;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.memory.QueryMemory;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.time.Clock;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.schedule.IoBudget;
import io.turbidite.lsm.schedule.WriteShares;
import io.turbidite.lsm.strategy.bitmap.MutableValidityBitmap;

import java.util.ArrayList;
import java.util.List;

/**
 * What stores of a process share: buffer cache, write memory, I/O budget and the accounts of all
 * memory off the heap. A store that was given none has one of its own, so there is one way for
 * both.
 *
 * <p>A store that is closed has given everything back: no cursor reads any more, so its layers'
 * chunks are free for the others, and so are its pages.
 *
 * <p><em>Thread-safe.</em> Closed after all its stores.
 */
public final class EngineRuntime implements AutoCloseable {
    /** The part of the write memory that merges may take besides, for build concurrency. */
    private static final int BUILD_CONCURRENCY_SHARE = 4;

    /** Of the write memory: bits for eight times as many versions as it has bytes for. */
    private static final int LIVE_VERSIONS_SHARE = 16;

    /**
     * The part of the cache, or of the write memory if that is more, that regions may take besides
     * for their tables of obsolete keys: these are asked by readers, and 48 bytes a key.
     */
    private static final int REGIONS_SHARE = 4;

    /** The part of the write memory that queries may hold, unless somebody says how much. */
    private static final int QUERIES_SHARE = 4;

    private static final long QUERIES_BYTES_MIN = 16 << 20;

    private static final String CACHE = "buffer cache";
    private static final String WRITE_MEMORY = "write memory";

    private final Budgets budgets;
    private final MemoryBudget memory = MemoryBudget.of(Long.MAX_VALUE);
    private final BufferCache cache;
    private final WriteMemory writeMemory;
    private final MutableValidityBitmap.Memory bitmaps;
    private final MemoryBudget.Account builds;
    private final MemoryBudget.Account regions;
    private final MemoryBudget.Account liveVersions;
    private final MemoryBudget.Account directIo;
    private final QueryMemory queries;
    private final WriteShares shares;
    private final IoBudget io;

    /** The stores that are open, as they came; guarded by the monitor. */
    private final List<String> stores = new ArrayList<>();

    /** Guarded by the monitor. */
    private boolean closed;

    /**
     * How much of what.
     *
     * @param queryMemoryBytes 0 for {@link #QUERIES_SHARE} of the write memory, and {@link
     *     #QUERIES_BYTES_MIN} at least
     * @param ioBytesPerSecond 0 for no limit
     */
    public record Budgets(
            long writeMemoryBytes, long cacheBytes, long queryMemoryBytes, long ioBytesPerSecond) {
        static Budgets of(EngineOptions options) {
            return new Budgets(
                    options.writeMemoryBytes(),
                    options.cacheBytes(),
                    options.queryMemoryBytes(),
                    options.background().ioBytesPerSecond());
        }
    }

    private EngineRuntime(Tasks tasks, Clock clock, Meters meters, Budgets budgets) {
        this.budgets = budgets;
        this.cache = BufferCache.create(
                memory.account(CACHE), CacheOptions.of(budgets.cacheBytes()), tasks, clock, meters);
        long writeBytes = budgets.writeMemoryBytes();
        this.writeMemory = new WriteMemory(memory.account(WRITE_MEMORY), writeBytes);
        this.bitmaps = new MutableValidityBitmap.Memory(
                memory.account("live bitmaps"), memory.account("invalidation times"));
        this.builds = memory.account("build concurrency", writeBytes / BUILD_CONCURRENCY_SHARE);
        this.regions = memory.account(
                "regions", Math.max(writeBytes, budgets.cacheBytes()) / REGIONS_SHARE);
        this.liveVersions = memory.account("live versions", writeBytes / LIVE_VERSIONS_SHARE);
        this.directIo = memory.account("direct I/O");
        long queryBytes = budgets.queryMemoryBytes() > 0
                ? budgets.queryMemoryBytes()
                : Math.max(QUERIES_BYTES_MIN, writeBytes / QUERIES_SHARE);
        this.queries = QueryMemory.of(memory.account("queries", queryBytes), tasks, clock);
        this.shares = new WriteShares(clock, writeBytes);
        this.io = new IoBudget(clock, budgets.ioBytesPerSecond());
        show(meters);
    }

    /**
     * The runtime of one store.
     *
     * @param tasks the store's
     * @param meters the store's
     */
    static EngineRuntime ofOne(Tasks tasks, Clock clock, Meters meters, Budgets budgets) {
        return new EngineRuntime(tasks, clock, meters, budgets);
    }

    /**
     * A runtime that stores come to.
     *
     * @param tasks who waits for pages waits there; they are to be closed after it
     */
    public static EngineRuntime shared(Tasks tasks, Clock clock, Meters meters, Budgets budgets) {
        EngineRuntime runtime = new EngineRuntime(tasks, clock, meters, budgets);
        meters.gauge("memory.unflushed.bytes", runtime.shares::unflushedBytes);
        return runtime;
    }

    /** Shows what is held of it, of all stores together, among a store's instruments. */
    void show(Meters meters) {
        meters.gauge("memory.used.bytes", memory::bytesUsed);
        meters.gauge("memory.budget.bytes", this::budgetBytes);
        meters.gauge("memory.queries.bytes", queries::bytesUsed);
        meters.bound("queryMemoryBytes", queries.bytesMax());
    }

    /**
     * The sum of what the parts of {@code memory.used.bytes} may hold. What grows with the records
     * alone, and what is past its bound since a reader keeps it, counts as it is: the sum is never
     * less than what is used.
     */
    private long budgetBytes() {
        long bytes = 0;
        for (MemoryBudget.Account part : memory.accounts()) {
            bytes += Math.max(
                    part.bytesUsed(),
                    switch (part.owner()) {
                        case CACHE -> budgets.cacheBytes();
                        case WRITE_MEMORY -> budgets.writeMemoryBytes();
                        default -> part.bytesMax() == memory.bytesMax() ? 0 : part.bytesMax();
                    });
        }
        return bytes;
    }

    /**
     * A store is about to be opened.
     *
     * @param store its directory
     * @return to be run once, when it is closed
     * @throws ClosedException if the runtime is closed
     */
    synchronized Runnable enter(String store) {
        if (closed) {
            throw new ClosedException("the store runtime");
        }
        stores.add(store);
        return () -> leave(store);
    }

    private synchronized void leave(String store) {
        stores.remove(store);
    }

    /** The directories of those that are open, as they came. */
    public synchronized List<String> stores() {
        return List.copyOf(stores);
    }

    public Budgets budgets() {
        return budgets;
    }

    BufferCache cache() {
        return cache;
    }

    WriteShares shares() {
        return shares;
    }

    IoBudget io() {
        return io;
    }

    /** Pays for the buffers of direct I/O. */
    MemoryBudget.Account directIo() {
        return directIo;
    }

    /** What queries hold together. */
    public QueryMemory queries() {
        return queries;
    }

    /** All accounts of memory off the heap. */
    public MemoryBudget memory() {
        return memory;
    }

    /** What a store's memory comes from. */
    StoreCore.Memory memoryOf(BufferCache own, WriteShares.Share unflushed) {
        return new StoreCore.Memory(
                own, writeMemory, bitmaps, builds, regions, liveVersions, unflushed);
    }

    /**
     * Frees everything; a second time nothing happens.
     *
     * @throws InvalidRequestException if stores are open that share it: all of them are named, and
     *     nothing has happened
     */
    @Override
    public void close() {
        synchronized (this) {
            if (!stores.isEmpty()) {
                throw new InvalidRequestException(
                        "the store runtime can't be closed: %d of its stores are open (%s); close them first"
                                .formatted(stores.size(), String.join(", ", stores)));
            }
            if (closed) {
                return;
            }
            closed = true;
        }
        new Cleanup().add(cache::close).add(writeMemory::close).run();
    }
}
