/**
 * How a memory layer becomes disk components, and how writers are slowed down when that falls behind.
 *
 * <p>Invariant: one thread at a time flushes a partition; readers and writers go on. What is written becomes part
 * of the store by one edit of the manifest. Start reading at {@link Flush}, then {@link WriterThrottle}.
 */
@NullMarked
package io.turbidite.lsm.flush;

import org.jspecify.annotations.NullMarked;
