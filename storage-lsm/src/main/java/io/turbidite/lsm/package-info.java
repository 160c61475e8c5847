/**
 * The store and its datasets: what an embedder holds in its hands.
 *
 * <p>The public API and nothing else: each type wraps an object of {@code lsm.engine}, {@code lsm.dataset} or {@code
 * lsm.write}, or is a value. The rooms below never see this package. Invariant: what a call has returned from is
 * visible to every reader and as durable as the store's mode says. Start reading at {@link io.turbidite.lsm.Store},
 * and below it at {@code lsm.engine.StoreEngine}.
 */
@NullMarked
package io.turbidite.lsm;

import org.jspecify.annotations.NullMarked;
