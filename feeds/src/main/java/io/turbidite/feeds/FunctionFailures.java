package io.turbidite.feeds;

import org.jspecify.annotations.Nullable;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * How often the functions of a feed have failed in a row, whichever of its workers called them.
 * <em>Thread-safe.</em>
 */
final class FunctionFailures {
    private final Map<String, AtomicInteger> inRow = new ConcurrentHashMap<>();
    private volatile @Nullable FunctionPauseException tooMany;

    void succeeded(String function) {
        AtomicInteger failures = inRow.get(function);
        if (failures != null && failures.get() != 0) {
            failures.set(0);
        }
    }

    void failed(String function, RuntimeException cause) {
        int failures =
                inRow.computeIfAbsent(function, name -> new AtomicInteger()).incrementAndGet();
        if (failures == FunctionPauseException.FAILURES_MAX) {
            tooMany = new FunctionPauseException(function, cause.toString());
        }
    }

    /**
     * To be asked behind each record.
     *
     * @throws FunctionPauseException if a function has failed for too many in a row
     */
    void check() {
        FunctionPauseException now = tooMany;
        if (now != null) {
            throw now;
        }
    }
}
