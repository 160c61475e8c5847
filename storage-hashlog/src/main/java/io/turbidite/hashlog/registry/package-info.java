/**
 * Which PSFs a log has or had, and over which addresses each is indexed (FISH19 §5.3).
 *
 * <p>Holds the durable {@link io.turbidite.hashlog.registry.RegistryState} with its file. Knows definitions
 * as text and sets of them; nothing of sessions and records. Invariant: every record that lies within an
 * interval of a PSF and has a property of it is in that property's chain; ids and names are never reused
 * for something else. Start reading at {@code RegistryState}.
 */
@NullMarked
package io.turbidite.hashlog.registry;

import org.jspecify.annotations.NullMarked;
