package io.turbidite.ops.cluster;

import org.jspecify.annotations.Nullable;

/** A process of a cluster can't start, join or stop; the message says what and why. */
public final class ClusterException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** With what told so. */
    public ClusterException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
