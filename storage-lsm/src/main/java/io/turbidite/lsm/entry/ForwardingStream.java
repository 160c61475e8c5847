package io.turbidite.lsm.entry;

import io.turbidite.core.bytes.Slice;

/**
 * A stream that shows entries of another one: all it has to say is which ones, or what is different
 * about them. What it doesn't say, the other one answers.
 */
public interface ForwardingStream extends EntryStream {
    /** The stream that stands on the entry shown. */
    EntryStream entries();

    @Override
    default boolean next() {
        return entries().next();
    }

    @Override
    default Slice key() {
        return entries().key();
    }

    @Override
    default long keyPrefix() {
        return entries().keyPrefix();
    }

    @Override
    default int keyLength() {
        return entries().keyLength();
    }

    @Override
    default long keySecond() {
        return entries().keySecond();
    }

    @Override
    default long timestamp() {
        return entries().timestamp();
    }

    @Override
    default boolean isAntimatter() {
        return entries().isAntimatter();
    }

    @Override
    default long successorTimestamp() {
        return entries().successorTimestamp();
    }

    @Override
    default long position() {
        return entries().position();
    }

    @Override
    default Slice value() {
        return entries().value();
    }

    @Override
    default void close() {
        entries().close();
    }
}
