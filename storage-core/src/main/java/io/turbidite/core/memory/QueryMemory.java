package io.turbidite.core.memory;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.QueryMemoryException;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.time.Clock;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

/**
 * The memory that the queries of a store, or of all stores of a runtime, may hold together.
 *
 * <p>A query holds nothing until the first of its operators keeps rows. Then it takes its
 * <em>least</em>, {@link #LEAST_BYTES}, and waits only where not even that is free. What it needs
 * beyond that it is given while there is some; else it spills. A quarter is never given beyond the
 * least, so that one large query leaves room for others, and for those that its own reader asks.
 *
 * <p>A thread that has a result open never waits: it might wait for itself.
 *
 * <p><em>Thread-safe.</em>
 */
public final class QueryMemory {
    /** What a query that keeps rows has for certain. */
    public static final long LEAST_BYTES = 1 << 20;

    /** With less, two queries could not run beside a large one. */
    public static final long BYTES_MIN = 8 * LEAST_BYTES;

    /** The part that is not given beyond the least. */
    private static final int KEPT = 4;

    private static final long WAIT_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final MemoryBudget.Account account;
    private final Tasks tasks;
    private final Clock clock;
    private final long drawnBytesMax;
    private final AtomicLong drawnBytes = new AtomicLong();

    /** Those that have their least; guarded by the monitor. */
    private final List<Share> holders = new ArrayList<>();

    private QueryMemory(MemoryBudget.Account account, Tasks tasks, Clock clock) {
        this.account = account;
        this.tasks = tasks;
        this.clock = clock;
        this.drawnBytesMax = account.bytesMax() - account.bytesMax() / KEPT;
    }

    /**
     * Memory that nobody holds yet.
     *
     * @param account bounds it
     * @param tasks where queries wait for it
     * @throws InvalidRequestException if it is less than {@link #BYTES_MIN}
     */
    public static QueryMemory of(MemoryBudget.Account account, Tasks tasks, Clock clock) {
        if (account.bytesMax() < BYTES_MIN) {
            throw new InvalidRequestException("queryMemoryBytes is %d but must be at least %d"
                    .formatted(account.bytesMax(), BYTES_MIN));
        }
        return new QueryMemory(account, tasks, clock);
    }

    /** The most bytes that all queries hold together. */
    public long bytesMax() {
        return account.bytesMax();
    }

    /** What they hold now. */
    public long bytesUsed() {
        return account.bytesUsed();
    }

    /** The most that they held at once. */
    public long bytesPeak() {
        return account.bytesPeak();
    }

    /**
     * What one query is to hold, nothing so far. It is the calling thread's that reads the result.
     *
     * @param queryBytesMax the most that the query may have, all its operators together
     * @param stop asked while the query waits: once it says true, it ends
     */
    public Share share(long queryBytesMax, BooleanSupplier stop) {
        return new Share(queryBytesMax, stop);
    }

    private void takeLeast(Share share) {
        long from = clock.monotonicNanos();
        while (!account.reserve(LEAST_BYTES)) {
            if (share.stop.getAsBoolean()) {
                throw new CancellationException("the query was stopped");
            }
            if (isReading(share.reader)) {
                throw refusal("and this thread has results of such queries open", share);
            }
            if (clock.monotonicNanos() - from >= WAIT_NANOS) {
                throw refusal("for 10 seconds", share);
            }
            boolean isInterrupted =
                    !tasks.awaitUnlessInterrupted(() -> account.bytesFree() >= LEAST_BYTES
                            || share.readerInterrupted
                            || share.stop.getAsBoolean()
                            || clock.monotonicNanos() - from >= WAIT_NANOS);
            if (isInterrupted || share.readerInterrupted) {
                throw new CancellationException("interrupted while it waited for memory");
            }
        }
        synchronized (this) {
            share.sinceNanos = clock.monotonicNanos();
            holders.add(share);
        }
    }

    private void giveLeast(Share share) {
        synchronized (this) {
            holders.remove(share);
        }
        account.release(LEAST_BYTES);
        tasks.signal();
    }

    private synchronized boolean isReading(Thread thread) {
        return holders.stream().anyMatch(holder -> holder.reader.equals(thread));
    }

    private QueryMemoryException refusal(String why, Share share) {
        return new QueryMemoryException(
                "a query of thread '%s' needs %s, but queries hold %s, %s: close results, raise queryMemoryBytes, or ask again; held by %s"
                        .formatted(
                                share.reader.getName(),
                                ByteSize.format(LEAST_BYTES),
                                held(),
                                why,
                                String.join(", ", holdersNow())));
    }

