/**
 * Batches of records on their way from the parser to the store, over a bounded ring.
 *
 * <p>Holds no threads of its own (the consumer is a worker of {@link io.turbidite.core.task.Tasks})
 * and knows neither files nor stores. Invariants: batches arrive once each and in the order of
 * their publishing, and none arrives after one that failed; the memory of all batches together is
 * bounded. Start reading at {@link io.turbidite.feeds.flow.Pipeline}.
 */
@NullMarked
package io.turbidite.feeds.flow;

import org.jspecify.annotations.NullMarked;
