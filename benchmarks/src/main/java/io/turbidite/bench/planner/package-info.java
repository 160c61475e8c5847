/**
 * What the planner takes against the cheapest of all ways, over random questions; and what the
 * steps of queries cost, by which it decides. Start reading at {@link
 * io.turbidite.bench.planner.PlannerSuite}.
 */
@NullMarked
package io.turbidite.bench.planner;

import org.jspecify.annotations.NullMarked;
