package io.turbidite.ops.search;

import io.turbidite.core.scan.LayerWork;
import io.turbidite.core.scan.SearchWork;
import io.turbidite.ops.frame.LayerMeter;

import java.util.concurrent.atomic.AtomicReference;

/** What the searches of a query took, all partitions together. <em>Thread-safe.</em> */
public final class SearchMeter {
    private final LayerMeter layers = new LayerMeter();
    private final AtomicReference<SearchWork> work = new AtomicReference<>(SearchWork.NONE);

    /** Counts; called once for each partition, at the end of its search. */
    public void add(SearchWork more, LayerWork considered) {
        work.accumulateAndGet(more, SearchWork::plus);
        layers.add(considered);
    }

    /** The layers that the searches considered. */
    public LayerWork layers() {
        return layers.work();
    }

    public SearchWork work() {
        return work.get();
    }
}
