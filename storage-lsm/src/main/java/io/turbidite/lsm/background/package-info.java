/**
 * What is done to partitions in the background, and when: flushes, retention, and the look for garbage. It starts
 * the workers of merges and repairs too.
 *
 * <p>Invariant: one thread at a time flushes, merges or repairs a partition; readers and writers go on. Start
 * reading at {@link BackgroundWork}, which decides when a partition is flushed.
 */
@NullMarked
package io.turbidite.lsm.background;

import org.jspecify.annotations.NullMarked;
