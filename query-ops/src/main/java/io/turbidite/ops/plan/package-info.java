/**
 * From a request to a job: checks it against its source, picks the way in, builds the operators.
 *
 * <p>Holds the request as it was asked, the rule and the costs by which a way in is chosen ({@code
 * AccessChoice}), and {@link io.turbidite.ops.plan.Plan}, which knows every shape of a job. The only room
 * that knows all operators. Invariant: a plan changes what is read, never what is answered. Start reading
 * at {@code Plan}.
 */
@NullMarked
package io.turbidite.ops.plan;

import org.jspecify.annotations.NullMarked;
