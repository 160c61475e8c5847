package io.turbidite.core;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;

/**
 * Releases several things although releasing one may fail: a file that can't be deleted must keep
 * neither cursors nor a lock. The first failure is thrown, the others are suppressed in it, errors
 * of the machine included. <em>Confined to one thread.</em>
 *
 * <pre>
 * new Cleanup().add(reader::close).addAll(files, DiskFile::close).add(lock::close).run();
 * </pre>
 */
public final class Cleanup implements AutoCloseable {
    private final List<Runnable> actions = new ArrayList<>();

    /**
     * For {@code try (Cleanup _ = Cleanup.ofAll(views, ReadView::close))}: what {@code things} hold
     * at the end of the block is released then, and a failure of the block is thrown before one of
     * the release.
     */
    public static <T> Cleanup ofAll(Collection<? extends T> things, Consumer<? super T> action) {
        return new Cleanup().add(() -> new Cleanup().addAll(things, action).run());
    }

    /** One more action, after those that were added before. */
    public Cleanup add(Runnable action) {
        actions.add(action);
        return this;
    }

    /** As {@link #add} for each of {@code things} that are there now, in their order. */
    public <T> Cleanup addAll(Collection<? extends T> things, Consumer<? super T> action) {
        for (T thing : things) {
            actions.add(() -> action.accept(thing));
        }
        return this;
    }

    /**
     * Runs all actions in the order they were added.
     *
     * @throws RuntimeException the first failure, when all the others have been run too
     */
    public void run() {
        Throwable first = null;
        for (Runnable action : actions) {
            Throwable next = failureOf(action);
            if (first == null) {
                first = next;
            } else {
                attach(next, first);
            }
        }
        if (first instanceof Error error) {
            throw error;
        }
        if (first != null) {
            throw (RuntimeException) first;
        }
    }

    /** As {@link #run}. */
    @Override
    public void close() {
        run();
    }

    /** Runs all actions because of a failure, which what fails now is attached to. */
    public void runAfter(Throwable failure) {
        for (Runnable action : actions) {
            attach(failureOf(action), failure);
        }
    }

    private static @Nullable Throwable failureOf(Runnable action) {
        try {
            action.run();
            return null;
        } catch (RuntimeException | Error e) {
            return e;
        }
    }

    @SuppressWarnings("ReferenceEquality") // an exception can't be attached to itself
    private static void attach(@Nullable Throwable next, Throwable first) {
        if (next != null && next != first) {
            first.addSuppressed(next);
        }
    }
}
