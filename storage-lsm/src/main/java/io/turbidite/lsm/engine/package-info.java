/**
 * An open store from within: its opening and recovery, its parts while it is open, changes of
 * schemas, index builds and bulk loads while it runs, and its closing.
 *
 * <p>Works with datasets and writes in the form of {@code lsm.dataset} and {@code lsm.write}. The
 * objects that an application holds are above, in {@code io.turbidite.lsm}; this room does not know
 * them. Invariant: when a call has returned, its result is visible to every reader, and as durable
 * as the store's mode says. Start reading at {@link io.turbidite.lsm.engine.StoreEngine}, then
 * {@link io.turbidite.lsm.engine.OpenStore}.
 */
@NullMarked
package io.turbidite.lsm.engine;

import org.jspecify.annotations.NullMarked;
