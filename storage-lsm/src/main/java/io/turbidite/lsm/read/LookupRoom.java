package io.turbidite.lsm.read;

import io.turbidite.core.memory.Pool;

import java.util.Arrays;

/**
 * What a lookup notes of the keys of a batch. A fetch has one lookup for each batch of candidates,
 * so room is kept from one to the next: made anew, it would be garbage for each candidate.
 * <em>Confined to one thread at a time</em>, that of the {@link KeyLookup} that has it.
 */
final class LookupRoom {
    private static final int COUNT_FIRST = 64;

    /**
     * Room for more keys than this is not kept. A batch of {@link
     * io.turbidite.core.scan.FetchOptions#BATCH_BYTES_DEFAULT} has about as many short ones.
     */
    private static final int KEPT_COUNT_MAX = 128 << 10;

    private static final Pool<LookupRoom> ROOMS = new Pool<>(LookupRoom::new);

    /** Of the batch's keys, by their place in the batch. */
    long[] hashes = new long[COUNT_FIRST];

    /**
     * Places in the batch of the keys that are still to be decided; complemented if the layer may
     * hold them.
     */
    int[] pending = new int[COUNT_FIRST];

    /** Room with whatever was noted last. */
    static LookupRoom take() {
        return ROOMS.take();
    }

    /** Gives back room that was taken, once. */
    static void give(LookupRoom used) {
        if (used.hashes.length <= KEPT_COUNT_MAX) {
            ROOMS.give(used);
        }
    }

    /** Makes room for so many keys; what was noted stays. */
    void grow(int count) {
        if (count > hashes.length) {
            int larger = Math.max(count, 2 * hashes.length);
            hashes = Arrays.copyOf(hashes, larger);
            pending = Arrays.copyOf(pending, larger);
        }
    }
}
