/**
 * The contents of every layer of an LSM index: entries in the order (key ascending, timestamp
 * descending). Flush, merge, scan and search read them through one cursor contract.
 *
 * <p>Start reading at {@link io.turbidite.lsm.entry.EntryCursor}. Flush and merge take entries as
 * an {@link io.turbidite.lsm.entry.EntryHead}.
 */
@NullMarked
package io.turbidite.lsm.entry;

import org.jspecify.annotations.NullMarked;
