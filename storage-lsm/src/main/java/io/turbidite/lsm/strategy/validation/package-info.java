/**
 * Validation (LUO19 §4): secondary entries are written blindly; whether one is valid is told later,
 * by the primary's key trees alone.
 *
 * <p><em>One upsert.</em> The new entry is put into memory, the old record is not read.
 *
 * <p><em>One query.</em> {@link TimestampValidation} looks up the primary keys of the entries that
 * were found, in ascending order: an entry is valid if the newest version at or below the snapshot
 * has exactly its timestamp.
 *
 * <p><em>One merge.</em> {@code RepairHook} checks the entries that the merge writes ({@link
 * InvalidEntrySearch}), and marks what is invalid in the bitmap of the new component; the next
 * merge leaves it out. {@code RepairWork} does the same to one component at a time when somebody
 * asks, or when {@code AutoRepair} finds it worthwhile.
 *
 * <p>Invariant (design §4 rule 3): an entry is invalid only if its successor is at or below the
 * horizon.
 */
@NullMarked
package io.turbidite.lsm.strategy.validation;

import org.jspecify.annotations.NullMarked;
