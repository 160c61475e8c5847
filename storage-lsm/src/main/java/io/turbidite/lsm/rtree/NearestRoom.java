package io.turbidite.lsm.rtree;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.memory.Pool;

/**
 * What a search for neighbours in one layer works with, taken over from searches that have ended:
 * queues and memory off the heap cost more to make than a short search takes. <em>Confined to one
 * thread at a time.</em>
 */
final class NearestRoom {
    /** What has grown larger is left to the collector. */
    private static final int KEPT_ELEMENTS = 4_096;

    private static final int KEPT_KEY_BYTES = 64 << 10;

    private static final Pool<NearestRoom> ROOMS = new Pool<>(NearestRoom::new);

    final NearestQueue waiting = new NearestQueue();
    final NearestQueue aside = new NearestQueue();

    /** The key that is shown. */
    final ByteSink key = sink(64);

    /** Of a search along the curve: keys that wait, and the next ones. */
    final ByteSink keys = sink(1 << 10);

    final ByteSink spareKeys = sink(1 << 10);
    final ByteSink target = sink(64);
    final ByteSink fromKey = sink(64);
    final ByteSink toKey = sink(64);
    final ByteSink value = sink(64);

    private static ByteSink sink(int bytes) {
        return new ByteSink(bytes, Integer.MAX_VALUE - 8);
    }

    static NearestRoom take() {
        return ROOMS.take();
    }

    void giveBack() {
        waiting.clear();
        aside.clear();
        waiting.setOrder(Integer::compare);
        if (waiting.capacity() <= KEPT_ELEMENTS
                && aside.capacity() <= KEPT_ELEMENTS
                && keys.segment().byteSize() + spareKeys.segment().byteSize() <= KEPT_KEY_BYTES) {
            ROOMS.give(this);
        }
    }
}
