package io.turbidite.hashlog;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.hashlog.log.HybridLog;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Who calls a log: a close ends their waits, waits for calls that work, and no call begins behind it.
 *
 * <p><em>Thread-safe.</em> A caller says that it is inside before it looks whether the log is closed, and a close says
 * that the log is closed before it looks who is inside; both by volatile accesses, so that one of them sees the
 * other. What holds no call, such as a cursor between two records, is not waited for: its next call throws.
 */
final class Callers {
    /** A close that waits for longer gives up and names who keeps it. */
    static final long WAIT_MICROS_MAX = 10_000_000;

    private final HybridLog log;
    private final Set<Caller> callers = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean closing = new AtomicBoolean();
    private volatile boolean closed;
    private volatile boolean done;

    Callers(HybridLog log) {
        this.log = log;
    }

    /** Somebody who is going to call; closed by its owner. */
    Caller open(String name) {
        checkOpen();
        Caller caller = new Caller(name);
        callers.add(caller);
        return caller;
    }

    boolean isClosed() {
        return closed;
    }

    void checkOpen() {
        if (closed) {
            throw closedException();
        }
    }

    private ClosedException closedException() {
        return new ClosedException("log " + log.site().name());
    }

    /**
     * Ends waits and waits for calls, but not for those of this thread.
     *
     * @return false if the log is closed, or another thread is at it
     * @throws InvalidRequestException if a call does not end; nothing but calls is stopped then, and a close may be
     *     tried again
     */
    boolean beginClose() {
        if (done || !closing.compareAndSet(false, true)) {
            if (!isInside(Thread.currentThread())) {
                log.site().tasks().await(() -> done || !closing.get());
            }
            return false;
        }
        boolean idle = false;
        try {
            log.requireOtherThread();
            closed = true;
            log.endWaits();
            long until = log.site().clock().monotonicNanos() + WAIT_MICROS_MAX * 1_000;
            log.site()
                    .tasks()
                    .await(() ->
                            working().isEmpty() || log.site().clock().monotonicNanos() >= until);
            List<String> keepers = working();
            if (!keepers.isEmpty()) {
                throw new InvalidRequestException(
                        "log %s can't be closed: calls of %s have not ended for %d s; let them end and close it again"
                                .formatted(
                                        log.site().name(), keepers, WAIT_MICROS_MAX / 1_000_000));
            }
            log.allowWaits();
            idle = true;
            return true;
        } finally {
            if (!idle) {
                closing.set(false);
                log.site().tasks().signal();
            }
        }
    }

    /** The log is closed: nothing of it is left. */
    void endClose() {
        done = true;
        log.site().tasks().signal();
    }

    /** Names of callers in calls on other threads. */
    private List<String> working() {
        Thread own = Thread.currentThread();
        return callers.stream()
                .filter(caller -> caller.inside != null && !own.equals(caller.inside))
                .map(caller -> caller.name)
                .toList();
    }

    private boolean isInside(Thread thread) {
        return callers.stream().anyMatch(caller -> thread.equals(caller.inside));
    }

    /** One who calls. <em>Confined to one thread at a time,</em> but for {@link #close}. */
    final class Caller implements AutoCloseable {
        private final String name;
        private volatile @Nullable Thread inside;

        /** Calls within the call, from what it calls back. */
        private int depth;

        Caller(String name) {
            this.name = name;
        }

        /** A call begins, and {@link #exit} ends it. */
        void enter() {
            Thread own = Thread.currentThread();
            if (own.equals(inside)) {
                depth++;
            } else {
                inside = own;
            }
            if (closed) {
                exit();
                throw closedException();
            }
        }

        void exit() {
            if (depth > 0) {
                depth--;
            } else {
                inside = null;
                if (closed) {
                    log.site().tasks().signal();
                }
            }
        }

        /** After a callback, which may have closed the log, or at times, since another may want to. */
        void checkOpen() {
            Callers.this.checkOpen();
        }

        boolean isLogClosed() {
            return closed;
        }

        @Override
        public void close() {
            callers.remove(this);
        }
    }
}
