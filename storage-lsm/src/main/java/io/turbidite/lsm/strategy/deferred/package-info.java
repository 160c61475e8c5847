/**
 * Deferred lightweight secondaries (DEFER18): a merge of the primary makes anti-matter, and the
 * correlated merge of the secondary uses it up.
 *
 * <em>One upsert.</em> Puts the new entry into memory and does not read the old record.
 *
 * <em>One query.</em> Checks entries by their records.
 *
 * <em>One merge.</em> {@link DeferredMerge} hands the records that the primary's merge finds
 * superseded to {@link DeferredAntimatter}, which sorts them by secondary key and joins them into
 * the merge of each secondary.
 *
 * <p>Invariant (design §4 rule 8): anti-matter has the overwriter's timestamp, and none is ever
 * written.
 */
@NullMarked
package io.turbidite.lsm.strategy.deferred;

import org.jspecify.annotations.NullMarked;
