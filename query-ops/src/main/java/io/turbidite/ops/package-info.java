/**
 * Queries over any {@link io.turbidite.core.scan.Source}: the API of this module.
 *
 * <p>Holds what has rows ({@link io.turbidite.ops.Relation}: queries, joins, sets of rows and
 * values, each the input of others), {@link io.turbidite.ops.Predicates}, the result rows, and the
 * {@link io.turbidite.ops.Explanation} of how they came about. Holds no execution: {@code ops.plan}
 * turns a query into a job, {@code ops.run} runs the job, its operators are in {@code ops.scan},
 * {@code .search}, {@code .fetch}, {@code .sort}, {@code .group}, {@code .aggregate},
 * {@code .expression} and {@code .join}, and {@code ops.frame} has the frames that pass between
 * them. Invariant: the answer never depends on the access path. Start reading at {@code Query}.
 */
@NullMarked
package io.turbidite.ops;

import org.jspecify.annotations.NullMarked;
