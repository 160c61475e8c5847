/**
 * Finding the entries of secondary indexes that nobody can read any more, by the primary's key trees alone
 * (LUO19 §4.4). Knows components and key trees; merges and the background work that drive it are in {@code
 * io.turbidite.lsm.upkeep}.
 *
 * <p>Invariant (design §4 rule 3): an entry is dead only if its successor is at or below the horizon.
 * Start reading at {@link io.turbidite.lsm.repair.DeadSearch}.
 */
@NullMarked
package io.turbidite.lsm.repair;

import org.jspecify.annotations.NullMarked;
