package io.turbidite.feeds;

import io.turbidite.core.InvalidRequestException;

/**
 * A function of a transform failed for {@value #FAILURES_MAX} records in a row: the run ends, so
 * that not all of the source becomes dead letters. What came before is delivered.
 */
public final class FunctionPauseException extends InvalidRequestException {
    private static final long serialVersionUID = 1;

    /** So many failures of one function in a row pause a feed. */
    public static final int FAILURES_MAX = 10;

    FunctionPauseException(String function, String last) {
        super("function '%s' failed %d times in a row, the last time of: %s"
                .formatted(function, FAILURES_MAX, last));
    }
}
