package io.turbidite.core;

/** An insert met a record with the same primary key; nothing was changed. */
public final class DuplicateKeyException extends InvalidRequestException {
    private static final long serialVersionUID = 1L;

    public DuplicateKeyException(String dataset, String key) {
        super("dataset %s already has a record with primary key %s".formatted(dataset, key));
    }
}
