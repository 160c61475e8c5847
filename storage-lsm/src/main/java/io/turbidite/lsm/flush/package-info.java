/**
 * Flushes: a memory layer becomes disk components, and writers slow down when flushes fall behind.
 *
 * <p>Invariant: one thread at a time flushes a partition; readers and writers go on. One edit of
 * the manifest makes the new components part of the store. Start reading at {@link Flush}, then
 * {@link WriterThrottle}.
 */
@NullMarked
package io.turbidite.lsm.flush;

import org.jspecify.annotations.NullMarked;
