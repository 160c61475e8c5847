package io.turbidite.core;

import org.jspecify.annotations.Nullable;

/** The caller asked for something that can't be done as asked; nothing was changed. */
public non-sealed class InvalidRequestException extends StorageException {
    private static final long serialVersionUID = 1L;

    /** With what was wrong, and where. */
    public InvalidRequestException(String message) {
        this(message, null);
    }

    /** With what was wrong, and what told so. */
    public InvalidRequestException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
