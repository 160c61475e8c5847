package io.turbidite.lsm.strategy.bitmap;

import io.turbidite.core.bytes.Slice;

/**
 * Is told of every invalidation of an entry of one component, or of one frozen memory layer, while
 * a component is being built from it. <em>Thread-safe.</em> Called inside the partition's gate, so
 * it never waits for I/O and never fails for want of memory.
 */
@FunctionalInterface
public interface InvalidationSink {
    /**
     * An entry has got a successor; its own bitmap, if it has one, knows already.
     *
     * @param position of the entry: {@link io.turbidite.lsm.entry.Found#position}
     * @param key the entry's; valid during the call
     * @param timestamp the successor's
     */
    void invalidated(long position, Slice key, long timestamp);
}
