package io.turbidite.ops.job;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * How many changes each sink of a running job has done so far, all its partitions together.
 * <em>Thread-safe.</em>
 */
public final class ChangedCounts {
    private final Map<String, LongAdder> counts = new ConcurrentHashMap<>();
    private final Map<String, Long> none;

    private ChangedCounts(Map<String, Long> none) {
        this.none = none;
    }

    /** None has done any. */
    static ChangedCounts of(JobGraph graph) {
        Map<String, Long> none = new LinkedHashMap<>();
        graph.operators().forEach(one -> {
            if (OperatorKinds.BUILT_IN.get(one.kind()) instanceof SinkKind) {
                none.put(one.name(), 0L);
            }
        });
        return new ChangedCounts(none);
    }

    void add(String operator, long more) {
        counts.computeIfAbsent(operator, _ -> new LongAdder()).add(more);
    }

    /** By the names of all sinks, in the order of the graph; those that did nothing have 0. */
    public Map<String, Long> all() {
        Map<String, Long> all = new LinkedHashMap<>(none);
        counts.forEach((operator, count) -> all.put(operator, count.sum()));
        return all;
    }
}
