package io.turbidite.core;

import org.jspecify.annotations.Nullable;

/**
 * The root of everything the storage throws on purpose; unchecked, so that operators and cursors
 * can carry it. The seven kinds are closed: a caller may switch over them.
 */
public abstract sealed class StorageException extends RuntimeException
        permits CacheFullException,
                CorruptionException,
                FormatVersionException,
                StorageIoException,
                StoreFailedException,
                InvalidRequestException,
                QueryMemoryException {
    private static final long serialVersionUID = 1L;

    StorageException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
