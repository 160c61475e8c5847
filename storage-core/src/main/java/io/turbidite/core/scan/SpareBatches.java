package io.turbidite.core.scan;

import io.turbidite.core.memory.Pool;

import java.lang.ref.SoftReference;

/**
 * Batches of keys that are kept from one query to the next: a new one grows with its keys, and each
 * time leaves what it was behind. A query that asks for all may fill one of many megabytes, so the
 * garbage collector may take them where memory is short. <em>Thread-safe.</em>
 */
public final class SpareBatches {
    private static final Pool<SoftReference<KeyBatch>> SPARE =
            new Pool<>(() -> new SoftReference<>(newBatch()));

    private SpareBatches() {}

    private static KeyBatch newBatch() {
        return new KeyBatch(KeyBatch.BYTES_MAX);
    }

    /**
     * An empty batch, the taker's until it is given back.
     *
     * @param bytesMax as of a new one
     */
    public static KeyBatch take(int bytesMax) {
        KeyBatch kept = SPARE.take().get();
        KeyBatch batch = kept == null ? newBatch() : kept;
        batch.reuse(bytesMax);
        return batch;
    }

    /**
     * Gives back a batch that was taken, once; nobody may look at it or its parts any more. One
     * that has grown very large is not kept.
     */
    public static void give(KeyBatch used) {
        if (used.isWorthKeeping()) {
            SPARE.give(new SoftReference<>(used));
        }
    }
}
