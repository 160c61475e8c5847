package io.turbidite.ops.expr;

import io.turbidite.core.InvalidRequestException;

import org.jspecify.annotations.Nullable;

/** Checks that what a caller must give is there. Stateless. */
public final class Given {
    private Given() {}

    /**
     * The value.
     *
     * @param what it is, for the message
     * @throws InvalidRequestException if it is null
     */
    public static <T> T notNull(@Nullable T value, String what) {
        if (value == null) {
            throw new InvalidRequestException(what + " is null");
        }
        return value;
    }
}
