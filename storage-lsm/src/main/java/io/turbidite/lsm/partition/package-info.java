/**
 * A partition: the share of a dataset whose keys hash to one number, with its current version, its files and
 * what it shares with all others of the store.
 *
 * <p>Writers apply to its current layer inside the gate; {@code lsm.read} pins its version; flushes and merges
 * put another one in its place. Start reading at {@link io.turbidite.lsm.partition.Partition}, then {@code
 * CurrentVersion}.
 */
@NullMarked
package io.turbidite.lsm.partition;

import org.jspecify.annotations.NullMarked;
