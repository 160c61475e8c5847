/**
 * A partition: the share of a dataset whose keys hash to one number. Holds its current version, its
 * files, and what it shares with all other partitions of the store.
 *
 * <p>Writers change its current layer inside the gate; {@code lsm.read} pins its version; flushes
 * and merges replace the version. Start reading at {@link io.turbidite.lsm.partition.Partition},
 * then {@code CurrentVersion}.
 *
 * <p>Three floors; no floor sees a higher one: what all partitions stand on ({@code StoreCore}),
 * one partition, and all of them ({@code PartitionRegistry}). Beside them is what rooms above need
 * of one another and none of them may own: what a strategy adds to a merge ({@code MergeHooks}),
 * and what is done when space is short ({@code DirectoryWatch}).
 */
@NullMarked
package io.turbidite.lsm.partition;

import org.jspecify.annotations.NullMarked;
