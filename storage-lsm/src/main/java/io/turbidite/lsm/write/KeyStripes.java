package io.turbidite.lsm.write;

import io.turbidite.core.task.Tasks;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Exclusive locks on stripes of keys: two writers of one key never overlap; what one reads under its
 * stripe stays true until it lets go. A batch takes its stripes in ascending order.
 *
 * <p><em>Thread-safe.</em> Not reentrant.
 */
public final class KeyStripes {
    private static final int STRIPE_COUNT = 1 << 12;

    /** Stripes lie a cache line apart, so that neighbours do not slow each other down. */
    private static final int SPACING = 16;

    private static final int SPIN_COUNT_MAX = 64;

    private final AtomicIntegerArray held = new AtomicIntegerArray(STRIPE_COUNT * SPACING);
    private final AtomicInteger waiting = new AtomicInteger();
    private final Tasks tasks;

    public KeyStripes(Tasks tasks) {
        this.tasks = tasks;
    }

    /** The stripe of a key of {@code datasetId} with this hash. */
    public int stripeOf(int datasetId, long keyHash) {
        return (int) ((keyHash ^ datasetId * 0x9E3779B97F4A7C15L) >>> 20) & (STRIPE_COUNT - 1);
    }

    public void lock(int stripe) {
        int slot = stripe * SPACING;
        for (int spin = 0; spin < SPIN_COUNT_MAX; spin++) {
            if (held.compareAndSet(slot, 0, 1)) {
                return;
            }
            Thread.onSpinWait();
        }
        waiting.incrementAndGet();
        try {
            do {
                tasks.await(() -> held.get(slot) == 0);
            } while (!held.compareAndSet(slot, 0, 1));
        } finally {
            waiting.decrementAndGet();
        }
    }

    public void unlock(int stripe) {
        held.set(stripe * SPACING, 0);
        if (waiting.get() > 0) {
            tasks.signal();
        }
    }

    /** Locks {@code count} stripes, which must be ascending and distinct. */
    public void lockAll(int[] stripes, int count) {
        for (int i = 0; i < count; i++) {
            assert i == 0 || stripes[i - 1] < stripes[i];
            lock(stripes[i]);
        }
    }

    public void unlockAll(int[] stripes, int count) {
        for (int i = 0; i < count; i++) {
            unlock(stripes[i]);
        }
    }

    /** Whether no stripe is held; for leak checks. */
    public boolean allFree() {
        for (int i = 0; i < STRIPE_COUNT; i++) {
            if (held.get(i * SPACING) != 0) {
                return false;
            }
        }
        return true;
    }
}
