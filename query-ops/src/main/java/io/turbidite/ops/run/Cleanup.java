package io.turbidite.ops.run;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;

/**
 * Releases several things although releasing one may fail: a file that can't be deleted must not
 * keep cursors open. The first failure is thrown, the others are attached to it. <em>Confined to
 * one thread.</em>
 */
public final class Cleanup {
    private final List<Runnable> actions = new ArrayList<>();

    public Cleanup add(Runnable action) {
        actions.add(action);
        return this;
    }

    public <T> Cleanup addAll(Collection<T> things, Consumer<? super T> action) {
        for (T thing : things) {
            actions.add(() -> action.accept(thing));
        }
        return this;
    }

    /** Runs all actions in the order they were added. */
    public void run() {
        RuntimeException first = null;
        for (Runnable action : actions) {
            first = run(action, first);
        }
        if (first != null) {
            throw first;
        }
    }

    /** Runs all actions because of a failure, which what fails now is attached to. */
    @SuppressWarnings("ReferenceEquality") // an exception can't be attached to itself
    public void runAfter(Throwable failure) {
        for (Runnable action : actions) {
            RuntimeException next = run(action, null);
            if (next != null && next != failure) {
                failure.addSuppressed(next);
            }
        }
    }

    private static @Nullable RuntimeException run(
            Runnable action, @Nullable RuntimeException first) {
        try {
            action.run();
            return first;
        } catch (RuntimeException e) {
            if (first == null) {
                return e;
            }
            first.addSuppressed(e);
            return first;
        }
    }
}
