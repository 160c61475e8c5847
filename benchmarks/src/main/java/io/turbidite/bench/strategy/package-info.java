/**
 * A comparison of the maintenance strategies (LUO19 §6.3 to §6.5, DEFER18 §5): the cost of
 * ingestion, queries and repair under each, on the same tweets and with the same answers.
 *
 * <p>Start reading at {@link io.turbidite.bench.strategy.StrategySuite}.
 */
@NullMarked
package io.turbidite.bench.strategy;

import org.jspecify.annotations.NullMarked;
