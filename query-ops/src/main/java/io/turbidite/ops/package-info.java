/**
 * Queries over anything that is a {@link io.turbidite.core.scan.Source}: what callers of this module
 * use.
 *
 * <p>Holds the builder {@link io.turbidite.ops.Query}, {@link io.turbidite.ops.Predicates}, the rows
 * that come back and the {@link io.turbidite.ops.Explanation} of how. Holds no execution: a query is
 * turned into a job by {@code ops.plan}, the job is run by {@code ops.run}, its operators are in {@code
 * ops.scan}, {@code .search}, {@code .fetch}, {@code .sort}, {@code .group} and {@code .join}, and what passes between
 * them is in {@code ops.frame}. Invariant: the answer never depends on the access path. Start reading
 * at {@code Query}.
 */
@NullMarked
package io.turbidite.ops;

import org.jspecify.annotations.NullMarked;
