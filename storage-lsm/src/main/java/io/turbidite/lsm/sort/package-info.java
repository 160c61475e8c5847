/**
 * Sorting entries that are more than memory holds: entries in any order in, one ordered stream out.
 *
 * <p>Gives {@code core.sort} the words of a store: timestamps and anti-matter, what becomes of several
 * versions of one key, memory by chunks, run files among the components. What the entries mean, and what is
 * built from the stream, is the caller's: bulk load, the build of an index, repair. Invariant: run files live
 * no longer than the sort; what a crash leaves behind is deleted when the store opens. Start reading at
 * {@code EntrySort}.
 */
@NullMarked
package io.turbidite.lsm.sort;

import org.jspecify.annotations.NullMarked;
