/**
 * Ways in by the primary index: a scan of partitions one after the other, one in key order across them,
 * and a get; and the select and project that every way in ends with.
 *
 * <p>Holds sources of stages over a {@link io.turbidite.core.scan.ReadView}. Holds no secondary index;
 * that is {@code ops.search} and {@code ops.fetch}. Invariant: what is pushed matches all predicates,
 * whatever the source skipped or did not; those that the range of primary keys stands for are not asked again. Start reading at {@link io.turbidite.ops.scan.SelectedRecords}.
 */
@NullMarked
package io.turbidite.ops.scan;

import org.jspecify.annotations.NullMarked;
