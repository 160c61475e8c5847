package io.turbidite.lsm.sort;

import io.turbidite.core.StorageException;
import io.turbidite.core.bytes.Slice;

import java.util.function.Function;

/** What a sort does with several versions of one key. */
public sealed interface Duplicates {
    /** Shows all of them, newest first. */
    record Keep() implements Duplicates {}

    /** Shows the newest and drops the others, in the runs already. */
    record Newest() implements Duplicates {}

    /**
     * Ends in an error.
     *
     * @param refusal makes what is thrown, from the key that came twice
     */
    record Refuse(Function<Slice, StorageException> refusal) implements Duplicates {}
}
