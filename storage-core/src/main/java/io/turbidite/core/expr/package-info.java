/**
 * The one language for conditions and values: what PSFs, predicates of logs, conditions of queries
 * and transforms of feeds are written in.
 *
 * <p>Holds the reader of its text ({@link io.turbidite.core.expr.Expression#condition}, {@link
 * io.turbidite.core.expr.Expression#value}), the tree, which prints itself, and its meaning over
 * values ({@link io.turbidite.core.expr.BoundExpression}). Knows no records: each user binds the
 * tree to its own, the hash log and queries by forms of their own that make no garbage. Invariants:
 * what a tree prints reads back to an equal tree; a bound tree answers as {@link
 * io.turbidite.core.expr.BoundExpression} does, or is refused. Start reading at {@link
 * io.turbidite.core.expr.Expression}.
 */
@NullMarked
package io.turbidite.core.expr;

import org.jspecify.annotations.NullMarked;
