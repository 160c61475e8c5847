package io.turbidite.lsm.partition;

import io.turbidite.core.memory.MemoryBudget;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.atomic.AtomicLong;

/**
 * What is known of a partition's live versions ({@link LiveBits}), and how much readers would have
 * saved had more been known: whoever asks pays, and a partition that nobody asks has none.
 *
 * <p><em>Thread-safe.</em> One worker at a time looks for more.
 */
public final class LiveVersions {
    /** Candidates after which it is asked how much there is to look at; a handful costs nothing. */
    private static final long ASKED_MIN = 4_096;

    /**
     * A candidate costs a reader 440 ns; a key costs the worker 600 ns in its first pass, and 50 ns
     * once it is compiled (decision 0243).
     */
    private static final long KEYS_PER_CANDIDATE = 2;

    /**
     * What the partitions of a store share.
     *
     * <p><em>Thread-safe.</em>
     */
    public static final class Shared {
        private final MemoryBudget.Account account;
        private volatile long askedMin = ASKED_MIN;
        private volatile long keysPerCandidate = KEYS_PER_CANDIDATE;
        private volatile Runnable whenAsked = () -> {};

        public Shared(MemoryBudget.Account account) {
            this.account = account;
        }

        /** Who is told that somebody may have asked enough. */
        public void whenAsked(Runnable told) {
            whenAsked = told;
        }

        /** For tests: looks as soon as anybody asks. */
        public void lookAtOnce() {
            askedMin = 1;
            keysPerCandidate = Long.MAX_VALUE;
        }

        public MemoryBudget.Account account() {
            return account;
        }
    }

    private final Shared shared;
    private final AtomicLong asked = new AtomicLong();

    /** How many must have asked before it is looked at again. */
    private volatile long lookAfter;

    private volatile @Nullable LiveBits bits;

    private volatile int epoch;

    LiveVersions(Shared shared) {
        this.shared = shared;
    }

    /** What is known; null if nothing is. */
    public @Nullable LiveBits bits() {
        return bits;
    }

    /** So many candidates could not be decided, for want of knowledge of what is on disk. */
    public void asked(long candidates) {
        long before = asked.getAndAdd(candidates);
        long enough = enough();
        if (before < enough && before + candidates >= enough) {
            shared.whenAsked.run();
        }
    }

    private long enough() {
        return Math.max(shared.askedMin, lookAfter);
    }

    /** Whether it should be asked what there is to look at. */
    public boolean isAsked() {
        return asked.get() >= enough();
    }

    /**
     * Whether readers have asked as much as it costs to look at keys; if not, when to ask again.
     *
     * @param keyCount to be looked at
     */
    public boolean isWorth(long keyCount) {
        long price = keyCount / shared.keysPerCandidate;
        if (asked.get() >= price) {
            return true;
        }
        lookAfter = price;
        return false;
    }

    /** Goes up when all is forgotten. */
    public int epoch() {
        return epoch;
    }

    /**
     * More is known now, and what was asked is paid; unless all was forgotten meanwhile.
     *
     * @param since the epoch in which the look began
     * @param now those that are known already, or new ones, which are owned from here on
     */
    public void learn(int since, LiveBits now) {
        synchronized (this) {
            if (since != epoch) {
                now.close();
                return;
            }
            bits = now;
        }
        asked.set(0);
        lookAfter = 0;
    }

    /**
     * A look has failed, or there was nothing to look at.
     *
     * @param again after so many candidates more
     */
    public void lookedInVain(long again) {
        asked.set(0);
        lookAfter = again;
    }

    /** Forgets all: nothing is known any more. What readers have taken stays as it was. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // under the monitor
    public synchronized void forget() {
        LiveBits before = bits;
        bits = null;
        epoch++;
        lookAfter = 0;
        if (before != null) {
            before.close();
        }
    }

    public Shared shared() {
        return shared;
    }
}
