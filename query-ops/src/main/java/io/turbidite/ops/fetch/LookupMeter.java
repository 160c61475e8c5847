package io.turbidite.ops.fetch;

import io.turbidite.core.scan.FetchWork;
import io.turbidite.core.scan.LayerWork;
import io.turbidite.ops.frame.LayerMeter;

import java.util.concurrent.atomic.AtomicReference;

/** What the lookups of a query took, all partitions together. <em>Thread-safe.</em> */
public final class LookupMeter {
    private final LayerMeter layers = new LayerMeter();
    private final AtomicReference<FetchWork> work = new AtomicReference<>(FetchWork.NONE);

    /** Counts; called once a batch. */
    public void add(FetchWork more, LayerWork considered) {
        work.accumulateAndGet(more, FetchWork::plus);
        layers.add(considered);
    }

    /** The layers that lookups with a filter considered, each once a lookup. */
    public LayerWork layers() {
        return layers.work();
    }

    public FetchWork work() {
        return work.get();
    }
}
