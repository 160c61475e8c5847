/**
 * The shared parts of the engine's tests: simulated stores, histories, the in-memory oracle, and
 * the comparison of the two.
 */
@NullMarked
package io.turbidite.lsm.harness;

import org.jspecify.annotations.NullMarked;
