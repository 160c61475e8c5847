/**
 * Values that queries work out of a record: what expressions mean over encoded records.
 *
 * <p>Holds the typing of an expression for one record type ({@link
 * io.turbidite.ops.expression.TypedExpression}) and its evaluation ({@link
 * io.turbidite.ops.expression.Computed}). The language itself is in {@code core.expr}, conditions
 * are in {@code ops.expr}. Invariants: a value is the one that {@code core.expr.BoundExpression}
 * gives over the decoded record; calculations of whole numbers, dates, moments, durations and
 * doubles, and choices between them, allocate nothing per record. Start reading at {@code
 * TypedExpression}.
 */
@NullMarked
package io.turbidite.ops.expression;

import org.jspecify.annotations.NullMarked;
