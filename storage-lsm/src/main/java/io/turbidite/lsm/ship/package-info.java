/**
 * Shipments: a store as it was at one timestamp, as a stream for another machine.
 *
 * <p>Invariant: each chunk has a checksum, and the receiver's directory is a store only after the
 * manifest has come, last. Start reading at {@link Shipment}, then {@link Reception}.
 */
@NullMarked
package io.turbidite.lsm.ship;

import org.jspecify.annotations.NullMarked;
