/**
 * The simulated machine: a disk with a crash model, tasks without threads, a clock that tests move
 * by hand, and seeds. Tests of every module use it, by the module storage-core-testing.
 *
 * <p>Invariant: everything that happens is a function of the seed, so a seed replays a failure.
 * Holds no test of the modules above. Start reading at {@link io.turbidite.core.sim.SimDisk}; the
 * crash model is in {@link io.turbidite.core.sim.Profile} and {@code PowerCut}.
 */
@NullMarked
package io.turbidite.core.sim;

import org.jspecify.annotations.NullMarked;
