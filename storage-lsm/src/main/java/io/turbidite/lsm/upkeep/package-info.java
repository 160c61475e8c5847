/**
 * What is done to partitions in the background: flush, merge, repair, retention, and slowing writers down
 * when it falls behind.
 *
 * <p>Invariant: one thread at a time flushes, merges or repairs a partition; readers and writers go on. Whatever
 * is written becomes part of the store by one edit of the manifest, and of the partition under the same lock. Start reading at
 * {@link io.turbidite.lsm.upkeep.BackgroundWork}, then {@code Flush} and {@code Merge}.
 */
@NullMarked
package io.turbidite.lsm.upkeep;

import org.jspecify.annotations.NullMarked;
