package io.turbidite.ops.fetch;

import io.turbidite.core.scan.FetchWork;

import java.util.concurrent.atomic.AtomicReference;

/** What the lookups of a query took, all partitions together. <em>Thread-safe.</em> */
public final class LookupMeter {
    private final AtomicReference<FetchWork> work = new AtomicReference<>(FetchWork.NONE);

    /** Counts; called once a batch. */
    public void add(FetchWork more) {
        work.accumulateAndGet(more, FetchWork::plus);
    }

    public FetchWork work() {
        return work.get();
    }
}
