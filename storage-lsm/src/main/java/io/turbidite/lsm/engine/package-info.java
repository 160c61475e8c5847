/**
 * An open store from within: how it is opened and recovered, what it consists of while it is open, how its schemas
 * change, how an index is built and a dataset loaded while it runs, and how it is closed.
 *
 * <p>Speaks datasets and writes as {@code lsm.dataset} and {@code lsm.write} have them; what an embedder holds lies
 * above, in {@code io.turbidite.lsm}, and is not known here. Invariant: what a call has returned from is visible to
 * every reader and as durable as the store's mode says. Start reading at {@link
 * io.turbidite.lsm.engine.StoreEngine}, then {@link io.turbidite.lsm.engine.OpenStore}.
 */
@NullMarked
package io.turbidite.lsm.engine;

import org.jspecify.annotations.NullMarked;
