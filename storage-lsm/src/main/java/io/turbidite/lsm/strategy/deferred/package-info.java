/**
 * Deferred lightweight secondaries (DEFER18): anti-matter is made when the primary is merged, and met in the
 * correlated merge of the secondary.
 *
 * <p><em>One upsert.</em> The new entry is put into memory, the old record is not read.
 *
 * <p><em>One query.</em> Entries are checked by their records.
 *
 * <p><em>One merge.</em> {@link DeferredMerge} hands what the primary's merge finds superseded to {@link DeferredAntimatter},
 * which sorts it by secondary key and joins it into the merge of each secondary.
 *
 * <p>Invariant (design §4 rule 8): anti-matter has the overwriter's timestamp, and none is ever written.
 */
@NullMarked
package io.turbidite.lsm.strategy.deferred;

import org.jspecify.annotations.NullMarked;
