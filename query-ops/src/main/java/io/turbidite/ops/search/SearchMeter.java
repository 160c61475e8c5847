package io.turbidite.ops.search;

import io.turbidite.core.scan.SearchWork;

import java.util.concurrent.atomic.AtomicReference;

/** What the searches of a query took, all partitions together. <em>Thread-safe.</em> */
public final class SearchMeter {
    private final AtomicReference<SearchWork> work = new AtomicReference<>(SearchWork.NONE);

    /** Counts; called once for each partition, at the end of its search. */
    public void add(SearchWork more) {
        work.accumulateAndGet(more, SearchWork::plus);
    }

    public SearchWork work() {
        return work.get();
    }
}
