package io.turbidite.ops.frame;

import io.turbidite.core.scan.LayerWork;

import java.util.concurrent.atomic.AtomicReference;

/**
 * The layers that an operator's cursors considered, all partitions together. <em>Thread-safe.</em>
 */
public final class LayerMeter {
    private final AtomicReference<LayerWork> work = new AtomicReference<>(LayerWork.NONE);

    /** Counts; called at the end of a cursor. */
    public void add(LayerWork more) {
        if (more.layerCount() > 0 || !more.files().isKnown()) {
            work.accumulateAndGet(more, LayerWork::plus);
        }
    }

    /** All that was added. */
    public LayerWork work() {
        return work.get();
    }
}
