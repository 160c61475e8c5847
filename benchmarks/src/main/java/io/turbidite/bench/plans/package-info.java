/**
 * What the steps of a query cost, by which the planner decides, and what several indexes together
 * save; what the planner takes where fields depend on one another. Start reading at {@link
 * io.turbidite.bench.plans.PlansSuite}.
 */
@NullMarked
package io.turbidite.bench.plans;

import org.jspecify.annotations.NullMarked;
