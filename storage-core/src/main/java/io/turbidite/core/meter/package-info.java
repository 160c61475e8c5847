/**
 * Counters, times and events of a store (D8).
 *
 * <p>{@link io.turbidite.core.meter.Meters} holds named counters, latencies and readings, so cheap
 * that inner rooms may use them freely; {@link io.turbidite.core.meter.MicrometerBinder} exports
 * them; {@link io.turbidite.core.meter.StoreEvents} tells listeners about each flush, merge, stall
 * and failure. Invariant: observing never changes what the store does: no observer can block this
 * room or make it fail. Start reading at {@code Meters}.
 */
@NullMarked
package io.turbidite.core.meter;

import org.jspecify.annotations.NullMarked;
