/**
 * From a request to a job: checks the request against its source, picks the access path, builds the
 * operators.
 *
 * <p>Holds the request as the caller asked it, the rule and the costs that choose an access path
 * ({@code AccessChoice}; {@code IndexWays} and {@code SpatialWays} find those there are, {@code
 * MatchingRows} and {@code CommonRows} say what they give, by a sample or by guesses, {@code
 * WayCost} what they cost), the steps that explain it ({@code WayInSteps}), and {@link
 * io.turbidite.ops.plan.Plan}, which knows every shape of a job. Only this room knows all
 * operators. Invariant: a plan decides what the query reads, never what it answers. Start reading
 * at {@code Plan}.
 */
@NullMarked
package io.turbidite.ops.plan;

import org.jspecify.annotations.NullMarked;
