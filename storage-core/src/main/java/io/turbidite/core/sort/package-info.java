/**
 * The external sort: entries in any order in, one ordered stream out, within a bound of memory.
 *
 * <p>Holds what each sort is made of: {@link io.turbidite.core.sort.SortBuffer} gathers entries and
 * sorts them in memory, {@link io.turbidite.core.sort.SortRuns} keeps what was too much as runs on
 * disk, {@link io.turbidite.core.sort.SortedMerge} reads several inputs as one. An entry is a key,
 * a number that orders entries of one key, and a payload. What the number and the payload mean,
 * what becomes of entries with one key, and what happens when memory is full, is the caller's: a
 * store sorts versions of entries, a query rows and counts.
 *
 * <p>Invariants: keys are compared as bytes (D1); nothing is allocated for an entry; run files live
 * no longer than their sort, and what a crash leaves behind is deleted by whoever owns the
 * directory. Start reading at {@code SortBuffer}.
 */
@NullMarked
package io.turbidite.core.sort;

import org.jspecify.annotations.NullMarked;
