/**
 * What every layer of an LSM index holds: entries in the order (key ascending, timestamp descending),
 * read through one cursor contract by flush, merge, scan and search.
 *
 * <p>Start reading at {@link io.turbidite.lsm.entry.EntryCursor}. Flush and merge take entries in hand as an {@link
 * io.turbidite.lsm.entry.EntryHead}.
 */
@NullMarked
package io.turbidite.lsm.entry;

import org.jspecify.annotations.NullMarked;
