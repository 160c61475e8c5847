/**
 * Background work on partitions: flushes, retention, and the look for garbage. It decides when each
 * runs, and starts the workers of merges and repairs too.
 *
 * <p>Invariant: one thread at a time flushes, merges or repairs a partition; readers and writers go
 * on. Start reading at {@link BackgroundWork}, which decides when to flush a partition.
 */
@NullMarked
package io.turbidite.lsm.background;

import org.jspecify.annotations.NullMarked;
