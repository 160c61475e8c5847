package io.turbidite.core;

/** Something was used after it, or what owns it, was closed. */
public final class ClosedException extends InvalidRequestException {
    private static final long serialVersionUID = 1L;

    /** Names what was closed. */
    public ClosedException(String what) {
        super(what + " is closed");
    }
}
