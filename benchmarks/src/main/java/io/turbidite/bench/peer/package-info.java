/**
 * Turbidite and its peers behind one small contract, so that a suite asks all of them the same.
 *
 * <p>Each implementation is driven as its users would for speed, on reused buffers; answers are reduced to
 * numbers that suites compare. Start reading at {@link io.turbidite.bench.peer.Engine}.
 */
@NullMarked
package io.turbidite.bench.peer;

import org.jspecify.annotations.NullMarked;
