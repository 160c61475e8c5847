/**
 * Epoch protection (FISH19 §5.3, from FASTER): threads that share memory without locks learn when
 * nobody uses the old state any more.
 *
 * <p>Holds {@link io.turbidite.core.epoch.Epochs}, the global counter with its drain list, and
 * {@link io.turbidite.core.epoch.EpochSession}, the explicit object with which a worker protects
 * itself. Holds no thread-locals and waits for nobody. Invariant: an action runs only after every
 * session that could have seen the state before its epoch has refreshed or unprotected. Start
 * reading at {@code Epochs}.
 */
@NullMarked
package io.turbidite.core.epoch;

import org.jspecify.annotations.NullMarked;
