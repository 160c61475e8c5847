/**
 * Order: sorting within a memory bound, in memory or through runs on disk, and taking the first
 * rows.
 *
 * <p>Holds the operators that order ({@link io.turbidite.ops.sort.SortCollector} collects, {@link
 * io.turbidite.ops.sort.SortedSource} hands on), the place for rows that memory can't hold, and
 * {@link io.turbidite.ops.sort.Limit}. The sort itself is {@code core.sort}. Knows encoded keys,
 * not fields: in a descending order the encoding of the keys is descending. Invariants: keys are
 * compared as bytes (D1); files made here are deleted with the query. Start reading at {@code
 * SortCollector}.
 */
@NullMarked
package io.turbidite.ops.sort;

import org.jspecify.annotations.NullMarked;
