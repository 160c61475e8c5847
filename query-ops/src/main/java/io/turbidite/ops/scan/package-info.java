/**
 * Access paths by the primary index: a scan of partitions one after the other, a scan in key order
 * across them, and a get; and the select and project at the end of every access path.
 *
 * <p>Holds sources of stages over a {@link io.turbidite.core.scan.ReadView}. Holds no secondary
 * index; that is {@code ops.search} and {@code ops.fetch}. Invariant: every pushed row matches all
 * predicates, whatever the source skipped or did not. The range of primary keys stands for some
 * predicates; these are not checked again. Start reading at {@link
 * io.turbidite.ops.scan.SelectedRecords}.
 */
@NullMarked
package io.turbidite.ops.scan;

import org.jspecify.annotations.NullMarked;
