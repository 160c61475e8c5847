package io.turbidite.lsm.schedule;

import io.turbidite.core.CacheFullException;
import io.turbidite.core.ClosedException;
import io.turbidite.core.CorruptionException;
import io.turbidite.core.FormatVersionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.QueryMemoryException;
import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;

/**
 * What a failure of background work means (D5, D6). This is the one rule for flushes, merges,
 * repairs and retention:
 *
 * <ol>
 *   <li>{@link #WAIT}: the disk is full, file handles run out, the cache is full of readers' pages.
 *       It has to do with no file, so the work of this kind pauses and is tried again.
 *   <li>{@link #ALONE}: a file could not be <em>read</em>: it is damaged, or the system failed the
 *       read (EIO, which may pass). Nothing on disk has changed by it. This work fails alone: what
 *       it has written is deleted, and it is tried again after a pause that grows. All other work
 *       goes on, that of the same dataset too where it does not need the file. A merge sets a
 *       damaged input aside ({@link io.turbidite.lsm.partition.Quarantine}); an input that can't be
 *       read is not set aside, since it may be sound; and an output that proves damaged when it is
 *       opened is no one's input yet. What was flushed is still in memory and in the log.
 *   <li>{@link #STORE}: a write or a sync failed for another reason than space, or it is unknown
 *       which manifest stands. What is durable is not known any more, so the store takes no writes
 *       until it is reopened.
 * </ol>
 *
 * <p>Failures that are no {@link StorageException} are bugs: they end the worker and break the
 * store down.
 */
public enum FailureRule {
    /** Work of this kind pauses, and is tried again. */
    WAIT,
    /** This work fails alone, and is tried again after a pause that grows. */
    ALONE,
    /** The store takes no writes until it is reopened. */
    STORE;

    /** What a failure means for the store. */
    public static FailureRule of(StorageException failure) {
        return switch (failure) {
            case CacheFullException _ -> WAIT;
            case QueryMemoryException _ -> ALONE; // background work takes none of it
            case CorruptionException _ -> ALONE;
            case FormatVersionException _ -> ALONE;
            case ClosedException _ -> STORE; // what it works on is gone
            case InvalidRequestException _ -> ALONE; // more than a bitmap reaches, for example
            case StorageIoException io -> of(io);
            default -> STORE;
        };
    }

    private static FailureRule of(StorageIoException failure) {
        return switch (failure.kind()) {
            case NO_SPACE, TOO_MANY_FILES -> WAIT;
            case IO, ACCESS_DENIED, NOT_FOUND, ALREADY_EXISTS, INTERRUPTED ->
                failure.isOfReading() ? ALONE : STORE;
        };
    }
}
