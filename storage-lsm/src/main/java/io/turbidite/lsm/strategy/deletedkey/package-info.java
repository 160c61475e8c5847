/**
 * Deleted-key indexes (LUO19 §4.1, on AsterixDB's former way): beside the index lies a companion tree of the
 * primary keys that were written over.
 *
 * <p><em>One upsert.</em> The new entry goes into the index, its primary key into the companion.
 *
 * <p><em>One query.</em> {@link UndeletedCursor} leaves out what the companions of the same version hide.
 *
 * <p><em>One merge.</em> {@link DeletedKeyMerge} leaves out what they hide at or below the horizon.
 *
 * <p>Invariant: entries and companions are looked at in one version.
 */
@NullMarked
package io.turbidite.lsm.strategy.deletedkey;

import org.jspecify.annotations.NullMarked;
