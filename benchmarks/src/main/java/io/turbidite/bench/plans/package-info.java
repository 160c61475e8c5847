/**
 * What the steps of a query cost, by which the planner decides, and what several indexes together
 * save. Start reading at {@link io.turbidite.bench.plans.PlansSuite}.
 */
@NullMarked
package io.turbidite.bench.plans;

import org.jspecify.annotations.NullMarked;
