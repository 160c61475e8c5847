/**
 * Mutable-bitmap at work: finding the old version of a write, marking it, saving bitmaps with a
 * manifest edit, and bounding what they hold for old snapshots. The structures are in
 * {@link io.turbidite.lsm.strategy.bitmap}, which tells the way of an upsert, a query and a merge.
 *
 * <p>It is a room of its own because versions and components stand on the structures, and this
 * stands on versions. Start reading at {@link OldPosition}.
 */
@NullMarked
package io.turbidite.lsm.strategy.bitmap.run;

import org.jspecify.annotations.NullMarked;
