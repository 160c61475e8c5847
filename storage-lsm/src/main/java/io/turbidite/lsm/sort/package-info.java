/**
 * Sorting more entries than memory holds: they come in any order and go out as one ordered stream.
 *
 * <p>Adds to {@code core.sort} what a store needs: timestamps and anti-matter, rules for several
 * versions of one key, memory by chunks, run files among the components. The caller gives the
 * entries their meaning and builds from the stream: bulk load, index build, repair. Invariant: run
 * files live no longer than the sort; an opening deletes the files that a crash leaves. Start
 * reading at {@code EntrySort}.
 */
@NullMarked
package io.turbidite.lsm.sort;

import org.jspecify.annotations.NullMarked;
