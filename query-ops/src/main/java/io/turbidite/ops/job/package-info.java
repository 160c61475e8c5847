/**
 * Jobs: graphs of operators that users build, and what runs them.
 *
 * <p>Holds the graph ({@link io.turbidite.ops.job.JobGraph}), its checks, its JSON and its drawing,
 * the operators that a graph may name, and the contract of those that an embedder writes ({@link
 * io.turbidite.ops.job.RowOperator}). Invariants: a graph that was built can be run; it is
 * immutable; it travels as JSON alone. Start reading at {@code JobGraph}, then {@code GraphCheck}
 * and {@code OperatorKinds}.
 */
@NullMarked
package io.turbidite.ops.job;

import org.jspecify.annotations.NullMarked;
