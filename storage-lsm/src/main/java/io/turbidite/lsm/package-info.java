/**
 * The store and its datasets: what an embedder holds in its hands.
 *
 * <p>The public API, and the two things that tie the rooms together: the way of a write ({@code
 * WritePath}) and the opening of a store ({@code OpenStore}). The rooms below never see this package.
 * Invariant: what a call has returned from is visible to every reader and as durable as the store's mode
 * says. Start reading at {@link io.turbidite.lsm.Store}.
 */
@NullMarked
package io.turbidite.lsm;

import org.jspecify.annotations.NullMarked;
