/**
 * Runs jobs: stages of branches, one after the other, step by step.
 *
 * <p>Holds the {@link io.turbidite.ops.run.Job}, its stages, the sink that a result reads from, the
 * memory budget of a query and the other limits of a query. Knows operators only by the protocol of
 * {@code ops.frame}. Invariant: whatever a branch opened is closed exactly once, on every way out.
 * Start reading at {@code Job}.
 */
@NullMarked
package io.turbidite.ops.run;

import org.jspecify.annotations.NullMarked;
