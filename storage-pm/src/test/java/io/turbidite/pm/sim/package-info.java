/**
 * Persistence simulated: what of a region may be durable when the power goes.
 *
 * <p>{@link io.turbidite.pm.sim.SimMemory} is the memory, and {@link
 * io.turbidite.pm.sim.FaultyMemory} forgets what a planted bug forgets. Start reading at {@code
 * SimMemory}.
 */
@NullMarked
package io.turbidite.pm.sim;

import org.jspecify.annotations.NullMarked;
