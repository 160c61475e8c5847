/**
 * The maintenance strategies beside one another (LUO19 §6.3 to §6.5, DEFER18 §5): what ingestion, queries and
 * repair cost under each, on the same tweets and with the same answers.
 *
 * <p>Start reading at {@link io.turbidite.bench.strategy.StrategySuite}.
 */
@NullMarked
package io.turbidite.bench.strategy;

import org.jspecify.annotations.NullMarked;
