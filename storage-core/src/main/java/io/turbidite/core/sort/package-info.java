/**
 * The external sort: entries come in any order and go out as one ordered stream, within a bound of
 * memory.
 *
 * <p>Holds the parts of a sort: {@link io.turbidite.core.sort.SortBuffer} gathers entries and sorts
 * them in memory, {@link io.turbidite.core.sort.SortRuns} keeps the entries that exceed memory as
 * runs on disk, {@link io.turbidite.core.sort.SortedMerge} reads several inputs as one. An entry is
 * a key, a number that orders entries of one key, and a payload. The caller gives number and
 * payload their meaning, and decides what happens to entries with one key and when memory is full:
 * a store sorts versions of entries, a query rows and counts.
 *
 * <p>Invariants: keys are compared as bytes (D1). An entry allocates nothing. Run files live no
 * longer than their sort; the owner of the directory deletes the files that a crash leaves. Start
 * reading at {@code SortBuffer}.
 */
@NullMarked
package io.turbidite.core.sort;

import org.jspecify.annotations.NullMarked;
