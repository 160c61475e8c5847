/**
 * Joins.
 *
 * <p>Holds the hash join of any rows ({@link io.turbidite.ops.join.HashJoin}) with its table and
 * what it does beyond memory, and the index nested-loop join with records of a view: of rows
 * ({@link io.turbidite.ops.join.LookupRows}) and of frames ({@link
 * io.turbidite.ops.join.LookupJoin}). Groups of an inner join take its pairs by column
 * batches where its rows come so ({@link io.turbidite.ops.join.PairSource}). Knows encoded
 * keys; which fields they are made of, {@code ops.plan} says. Invariant: a key with a null in it
 * meets nothing. Start reading at {@code HashJoin}.
 */
@NullMarked
package io.turbidite.ops.join;

import org.jspecify.annotations.NullMarked;
