/**
 * The PSFs that a log has or had, and the addresses over which each is indexed (FISH19 §5.3).
 *
 * <p>Holds the durable {@link io.turbidite.hashlog.registry.RegistryState} with its file. Knows
 * definitions as text and sets of them, but no sessions and records. Invariant: if a record is
 * within an interval of a PSF and has a property of it, the record is in that property's chain; ids
 * and names are never reused for something else. Start reading at {@code RegistryState}.
 */
@NullMarked
package io.turbidite.hashlog.registry;

import org.jspecify.annotations.NullMarked;
