package io.turbidite.feeds.parse;

import io.turbidite.core.InvalidRequestException;

/**
 * A frame isn't of its format, as opposed to holding values that don't fit: where its record ends
 * is in doubt too. Without a stack trace: a source may be full of them.
 */
public final class MalformedFrameException extends InvalidRequestException {
    private static final long serialVersionUID = 1L;

    /** A frame that breaks the rules that {@code message} names. */
    public MalformedFrameException(String message) {
        super(message);
    }

    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }
}