    private String held() {
        return "%s of %s".formatted(ByteSize.format(bytesUsed()), ByteSize.format(bytesMax()));
    }

    /** Who holds how much, the largest first. */
    private synchronized List<String> holdersNow() {
        long now = clock.monotonicNanos();
        return holders.stream()
                .sorted((a, b) -> Long.compare(b.bytes(), a.bytes()))
                .limit(5)
                .map(holder -> String.format(
                        Locale.ROOT,
                        "a query of thread '%s' (%s for %.1f s)",
                        holder.reader.getName(),
                        ByteSize.format(holder.bytes()),
                        (now - holder.sinceNanos) / 1e9))
                .toList();
    }

    private boolean draw(long bytes) {
        while (true) {
            long before = drawnBytes.get();
            if (bytes > drawnBytesMax - before) {
                return false;
            }
            if (drawnBytes.compareAndSet(before, before + bytes)) {
                break;
            }
        }
        if (account.reserve(bytes)) {
            return true;
        }
        drawnBytes.addAndGet(-bytes);
        return false;
    }

    private void giveBack(long bytes) {
        drawnBytes.addAndGet(-bytes);
        account.release(bytes);
        tasks.signal();
    }

    /**
     * What one query holds. Its operators enter it when they keep rows, and leave it. With the last
     * one that leaves, all is given back.
     *
     * <p><em>Thread-safe.</em>
     */
    public final class Share {
        private final long queryBytesMax;
        private final BooleanSupplier stop;
        private final Thread reader = Thread.currentThread();
        private final AtomicLong leastUsed = new AtomicLong();
        private final AtomicLong drawn = new AtomicLong();
        private long sinceNanos;

        /** Whether whoever waits for the query's workers was interrupted, so that they don't. */
        private volatile boolean readerInterrupted;

        /** Guarded by this share's monitor. */
        private int operators;

        private Share(long queryBytesMax, BooleanSupplier stop) {
            this.queryBytesMax = queryBytesMax;
            this.stop = stop;
        }

        /** The most that the query may have, all its operators together. */
        public long queryBytesMax() {
            return queryBytesMax;
        }

        /**
         * The thread that waits for workers of the query was interrupted: none of them waits for
         * memory any more, as that thread would not.
         */
        public void interruptWaits() {
            readerInterrupted = true;
            tasks.signal();
        }

        /** Those workers have ended: others may wait again. */
        public void allowWaits() {
            readerInterrupted = false;
        }

        /**
         * An operator begins to keep rows. The first one may wait.
         *
         * @throws QueryMemoryException if others hold all of it
         * @throws CancellationException if the query was stopped, or an interrupt ended the wait
         */
        public synchronized void enter() {
            if (operators == 0) {
                takeLeast(this);
            }
            operators++;
        }

        /** An operator has freed what it kept and given it back. */
        public synchronized void leave() {
            operators--;
            if (operators == 0) {
                assert leastUsed.get() == 0 && drawn.get() == 0 : "an operator left with memory";
                giveLeast(this);
            }
        }

        /** Takes up to {@code bytes} of the least; returns how many. */
        public long takeOfLeast(long bytes) {
            while (true) {
                long used = leastUsed.get();
                long taken = Math.min(bytes, LEAST_BYTES - used);
                if (leastUsed.compareAndSet(used, used + taken)) {
                    return taken;
                }
            }
        }

        /** Gives back what {@link #takeOfLeast} gave. */
        public void giveOfLeast(long bytes) {
            leastUsed.addAndGet(-bytes);
        }

        /** Takes more than the least, all of it or nothing; false where queries hold too much. */
        public boolean draw(long bytes) {
            if (!QueryMemory.this.draw(bytes)) {
                return false;
            }
            drawn.addAndGet(bytes);
            return true;
        }

        /** Takes as much as there is of {@code bytes}, halved until it is; returns how much. */
        public long drawUpTo(long bytes) {
            long wanted = bytes;
            while (wanted > 0 && !draw(wanted)) {
                wanted /= 2;
            }
            return wanted;
        }

        /** Gives back what {@link #draw} gave. */
        public void giveBack(long bytes) {
            drawn.addAndGet(-bytes);
            QueryMemory.this.giveBack(bytes);
        }

        /** For messages: what queries hold, in words. */
        public String held() {
            return QueryMemory.this.held();
        }

        private long bytes() {
            return LEAST_BYTES + drawn.get();
        }

        @Override
        public String toString() {
            return "Share[%d bytes, %d operators]".formatted(bytes(), operators);
        }
    }
}
