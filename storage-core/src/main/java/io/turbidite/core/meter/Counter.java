package io.turbidite.core.meter;

import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** A number that only grows. <em>Thread-safe: striped, adding never contends.</em> */
public final class Counter implements Instrument {
    private final String name;
    private final Map<String, String> tags;
    private final LongAdder sum = new LongAdder();

    Counter(String name, Map<String, String> tags) {
        this.name = name;
        this.tags = tags;
    }

    /** Adds one. */
    public void increment() {
        sum.increment();
    }

    /** Adds {@code amount}, which must not be negative. */
    public void add(long amount) {
        assert amount >= 0 : name + " can't shrink by " + amount;
        sum.add(amount);
    }

    /** What was added so far. */
    public long sum() {
        return sum.sum();
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Map<String, String> tags() {
        return tags;
    }

    @Override
    public String toString() {
        return name + tags + "=" + sum();
    }
}
