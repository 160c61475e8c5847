package io.turbidite.core;

/**
 * The memory that the queries of a store may hold together is held by others. Nothing is wrong with
 * what was asked: it may be asked again when other results have ended or are closed.
 */
public final class QueryMemoryException extends StorageException {
    private static final long serialVersionUID = 1L;

    /**
     * @param message who holds it
     */
    public QueryMemoryException(String message) {
        super(message, null);
    }
}
