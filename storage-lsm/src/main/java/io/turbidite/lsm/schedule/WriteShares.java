package io.turbidite.lsm.schedule;

import io.turbidite.core.time.Clock;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What the stores of a runtime hold in write memory that is not on disk yet, and which of them
 * flushes next when it gets short.
 *
 * <p><em>Fair by size and age</em>: the turn is the store's with the most bytes that no flush has
 * taken yet, and each {@value #AGE_SECONDS} s since its last flush count as much as its bytes once
 * more. So a store that is written to flushes for what it holds itself, and what a cold one holds
 * is taken too, the sooner the more it is. A store whose flush fails or finds nothing is passed
 * over, so that it keeps nobody from flushing.
 *
 * <p><em>Thread-safe.</em> A writer adds to two counters for each {@code GRAIN_BYTES} of a layer.
 */
public final class WriteShares {
    static final int AGE_SECONDS = 10;

    private static final double AGE_NANOS = AGE_SECONDS * 1e9;

    /** A store that had nothing to flush is passed over for as long. */
    private static final long DECLINED_NANOS = 100_000_000;

    private final Clock clock;
    private final long bytesMax;
    private final AtomicLong unflushedBytes = new AtomicLong();
    private final AtomicLong flushedBytes = new AtomicLong();
    private final List<Share> shares = new CopyOnWriteArrayList<>();

    /**
     * Nobody's yet.
     *
     * @param bytesMax where the writers of all stores stop
     */
    public WriteShares(Clock clock, long bytesMax) {
        this.clock = clock;
        this.bytesMax = bytesMax;
    }

    /**
     * A store comes; to be closed with it.
     *
     * @param store for errors
     */
    public Share join(String store) {
        Share share = new Share(store);
        shares.add(share);
        return share;
    }

    /** The write memory of all stores together, in bytes. */
    public long bytesMax() {
        return bytesMax;
    }

    /** Of all stores. */
    public long unflushedBytes() {
        return unflushedBytes.get();
    }

    /** What was put into memory layers of all stores since the runtime began. */
    public long writtenBytes() {
        return flushedBytes.get() + unflushedBytes.get();
    }

    /** Whose turn it is; null if nobody can flush. */
    private @Nullable Share next() {
        Share next = null;
        double most = 0;
        long now = clock.monotonicNanos();
        for (Share share : shares) {
            double weight = share.weight(now);
            if (weight > most) {
                most = weight;
                next = share;
            }
        }
        return next;
    }

    @Override
    public String toString() {
        return "WriteShares[%d of %d bytes, %s]".formatted(unflushedBytes(), bytesMax, shares);
    }

    /** One store's. <em>Thread-safe.</em> */
    public final class Share implements AutoCloseable {
        private final String store;
        private final AtomicLong bytes = new AtomicLong();

        /** Taken by the flush that is under way. */
        private volatile long flushingBytes;

        /** The last flush began then, or the first bytes came. */
        private volatile long sinceNanos;

        private volatile long beganNanos;
        private volatile long declinedUntilNanos;
        private volatile boolean declined;
        private volatile @Nullable Runnable flusher;
        private volatile @Nullable Throwable trouble;

        private Share(String store) {
            this.store = store;
        }

        /** What all stores share. */
        public WriteShares all() {
            return WriteShares.this;
        }

        /** The store's, for errors. */
        public String store() {
            return store;
        }

        /** What is done when it is this store's turn. */
        public void onTurn(Runnable wakeFlusher) {
            flusher = wakeFlusher;
        }

        /** A layer has grown, or was flushed or dropped. */
        public void add(long delta) {
            if (bytes.addAndGet(delta) == delta && delta > 0) {
                sinceNanos = clock.monotonicNanos();
            }
            unflushedBytes.addAndGet(delta);
        }

        /** Of this store. */
        public long unflushedBytes() {
            return bytes.get();
        }

        /** What flushes of the others that are under way will give back. */
        public long flushingOfOthers() {
            long sum = 0;
            for (Share share : shares) {
                if (share != this) {
                    sum += share.flushingBytes;
                }
            }
            return sum;
        }

        /** A flush has begun that will give back so much. */
        public void flushing(long layerBytes) {
            if (flushingBytes == 0) {
                beganNanos = clock.monotonicNanos();
                flushingBytes = layerBytes;
            }
        }

        /**
         * The flush is over.
         *
         * @param layerBytes what it gave back; 0 if it failed
         */
        public void flushed(long layerBytes) {
            flushingBytes = 0;
            if (layerBytes > 0) {
                flushedBytes.addAndGet(layerBytes);
                sinceNanos = beganNanos;
                trouble = null;
            }
        }

        /** Whether this store should flush, rather than another one. */
        public boolean isTurn() {
            if (shares.size() < 2 || trouble != null) {
                return true; // who fails goes by its own pauses
            }
            Share next = next();
            return next == null || next == this;
        }

        /** Wakes the store whose turn it is, if it is not this one. */
        public void wakeNext() {
            Share next = next();
            Runnable wake = next == null || next == this ? null : next.flusher;
            if (wake != null) {
                wake.run();
            }
        }

        /** It was asked and had nothing that it could flush. */
        public void decline() {
            declinedUntilNanos = clock.monotonicNanos() + DECLINED_NANOS;
            declined = true;
        }

        /** The store can't flush; null if it can again. */
        public void trouble(@Nullable Throwable cause) {
            trouble = cause;
        }

        /** Why the store can't flush; null if it can. */
        public @Nullable Throwable trouble() {
            return trouble;
        }

        /** Another store that holds memory and can't flush it; null if there is none. */
        public @Nullable Share otherInTrouble() {
            for (Share share : shares) {
                if (share != this && share.trouble != null && share.bytes.get() > 0) {
                    return share;
                }
            }
            return null;
        }

        private double weight(long now) {
            if (trouble != null) {
                return 0;
            }
            if (declined) {
                if (now - declinedUntilNanos < 0) {
                    return 0;
                }
                declined = false;
            }
            long left = bytes.get() - flushingBytes;
            return left <= 0 ? 0 : left * (1 + Math.max(0, now - sinceNanos) / AGE_NANOS);
        }

        /** The store goes: what it holds is nobody's any more. */
        @Override
        public void close() {
            if (shares.remove(this)) {
                unflushedBytes.addAndGet(-bytes.getAndSet(0));
            }
        }

        @Override
        public String toString() {
            return "%s: %d bytes".formatted(store, bytes.get());
        }
    }
}
