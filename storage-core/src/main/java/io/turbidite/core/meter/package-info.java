/**
 * What the store counts, times and tells about itself (D8).
 *
 * <p>{@link io.turbidite.core.meter.Meters} holds named counters, latencies and readings, cheap enough for
 * inner rooms to use without asking; {@link io.turbidite.core.meter.MicrometerBinder} exports them; {@link
 * io.turbidite.core.meter.StoreEvents} tells listeners about each flush, merge, stall and failure.
 * Invariant: observing never changes what the store does: nothing here blocks on, or fails for, an
 * observer. Start reading at {@code Meters}.
 */
@NullMarked
package io.turbidite.core.meter;

import org.jspecify.annotations.NullMarked;
