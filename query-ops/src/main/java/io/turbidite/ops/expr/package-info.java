/**
 * The part of a query that concerns one record: predicates, and the values that the query takes
 * out.
 *
 * <p>Holds predicates as callers write them ({@link io.turbidite.ops.expr.Predicate}), the ranges
 * of encoded values that they stand for, their compiled forms over encoded records, and the
 * projections that make tuples. Knows records, but no sources and no operators. Invariant: a
 * predicate means the same over a record as over the encoded value in an index; the common kinds
 * allocate nothing per record. Start reading at {@code Predicate}.
 */
@NullMarked
package io.turbidite.ops.expr;

import org.jspecify.annotations.NullMarked;
