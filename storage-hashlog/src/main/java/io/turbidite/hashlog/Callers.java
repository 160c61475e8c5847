package io.turbidite.hashlog;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Undo;
import io.turbidite.hashlog.log.HybridLog;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The callers of a log. A close ends their waits, waits for working calls, and lets no later call
 * begin.
 *
 * <em>Thread-safe.</em> A caller says that it is inside before it checks whether the log is closed.
 * A close says that the log is closed before it checks who is inside. Both use volatile accesses,
 * so one of them sees the other. A close does not wait for an object without a running call, such
 * as a cursor between two records: its next call throws.
 */
final class Callers {
    /** A close that waits longer gives up and names the call that keeps it. */
    static final long WAIT_MICROS_MAX = 10_000_000;

    private final HybridLog log;
    private final Set<Caller> callers = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean closing = new AtomicBoolean();
    private volatile boolean closed;
    private volatile boolean done;

    Callers(HybridLog log) {
        this.log = log;
    }

    /** A new caller; its owner closes it. */
    Caller open(String name) {
        checkOpen();
        Caller caller = new Caller(name);
        callers.add(caller);
        return caller;
    }

    /** Runs a call of the log itself. */
    <T> T call(String what, Supplier<T> work) {
        try (Caller caller = open(what)) {
            caller.enter();
            try {
                return work.get();
            } finally {
                caller.exit();
            }
        }
    }

    /** Runs a call of the log itself that returns nothing. */
    void run(String what, Runnable work) {
        try (Caller caller = open(what)) {
            caller.enter();
            try {
                work.run();
            } finally {
                caller.exit();
            }
        }
    }

    /** Runs a call that makes an object which calls the log later. */
    <T> T owned(String what, Function<Caller, T> making) {
        Caller caller = open(what);
        try (Undo undo = Undo.of(caller::close)) {
            caller.enter();
            try {
                return undo.keep(making.apply(caller));
            } finally {
                caller.exit();
            }
        }
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
     * Ends waits, and waits for calls of other threads.
     *
     * @return false if the log is closed, or another thread is closing it
     * @throws InvalidRequestException if a call does not end; then only calls have been stopped,
     *     and the caller may try the close again
     */
    boolean beginClose() {
        if (done || !closing.compareAndSet(false, true)) {
            if (!isInside(Thread.currentThread())) {
                log.site().tasks().await(() -> done || !closing.get());
            }
            return false;
        }
        Runnable giveUp = () -> {
            closing.set(false);
            log.site().tasks().signal();
        };
        try (Undo undo = Undo.of(giveUp)) {
            log.requireOtherThread();
            closed = true;
            log.endWaits();
            List<String> keepers = awaitCalls();
            if (!keepers.isEmpty()) {
                throw new InvalidRequestException(
                        "log %s can't be closed: calls of %s have not ended for %d s; let them end and close it again"
                                .formatted(
                                        log.site().name(), keepers, WAIT_MICROS_MAX / 1_000_000));
            }
            log.allowWaits();
            undo.keep();
            return true;
        }
    }

    /**
     * Waits until no call works any more, but not for ever.
     *
     * @return who still worked at the last look. Nobody looks again: a caller that is refused from
     *     now on is inside for a moment, which keeps no close
     */
    private List<String> awaitCalls() {
        long until = log.site().clock().monotonicNanos() + WAIT_MICROS_MAX * 1_000;
        List<String> keepers = new ArrayList<>();
        log.site().tasks().await(() -> {
            keepers.clear();
            keepers.addAll(working());
            return keepers.isEmpty() || log.site().clock().monotonicNanos() >= until;
        });
        return keepers;
    }

    /** Says that the log is closed: nothing of it is left. */
    void endClose() {
        done = true;
        log.site().tasks().signal();
    }

    /** The names of callers that are in calls on other threads. */
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

    /** A caller. <em>Confined to one thread at a time,</em> except {@link #close}. */
    final class Caller implements AutoCloseable {
        private final String name;
        private volatile @Nullable Thread inside;

        /** The depth of nested calls, made by code that the log calls back. */
        private int depth;

        Caller(String name) {
            this.name = name;
        }

        /** Begins a call; {@link #exit} ends it. */
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

        /**
         * Checks that the log is open: after a callback, which may have closed it, and now and
         * then, since another thread may want to close it.
         */
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
