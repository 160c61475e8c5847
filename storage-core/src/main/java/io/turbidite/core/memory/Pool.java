package io.turbidite.core.memory;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Supplier;

/**
 * Reused scratch objects, borrowed for one operation: one array slot and one atomic exchange, so
 * that it costs neither garbage nor a thread local (which virtual threads would multiply). Holds at
 * most {@value #SLOT_COUNT}; more are made when needed and dropped when given back.
 *
 * <p><em>Thread-safe.</em>
 */
public final class Pool<T> {
    private static final int SLOT_COUNT = 16;

    /** A cache line between two slots. */
    private static final int SPACING = 16;

    private final AtomicReferenceArray<@Nullable T> slots =
            new AtomicReferenceArray<>(SLOT_COUNT * SPACING);
    private final Supplier<T> maker;

    /** An empty pool; the maker makes what is asked for while nothing lies in it. */
    public Pool(Supplier<T> maker) {
        this.maker = maker;
    }

    /** One that was given back, or a new one. */
    public T take() {
        int start = home();
        for (int i = 0; i < SLOT_COUNT; i++) {
            int slot = ((start + i) & (SLOT_COUNT - 1)) * SPACING;
            if (slots.getPlain(slot) != null) {
                T taken = slots.getAndSet(slot, null);
                if (taken != null) {
                    return taken;
                }
            }
        }
        return maker.get();
    }

    /** Gives one back; the giver must not touch it any more. */
    public void give(T used) {
        int start = home();
        for (int i = 0; i < SLOT_COUNT; i++) {
            int slot = ((start + i) & (SLOT_COUNT - 1)) * SPACING;
            if (slots.getPlain(slot) == null && slots.compareAndSet(slot, null, used)) {
                return;
            }
        }
    }

    private static int home() {
        return (int) Thread.currentThread().threadId() & (SLOT_COUNT - 1);
    }
}
