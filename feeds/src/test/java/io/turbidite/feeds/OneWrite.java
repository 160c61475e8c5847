package io.turbidite.feeds;

import io.turbidite.core.bytes.Slice;
import io.turbidite.feeds.source.PartitionState;
import io.turbidite.feeds.store.Delivery;

import org.jspecify.annotations.Nullable;

import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * A delivery of which one lane at a time writes, the others being told to come again: in a
 * simulation a write that waits would run another one on its stack, which may need its locks.
 */
final class OneWrite implements Delivery {
    private final Delivery into;
    private final BooleanSupplier isBusy;
    private boolean isWriting;

    /** How often a lane was told to come again. */
    int putOff;

    OneWrite(Delivery into) {
        this(into, () -> false);
    }

    /** @param isBusy whether the store takes nothing now, asked before each write */
    OneWrite(Delivery into, BooleanSupplier isBusy) {
        this.into = into;
        this.isBusy = isBusy;
    }

    @Override
    public Lane newLane() {
        Lane lane = into.newLane();
        return batch -> {
            if (isWriting || isBusy.getAsBoolean()) {
                putOff++;
                return null;
            }
            isWriting = true;
            try {
                return lane.deliver(batch);
            } finally {
                isWriting = false;
            }
        };
    }

    @Override
    public @Nullable PartitionState taken(String partition) {
        return into.taken(partition);
    }

    @Override
    public Map<String, PartitionState> taken() {
        return into.taken();
    }

    @Override
    public boolean replaces(Slice before, Slice after) {
        return into.replaces(before, after);
    }

    @Override
    public void whenDurable(DurableListener listener) {
        into.whenDurable(listener);
    }

    @Override
    public void commit() {
        into.commit();
    }

    @Override
    public long accepted() {
        return into.accepted();
    }

    @Override
    public long rejected() {
        return into.rejected();
    }

    @Override
    public @Nullable String deadLetters() {
        return into.deadLetters();
    }

    @Override
    public void close() {
        into.close();
    }
}
