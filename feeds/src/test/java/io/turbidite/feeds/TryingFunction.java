package io.turbidite.feeds;

import io.turbidite.feeds.parse.RecordFunction;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Objects;

/** A function that tests find by its name: it fails if it is asked to, and runs what it is told. */
public final class TryingFunction implements RecordFunction {
    /** Run at each call with the argument {@code run}. */
    static volatile Runnable told = () -> {};

    @Override
    public String name() {
        return "trying";
    }

    @Override
    public @Nullable Object apply(List<@Nullable Object> arguments) {
        Object first = arguments.getFirst();
        if (first == null) {
            return null;
        }
        if (first.equals("fail")) {
            throw new IllegalStateException("as it was asked to");
        }
        if (first.equals("run")) {
            told.run();
        }
        return arguments.size() + ":" + Objects.toString(first);
    }
}
