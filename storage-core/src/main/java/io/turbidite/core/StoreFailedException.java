package io.turbidite.core;

import org.jspecify.annotations.Nullable;

/**
 * The store refuses writes: an earlier write or sync failed (the cause is the first failure) and
 * only reopening recovers (D6). Reads go on.
 */
public final class StoreFailedException extends StorageException {
    private static final long serialVersionUID = 1L;

    /** With what the store refuses, and the failure that it had first. */
    public StoreFailedException(String message, @Nullable Throwable firstCause) {
        super(message, firstCause);
    }
}
