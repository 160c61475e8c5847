/**
 * The simulated machine: disk with a crash model, tasks without threads, a clock that is moved by hand,
 * and seeds. Tests of every module stand on it; it is published as the test-jar.
 *
 * <p>Invariant: everything that happens is a function of the seed, so a failure is replayed by its seed.
 * Holds no test of the modules above. Start reading at {@link io.turbidite.core.sim.SimDisk}; the crash
 * model is in {@link io.turbidite.core.sim.Profile} and {@code PowerCut}.
 */
@NullMarked
package io.turbidite.core.sim;

import org.jspecify.annotations.NullMarked;
