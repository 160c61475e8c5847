/**
 * A partition at work: the engine of one share of a dataset. Writers apply to its current layer, readers
 * pin its version, background work switches, flushes and merges its layers.
 *
 * <p>One thread at a time flushes or merges a partition; everything else is concurrent. Start reading at
 * {@link io.turbidite.lsm.partition.Partition}, then {@code Flush} and {@code Merge}.
 */
@NullMarked
package io.turbidite.lsm.partition;

import org.jspecify.annotations.NullMarked;
