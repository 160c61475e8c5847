package io.turbidite.feeds.parse;

import io.turbidite.core.InvalidRequestException;

/** A function of a transform threw an exception: its record becomes a dead letter. */
public final class FunctionFailedException extends InvalidRequestException {
    private static final long serialVersionUID = 1;

    /** One that names the function and what it threw. */
    public FunctionFailedException(String function, RuntimeException cause) {
        super("function '%s' failed: %s".formatted(function, cause), cause);
    }
}
