package io.turbidite.core;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * An insert met a record with the same primary key, or a write one with the same key in a unique
 * index; nothing was changed.
 */
public final class DuplicateKeyException extends InvalidRequestException {
    private static final long serialVersionUID = 1L;

    private final @Nullable String index;
    private final int operation;

    /** Names the dataset and the key, as text. */
    public DuplicateKeyException(String dataset, String key) {
        this(
                "dataset %s already has a record with primary key %s".formatted(dataset, key),
                null,
                -1);
    }

    private DuplicateKeyException(String message, @Nullable String index, int operation) {
        super(message);
        this.index = index;
        this.operation = operation;
    }

    /** Two records of a dataset have the same key in an index that can't be unique. */
    public static DuplicateKeyException ofIndex(
            String dataset, String index, String key, List<String> primaryKeys) {
        return new DuplicateKeyException(
                "index %s of dataset %s can't be unique: key %s is in the records with primary keys %s"
                        .formatted(index, dataset, key, String.join(" and ", primaryKeys)),
                index,
                -1);
    }

    /**
     * A write would give a record a key that another one has in a unique index.
     *
     * @param primaryKeys of the record that was to be written, and of the one that has the key
     * @param operation which one of the batch, from 0
     */
    public static DuplicateKeyException ofWrite(
            String dataset, String index, String key, List<String> primaryKeys, int operation) {
        return new DuplicateKeyException(
                "index %s of dataset %s is unique: key %s of the record with primary key %s is taken by the one with primary key %s"
                        .formatted(index, dataset, key, primaryKeys.get(0), primaryKeys.get(1)),
                index,
                operation);
    }

    /** The unique index; null if it is the primary key that is taken. */
    public @Nullable String index() {
        return index;
    }

    /** Which operation of the batch it was, from 0, if it was a unique index; otherwise -1. */
    public int operation() {
        return operation;
    }
}
