/**
 * Aggregates: what is summed up of the records of a group.
 *
 * <p>Holds what callers ask for ({@link io.turbidite.ops.aggregate.Aggregate}), how its arguments
 * leave a record, and the states: bytes of a fixed layout for each group, to which the partial half
 * adds rows, and which the final half merges and turns into values. Knows neither groups nor where
 * their states lie; {@code ops.group} has both. Invariants: all zeros are the state of no row;
 * merging the states of any parts gives what one state of all rows would have, but for the last
 * digits of sums of doubles; nothing is allocated per row, but for decimals. Start reading at
 * {@code Aggregate}, then {@link io.turbidite.ops.aggregate.GroupStates}.
 */
@NullMarked
package io.turbidite.ops.aggregate;

import org.jspecify.annotations.NullMarked;
