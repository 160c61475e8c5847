/**
 * Processes that change together: the log of changes over real stores.
 *
 * <p>Holds what drives the state machines of {@code feeds.cluster.agree}, of the controller ({@link
 * io.turbidite.feeds.cluster.run.ControllerRun}) and of a node ({@link
 * io.turbidite.feeds.cluster.run.NodeRun}): a worker, time, and bytes of messages; and what a store
 * does with a change ({@link io.turbidite.feeds.cluster.run.StoreSchema}). Holds no step of the
 * protocol, and no socket. Invariant: what a node's store has is what the map says as of the change
 * that it applied last, and at most one thing more, which is prepared and noted. Start reading at
 * {@code ControllerRun}.
 */
@NullMarked
package io.turbidite.feeds.cluster.run;

import org.jspecify.annotations.NullMarked;
