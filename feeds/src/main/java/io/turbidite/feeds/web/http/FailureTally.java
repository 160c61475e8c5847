package io.turbidite.feeds.web.http;

import org.slf4j.Logger;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts failures of the server's own that nobody waits for, and logs the first of each kind as a
 * warning, so that what comes again and again fills no log. The kind is the failure's class
 * and where it was thrown; from {@value #KINDS_MAX} kinds on the class alone. <em>Thread-safe.</em>
 */
public final class FailureTally {
    private static final int KINDS_MAX = 256;

    private final Logger log;
    private final Set<String> logged = ConcurrentHashMap.newKeySet();
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
        if (logged.add(kind(failure))) {
            log.warn("{}; more of this kind are only counted", what, failure);
        } else {
            log.debug("{}", what, failure);
        }
    }

    private String kind(Throwable failure) {
        String name = failure.getClass().getName();
        StackTraceElement[] frames = failure.getStackTrace(); // empty where the JVM leaves it out
        return frames.length == 0 || logged.size() >= KINDS_MAX ? name : name + frames[0];
    }

    /** How many there were. */
    public long count() {
        return count.get();
    }
}
