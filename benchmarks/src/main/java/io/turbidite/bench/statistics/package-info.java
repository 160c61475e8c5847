/**
 * How well the planner knows how many records match, and what that costs.
 *
 * <p>Invariant: the truth is counted from columns that were read out of the same store.
 */
@NullMarked
package io.turbidite.bench.statistics;

import org.jspecify.annotations.NullMarked;
