/**
 * Groups: counting all rows, or counting and aggregating by the bytes of a group key; and sets of
 * rows, whose key is the whole row.
 *
 * <p>Holds the collectors, the hash table, and the sources that turn counts and states into rows. A
 * group key is encoded (D1), so groups come in the order of their values, and comparing bytes
 * merges the partial counts and states of partitions and runs. Does not know how to take keys from
 * records, nor what states mean ({@code ops.aggregate} does). Rows that are equal are told by
 * {@link io.turbidite.ops.group.RowKey}, in the same table ({@code SetTable}). Start reading at
 * {@link io.turbidite.ops.group.GroupCollector}.
 */
@NullMarked
package io.turbidite.ops.group;

import org.jspecify.annotations.NullMarked;
