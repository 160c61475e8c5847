/**
 * What a query asks of one record: predicates, and the values it takes out.
 *
 * <p>Holds predicates as callers write them ({@link io.turbidite.ops.expr.Predicate}), the ranges of
 * encoded values that they stand for, their compiled forms over encoded records, and the projections
 * that make tuples. Knows records, not sources and not operators. Invariant: a predicate means the same
 * over a record as over the encoded value in an index; nothing here allocates per record on the common
 * kinds. Start reading at {@code Predicate}.
 */
@NullMarked
package io.turbidite.ops.expr;

import org.jspecify.annotations.NullMarked;
