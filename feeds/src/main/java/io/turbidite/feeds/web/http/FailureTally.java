package io.turbidite.feeds.web.http;

import org.slf4j.Logger;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts failures of the server's own that nobody waits for, and logs the first of each kind as a
 * warning, so that what comes again and again fills no log. The kind is the failure's class.
 * <em>Thread-safe.</em>
 */
public final class FailureTally {
    private final Logger log;
    private final Set<Class<?>> logged = ConcurrentHashMap.newKeySet();
    private final AtomicLong count = new AtomicLong();

    /** One without failures. */
    public FailureTally(Logger log) {
        this.log = log;
    }

    /**
     * Notes a failure.
     *
     * @param what failed, and what comes of it
     */
    public void note(String what, Throwable failure) {
        count.incrementAndGet();
        if (logged.add(failure.getClass())) {
            log.warn("{}; more of this kind are only counted", what, failure);
        } else {
            log.debug("{}", what, failure);
        }
    }

    /** How many there were. */
    public long count() {
        return count.get();
    }
}
