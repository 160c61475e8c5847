package io.turbidite.feeds;

import io.turbidite.core.bytes.Slice;
import io.turbidite.feeds.source.PartitionState;
import io.turbidite.feeds.store.Delivery;

import org.jspecify.annotations.Nullable;

import java.util.Map;
import java.util.function.Supplier;

/** A delivery that takes batches and keeps nothing, or fails as it is told. */
final class NowhereDelivery implements Delivery {
    private final Supplier<RuntimeException> failure;
    boolean fails;

    NowhereDelivery(Supplier<RuntimeException> failure) {
        this.failure = failure;
    }

    @Override
    public @Nullable PartitionState taken(String partition) {
        return null;
    }

    @Override
    public Lane newLane() {
        return batch -> {
            if (fails) {
                throw failure.get();
            }
            return new Delivered(batch.recordCount(), 0);
        };
    }

    @Override
    public boolean replaces(Slice before, Slice after) {
        return false;
    }

    @Override
    public Map<String, PartitionState> taken() {
        return Map.of();
    }

    @Override
    public void whenDurable(DurableListener listener) {}

    @Override
    public void commit() {}

    @Override
    public long accepted() {
        return 0;
    }

    @Override
    public long rejected() {
        return 0;
    }

    @Override
    public @Nullable String deadLetters() {
        return null;
    }

    @Override
    public void close() {}
}
