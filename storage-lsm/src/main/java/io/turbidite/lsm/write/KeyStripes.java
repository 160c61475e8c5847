package io.turbidite.lsm.write;

import io.turbidite.core.meter.SlowOperations;
import io.turbidite.core.meter.SlowOperations.Cause;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.time.Clock;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Exclusive locks on stripes of keys: two writers of one key never overlap; what one reads under
 * its stripe stays true until it lets go. A batch takes its stripes in ascending order.
 *
 * <p><em>Thread-safe.</em> Not reentrant.
 */
final class KeyStripes {
    /**
     * Their words lie side by side: 16 KiB stay in the cache of a core, at a line each they would
     * not. Writers on neighbours rarely meet, and a line that another core had last comes from
     * there in either case.
     */
    private static final int STRIPE_COUNT = 1 << 12;

    private static final int SPIN_COUNT_MAX = 64;

    private final AtomicIntegerArray held = new AtomicIntegerArray(STRIPE_COUNT);
    private final AtomicInteger waiting = new AtomicInteger();
    private final Tasks tasks;
    private final Clock clock;
    private final SlowOperations slow;

    /** Ones whose waits nobody sees. */
    KeyStripes(Tasks tasks) {
        this(tasks, Clock.system(), new SlowOperations());
    }

    /**
     * All free.
     *
     * @param slow hears of waits
     */
    public KeyStripes(Tasks tasks, Clock clock, SlowOperations slow) {
        this.tasks = tasks;
        this.clock = clock;
        this.slow = slow;
    }

    /** The stripe of a key of {@code datasetId} with this hash. */
    public int stripeOf(int datasetId, long keyHash) {
        return (int) ((keyHash ^ datasetId * 0x9E3779B97F4A7C15L) >>> 20) & (STRIPE_COUNT - 1);
    }

    public void lock(int stripe) {
        for (int spin = 0; spin < SPIN_COUNT_MAX; spin++) {
            if (held.compareAndSet(stripe, 0, 1)) {
                return;
            }
            Thread.onSpinWait();
        }
        waiting.incrementAndGet();
        long startNanos = clock.monotonicNanos();
        try {
            do {
                tasks.await(() -> held.get(stripe) == 0);
            } while (!held.compareAndSet(stripe, 0, 1));
        } finally {
            waiting.decrementAndGet();
            slow.waited(Cause.LOCK, startNanos, clock.monotonicNanos() - startNanos);
        }
    }

    public void unlock(int stripe) {
        held.set(stripe, 0);
        if (waiting.get() > 0) {
            tasks.signal();
        }
    }

    /**
     * Locks {@code count} stripes, which must be ascending and distinct; all, or none if that
     * fails.
     */
    public void lockAll(int[] stripes, int count) {
        int locked = 0;
        try {
            while (locked < count) {
                assert locked == 0 || stripes[locked - 1] < stripes[locked];
                lock(stripes[locked]);
                locked++;
            }
        } finally {
            if (locked < count) {
                unlockAll(stripes, locked);
            }
        }
    }

    public void unlockAll(int[] stripes, int count) {
        for (int i = 0; i < count; i++) {
            held.set(stripes[i], 0);
        }
        if (waiting.get() > 0) {
            tasks.signal();
        }
    }

    /** Whether no stripe is held; for leak checks. */
    public boolean allFree() {
        for (int i = 0; i < STRIPE_COUNT; i++) {
            if (held.get(i) != 0) {
                return false;
            }
        }
        return true;
    }
}
