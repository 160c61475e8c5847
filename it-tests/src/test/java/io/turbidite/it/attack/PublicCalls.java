package io.turbidite.it.attack;

import org.jspecify.annotations.Nullable;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * An object's public methods by reflection, so that a new one is met too, and calls that are
 * watched.
 */
final class PublicCalls {
    /** Of every object; and what is there to end all waits for good. */
    private static final Set<String> NOT_CALLED = Set.of(
            "wait",
            "notify",
            "notifyAll",
            "getClass",
            "hashCode",
            "equals",
            "toString",
            "endWaitsWithin");

    private PublicCalls() {}

    /** A call did not come back. */
    static final class Hang extends AssertionError {
        private static final long serialVersionUID = 1L;

        private Hang(int seconds, StackTraceElement[] stack) {
            super("hangs for %d s at %s".formatted(seconds, at(stack)));
        }
    }

    /** The top of a stack in one line. */
    static String at(StackTraceElement[] stack) {
        return String.valueOf(List.of(stack).subList(0, Math.min(8, stack.length)));
    }

    /** All but what {@code not} names, in an order that is always the same. */
    static List<Method> methods(Object target, Set<String> not) {
        List<Method> methods = new ArrayList<>();
        for (Method method : target.getClass().getMethods()) {
            if (!Modifier.isStatic(method.getModifiers())
                    && !NOT_CALLED.contains(method.getName())
                    && !not.contains(method.getName())
                    && !method.isSynthetic()) {
                method.setAccessible(true);
                methods.add(method);
            }
        }
        methods.sort(Comparator.comparing(Method::toString));
        return methods;
    }

    /** What a careless caller passes. */
    static @Nullable Object nothing(Class<?> type) {
        if (!type.isPrimitive()) {
            return null;
        }
        if (type == boolean.class) {
            return false;
        }
        if (type == long.class) {
            return -1L;
        }
        return -1;
    }

    /** Arguments that are none are answered as Java does. */
    static boolean isOfArgument(@Nullable Throwable thrown) {
        return thrown instanceof NullPointerException
                || thrown instanceof IllegalArgumentException
                || thrown instanceof IndexOutOfBoundsException;
    }

    /**
     * Calls a method, and closes what it has opened.
     *
     * @param isOpened whether an answer was opened by the call
     * @return what was thrown; null if nothing was
     */
    static @Nullable Throwable thrown(
            Object target,
            Method method,
            @Nullable Object[] arguments,
            Predicate<AutoCloseable> isOpened) {
        try {
            Object answer = method.invoke(target, arguments);
            if (answer instanceof AutoCloseable opened && isOpened.test(opened)) {
                opened.close();
            }
            return null;
        } catch (InvocationTargetException e) {
            return e.getCause();
        } catch (Exception e) {
            return e;
        }
    }

    /** A call that is under way on a thread of its own. */
    record Call(Thread thread, CompletableFuture<@Nullable Throwable> outcome) {
        /** What it has thrown, null if nothing, a {@link Hang} if it does not come back. */
        @Nullable
        Throwable await(int secondsMax) {
            try {
                return outcome.get(secondsMax, TimeUnit.SECONDS);
            } catch (TimeoutException hangs) {
                Hang hang = new Hang(secondsMax, thread.getStackTrace());
                thread.interrupt();
                return hang;
            } catch (ExecutionException | InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    /**
     * Starts {@code work}, which gives what was thrown, on a thread that is given up on if it
     * hangs.
     */
    static Call start(String name, Supplier<@Nullable Throwable> work) {
        CompletableFuture<@Nullable Throwable> outcome = new CompletableFuture<>();
        Thread thread = new Thread(
                () -> {
                    try {
                        outcome.complete(work.get());
                    } catch (Throwable e) {
                        outcome.complete(e);
                    }
                },
                name);
        thread.setDaemon(true);
        thread.start();
        return new Call(thread, outcome);
    }
}
