/**
 * Deleted-key indexes (LUO19 §4.1, on AsterixDB's former way): each index has a deleted-key tree
 * with the primary keys that were written over.
 *
 * <em>One upsert.</em> Puts the new entry into the index and its primary key into the deleted-key
 * tree.
 *
 * <em>One query.</em> {@link UndeletedCursor} leaves out the entries that the deleted-key trees of
 * the same version hide.
 *
 * <em>One merge.</em> {@link DeletedKeyMerge} leaves out the entries that they hide at or below the
 * horizon.
 *
 * <p>Invariant: a reader looks at entries and deleted-key trees in one version.
 */
@NullMarked
package io.turbidite.lsm.strategy.deletedkey;

import org.jspecify.annotations.NullMarked;
