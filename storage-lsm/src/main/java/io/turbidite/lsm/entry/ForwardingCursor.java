package io.turbidite.lsm.entry;

import io.turbidite.core.bytes.Slice;

/** As {@link ForwardingStream}, in both directions. */
public interface ForwardingCursor extends ForwardingStream, EntryCursor {
    @Override
    EntryCursor entries();

    @Override
    default void seek(Slice key) {
        entries().seek(key);
    }

    @Override
    default void seekEnd() {
        entries().seekEnd();
    }

    @Override
    default boolean previous() {
        return entries().previous();
    }

    @Override
    default long checkedUntil() {
        return entries().checkedUntil();
    }

    @Override
    default long pageCount() {
        return entries().pageCount();
    }

    @Override
    default boolean isInMemory() {
        return entries().isInMemory();
    }
}
