/**
 * Epoch protection (FISH19 §5.3, from FASTER): how threads that share memory without locks learn that
 * nobody uses the old state any more.
 *
 * <p>Holds {@link io.turbidite.core.epoch.Epochs}, the global counter with its drain list, and {@link
 * io.turbidite.core.epoch.EpochSession}, the explicit object that a worker protects itself with. Holds no
 * thread-locals and waits for nobody. Invariant: an action runs only after every session that could have
 * seen the state before its epoch has refreshed or unprotected. Start reading at {@code Epochs}.
 */
@NullMarked
package io.turbidite.core.epoch;

import org.jspecify.annotations.NullMarked;
