package io.turbidite.ops.cluster;

import io.turbidite.core.InvalidRequestException;

import org.jspecify.annotations.Nullable;

import java.lang.reflect.Field;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/** What the engine's controller and nodes have in common. Static, without state. */
final class Engine {
    /** Nobody else reaches it (decision 0006). */
    static final String LOOPBACK = "127.0.0.1";

    /** Frames of a channel that are on their way at its sender. */
    static final int BUFFERS_A_CHANNEL = 2;

    /** A node says that often that it is there. */
    static final long HEARTBEAT_MILLIS = 1_000;

    /** A node that was silent for so many heartbeats is taken off the list. */
    static final int MISSES_MAX = 10;

    /** The engine would keep its lists of results for a day; there are none. */
    static final long RESULT_MILLIS = 10_000;

    /** The field of both services that makes their sockets; they have no setter for it. */
    static final String SECURITY = "networkSecurityManager";

    private Engine() {}

    /** Calls the engine; what it throws is told as ours. */
    static <T> T call(String what, Callable<T> call) {
        try {
            return call.call();
        } catch (InvalidRequestException | ClusterException e) {
            throw e;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ClusterException("can't %s: interrupted".formatted(what), e);
        } catch (Exception e) {
            throw new ClusterException(
                    "can't %s: %s"
                            .formatted(
                                    what, Objects.requireNonNullElse(e.getMessage(), e.toString())),
                    e);
        }
    }

    /**
     * Makes a service. The engine sets a handler for what the caller's thread does not catch, which
     * ends the process: it is taken back.
     */
    static <T> T make(String what, Callable<T> call) {
        Thread thread = Thread.currentThread();
        Thread.UncaughtExceptionHandler handler = thread.getUncaughtExceptionHandler();
        try {
            return call(what, call);
        } finally {
            // a thread without one answers with its group
            thread.setUncaughtExceptionHandler(handler instanceof ThreadGroup ? null : handler);
        }
    }

    /** Threads that end with the process, and do not end it as the engine's own do if they fail. */
    static ThreadFactory threads(String name) {
        AtomicInteger number = new AtomicInteger();
        return task -> {
            Thread thread = new Thread(task, name + "-" + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
    }

    /** A field that has no getter. */
    static @Nullable Object get(Class<?> type, Object of, String field)
            throws ReflectiveOperationException {
        Field found = type.getDeclaredField(field);
        found.setAccessible(true);
        return found.get(of);
    }

    /** A field that has no setter, before anybody has read it. */
    static void set(Class<?> type, Object of, String field, Object value)
            throws ReflectiveOperationException {
        Field found = type.getDeclaredField(field);
        found.setAccessible(true);
        found.set(of, value);
    }
}
