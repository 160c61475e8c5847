package io.turbidite.core.meter;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;

/**
 * A number that its owner keeps anyway and that is asked for when somebody looks.
 *
 * @param isTotal whether it only grows, like a counter; a gauge otherwise
 * @param source called from any thread; must be cheap, and go on working after its owner's close
 */
public record Reading(String name, Map<String, String> tags, boolean isTotal, LongSupplier source)
        implements Instrument {
    public Reading {
        tags = Collections.unmodifiableSortedMap(new TreeMap<>(tags));
    }

    /** What it is now, in the unit that its page gives. */
    public long value() {
        return source.getAsLong();
    }
}
