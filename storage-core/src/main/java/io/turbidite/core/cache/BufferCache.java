package io.turbidite.core.cache;

import io.turbidite.core.CacheFullException;
import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.memory.NativeMemory;
import io.turbidite.core.meter.Latency;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.SlowOperations;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.time.Clock;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Pages of immutable files in a fixed amount of memory off the heap.
 *
 * <p><em>Thread-safe</em>: see {@link PageFrame} for hits and {@link Slabs} for misses. Owned by
 * the store, or by the runtime that stores {@link #share} it in, which closes it after all cursors
 * and components. Its memory is reserved from the
 * account at once and allocated as pages come.
 *
 * <pre>{@code
 * BufferCache cache = BufferCache.create(budget.account("cache"), 64 << 20, tasks, clock);
 * CachedFile file = cache.register("c-17", pageCount, loader);
 * PageFrame frame = file.pin(3);
 * try {
 *     read(frame.segment());
 * } finally {
 *     frame.unpin();
 * }
 * }</pre>
 *
 * <ol>
 *   <li>Memory held by frames is at most {@code bytesMax}: when all of it is pinned, a miss
 *       waits, then throws.
 *   <li>Background work ({@link #inBackground}) does not wait for readers: it has room of its own
 *       beside, which no reader can pin.
 *   <li>A page that is larger than the cache is read beside it too, each time anew; such pages
 *       together hold at most 128 MiB.
 *   <li>A page that is missed by many threads is loaded by one.
 *   <li>A failed load leaves no frame; each waiting thread tries again and gets its own error.
 *   <li>No lock is held while a page is loaded or waited for.
 * </ol>
 */
public final class BufferCache implements AutoCloseable {
    /** The smallest cache: a few pages of the smallest size. */
    public static final long BYTES_MIN = 64 << 10;

    /** What background work may pin at least while readers pin all frames. */
    private static final long BACKGROUND_BYTES_MIN = 1 << 20;

    /** Seven of the largest records at once, beside a cache that is smaller than one of them. */
    private static final long LARGE_BYTES_MAX = 128 << 20;

    /** Bound while background work runs. */
    private static final ScopedValue<Boolean> BACKGROUND = ScopedValue.newInstance();

    private static final int OWN_ALIGNMENT = 64;

    /** Enough for a scan of many components to read several pages of each at once. */
    private static final long READ_AHEAD_BYTES_MIN = 4 << 20;

    private final MemoryBudget.Account account;
    private final CacheOptions options;
    private final Tasks tasks;
    private final Clock clock;
    private final Slabs slabs;
    private final Latency loadLatency;
    private final SlowOperations slow;
    private final Set<CachedFile> files = ConcurrentHashMap.newKeySet();
    private final Counts counts;
    private final AtomicInteger loadsInFlight = new AtomicInteger();

    /** Whether the memory is another one's, which frees it. */
    private final boolean isShare;

    private final AtomicBoolean closing = new AtomicBoolean();
    private volatile boolean closed;

    /** What caches count together that share their memory. */
    private static final class Counts {
        private final LongAdder loadCount = new LongAdder();
        private final LongAdder failedLoadCount = new LongAdder();
        private final AtomicLong readAheadBytes = new AtomicLong();

        /** Pages that background work has read beside the frames. */
        private final RoomBeside background;

        /** Pages that are larger than all frames together. */
        private final RoomBeside large;

        /** Threads that wait for a load, or for an unpin; unpins look here. */
        private final AtomicInteger waitingCount = new AtomicInteger();

        /** Moves with each unpin that happens while somebody waits. */
        private final AtomicInteger unpinTurn = new AtomicInteger();

        Counts(MemoryBudget.Account account, long bytesMax) {
            background = new RoomBeside(account, Math.max(BACKGROUND_BYTES_MIN, bytesMax / 8));
            large = new RoomBeside(account, LARGE_BYTES_MAX);
        }
    }

    private BufferCache(
            MemoryBudget.Account account,
            CacheOptions options,
            Tasks tasks,
            Clock clock,
            Meters meters) {
        this.account = account;
        this.options = options;
        this.tasks = tasks;
        this.clock = clock;
        this.slabs = new Slabs(options.bytesMax());
        this.counts = new Counts(account, options.bytesMax());
        this.isShare = false;
        this.loadLatency = meters.latency("cache.load");
        this.slow = SlowOperations.of(meters);
        show(meters);
    }

    private BufferCache(BufferCache of, Meters meters) {
        this.account = of.account;
        this.options = of.options;
        this.tasks = of.tasks;
        this.clock = of.clock;
        this.slabs = of.slabs;
        this.counts = of.counts;
        this.isShare = true;
        this.loadLatency = meters.latency("cache.load");
        this.slow = SlowOperations.of(meters);
        show(meters);
    }

    private void show(Meters meters) {
        meters.gauge("cache.bytes", () -> statistics().bytesHeld());
        meters.gauge("cache.frames", () -> statistics().frameCount());
        meters.gauge("cache.frames.pinned", () -> statistics().pinnedFrameCount());
        meters.gauge("cache.readahead.bytes", counts.readAheadBytes::get);
        meters.gauge("cache.background.bytes", counts.background::bytes);
        meters.gauge("cache.large.bytes", counts.large::bytes);
        meters.total("cache.hits", () -> statistics().hitCount());
        meters.total("cache.loads", () -> statistics().loadCount());
        meters.total("cache.evictions", () -> statistics().evictionCount());
    }

    /**
     * The same memory for the files of another store, which closes what it gets. Its waits for
     * pages are the store's, and so is how long they took to load; all else is counted once, and
     * shown by each.
     *
     * @param meters the store's
     */
    public BufferCache share(Meters meters) {
        return new BufferCache(this, meters);
    }

    /** A cache with default options and meters of its own. */
    public static BufferCache create(
            MemoryBudget.Account account, long bytesMax, Tasks tasks, Clock clock) {
        return create(account, CacheOptions.of(bytesMax), tasks, clock, new Meters());
    }

    /**
     * An empty cache.
     *
     * @param account charged with {@code options.bytesMax()} until close
     * @throws InvalidRequestException if the account has less
     */
    public static BufferCache create(
            MemoryBudget.Account account,
            CacheOptions options,
            Tasks tasks,
            Clock clock,
            Meters meters) {
        if (!account.reserve(options.bytesMax())) {
            throw new InvalidRequestException(
                    "a buffer cache of %d bytes does not fit into the memory budget (%s)"
                            .formatted(options.bytesMax(), account));
        }
        return new BufferCache(account, options, tasks, clock, meters);
    }

    /**
     * Makes room for a file's page numbers; loads nothing.
     *
     * @param name the file's, for errors
     */
    public CachedFile register(String name, int pageCount, PageLoader loader) {
        CachedFile file = new CachedFile(this, name, pageCount, loader);
        files.add(file);
        if (closed) {
            files.remove(file);
            throw new ClosedException("the buffer cache");
        }
        return file;
    }

    public long bytesMax() {
        return options.bytesMax();
    }

    /**
     * Runs a step of background work. Where readers pin all frames, the pages that it misses are
     * read into memory beside them and given back with the unpin: so that no reader can hold it up.
     */
    public static boolean inBackground(BooleanSupplier step) {
        return ScopedValue.where(BACKGROUND, true).call(step::getAsBoolean);
    }

    /** What all readers together may hold to read ahead, beside the frames. */
    public long readAheadBytesMax() {
        return Math.max(READ_AHEAD_BYTES_MIN, options.bytesMax() / 8);
    }

    /**
     * Takes room for pages that are read before they are asked for; {@link #releaseReadAhead} gives
     * it back.
     *
     * @return whether there was room
     */
    public boolean reserveReadAhead(long bytes) {
        if (counts.readAheadBytes.addAndGet(bytes) <= readAheadBytesMax()
                && account.reserve(bytes)) {
            return true;
        }
        counts.readAheadBytes.addAndGet(-bytes);
        return false;
    }

    public void releaseReadAhead(long bytes) {
        counts.readAheadBytes.addAndGet(-bytes);
        account.release(bytes);
    }

    public CacheStatistics statistics() {
        return slabs.statistics(counts.loadCount.sum(), counts.failedLoadCount.sum());
    }

    /**
     * Closes every file, waits for loads under way, and frees the memory, that of pinned frames
     * too: reading such a segment later throws {@link IllegalStateException}. A {@link #share}
     * gives back what its files had, each frame at its last unpin.
     */
    @Override
    public void close() {
        if (closing.getAndSet(true)) {
            return;
        }
        closed = true;
        for (CachedFile file : files) {
            file.close();
        }
        if (loadsInFlight.get() > 0) {
            await(() -> loadsInFlight.get() == 0);
        }
        if (!isShare) {
            slabs.close();
            account.release(options.bytesMax());
        }
    }

    /** For tests, while nobody pins or loads. */
    void checkInvariants() {
        slabs.checkInvariants();
    }

    void unregister(CachedFile file) {
        files.remove(file);
    }

    boolean isAwaited() {
        return counts.waitingCount.get() != 0;
    }

    /** After an unpin that left work to do: somebody waits, or the frame is doomed. */
    void unpinned(PageFrame frame) {
        if (frame.isDoomed() && !frame.isPinned()) {
            slabs.reclaim(frame);
            freeOwn(frame);
        }
        if (isAwaited()) {
            counts.unpinTurn.incrementAndGet();
            tasks.signal();
        }
    }

    void awaitLoaded(PageFrame frame) {
        long start = clock.monotonicNanos();
        await(() -> !frame.isLoading());
        slow.waited(SlowOperations.Cause.PAGE_READS, start, clock.monotonicNanos() - start);
    }

    /**
     * Loads the frame's page into a slot and publishes it. Steps 1 to 3 undo themselves when they
     * fail.
     */
    void load(PageFrame frame, PageLoader loader) {
        loadsInFlight.incrementAndGet();
        boolean loaded = false;
        try {
            // 1. only while open: close() waits for the loads that it sees
            if (closed) {
                throw new ClosedException("the buffer cache");
            }
            // 2. memory
            int pageBytes = loader.pageBytes(frame.page);
            MemorySegment segment = takeMemory(frame, pageBytes);
            // 3. bytes
            long start = clock.monotonicNanos();
            loader.load(frame.page, segment);
            long nanos = clock.monotonicNanos() - start;
            loadLatency.record(nanos);
            slow.waited(SlowOperations.Cause.PAGE_READS, start, nanos);
            // 4. everyone may read it
            counts.loadCount.increment();
            frame.publish(segment);
            loaded = true;
        } finally {
            if (!loaded) {
                counts.failedLoadCount.increment();
                slabs.abandon(frame);
                freeOwn(frame);
            }
            loadsInFlight.decrementAndGet();
            if (isAwaited()) {
                counts.unpinTurn.incrementAndGet();
                tasks.signal();
            }
        }
    }

    /** Memory for a page, in the cache or beside it. */
    private MemorySegment takeMemory(PageFrame frame, int pageBytes) {
        if (pageBytes <= 0 || pageBytes > SizeClasses.PAGE_BYTES_MAX) {
            throw new IllegalArgumentException(
                    "page %d of %s has %d bytes".formatted(frame.page, frame.file, pageBytes));
        }
        int sizeClass = SizeClasses.of(pageBytes);
        if (SizeClasses.bytes(sizeClass) > options.bytesMax()) {
            RoomBeside room = BACKGROUND.isBound() && counts.background.take(pageBytes)
                    ? counts.background
                    : awaitRoom(() -> counts.large.take(pageBytes) ? counts.large : null);
            return ownMemory(frame, pageBytes, room);
        }
        Slot slot = slabs.take(frame, sizeClass);
        if (slot == null && BACKGROUND.isBound() && counts.background.take(pageBytes)) {
            return ownMemory(frame, pageBytes, counts.background);
        }
        if (slot == null) {
            slot = awaitRoom(() -> slabs.take(frame, sizeClass));
        }
        return slot.memory.asSlice(0, pageBytes);
    }

    /** Memory that the frame has for itself: nobody else finds it, the unpin frees it. */
    private MemorySegment ownMemory(PageFrame frame, int pageBytes, RoomBeside room) {
        Arena arena = NativeMemory.shared("a page beside the buffer cache");
        MemorySegment memory = null;
        try {
            memory = NativeMemory.allocate(arena, pageBytes, OWN_ALIGNMENT);
        } finally {
            if (memory == null) {
                arena.close();
                room.release(pageBytes);
            }
        }
        frame.own(arena, pageBytes, room);
        frame.doom();
        frame.file.forget(frame);
        return memory;
    }

    private void freeOwn(PageFrame frame) {
        if (frame.isDead()) {
            frame.closeOwn();
        }
    }

    /** What {@code attempt} takes, once somebody has unpinned enough for it. */
    private <T> T awaitRoom(Supplier<@Nullable T> attempt) {
        long start = clock.monotonicNanos();
        long waitNanosMax = options.fullWaitMicros() * 1_000;
        counts.waitingCount.incrementAndGet();
        try {
            while (true) {
                // read before the attempt, so that an unpin after the attempt moves it
                int turn = counts.unpinTurn.get();
                T taken = attempt.get();
                if (taken != null) {
                    return taken;
                }
                if (closed) {
                    throw new ClosedException("the buffer cache");
                }
                if (clock.monotonicNanos() - start >= waitNanosMax) {
                    throw new CacheFullException(options.bytesMax(), options.fullWaitMicros());
                }
                tasks.await(() -> counts.unpinTurn.get() != turn
                        || closed
                        || clock.monotonicNanos() - start >= waitNanosMax);
            }
        } finally {
            counts.waitingCount.decrementAndGet();
        }
    }

    private void await(BooleanSupplier condition) {
        counts.waitingCount.incrementAndGet();
        try {
            tasks.await(condition);
        } finally {
            counts.waitingCount.decrementAndGet();
        }
    }
}
