/**
 * Turbidite and its peers behind one small contract, so a suite asks the same of all of them.
 *
 * <p>Each implementation is driven for speed as its users would drive it, on reused buffers. It
 * reduces answers to numbers, and suites compare these. Start reading at {@link
 * io.turbidite.bench.peer.Engine}.
 */
@NullMarked
package io.turbidite.bench.peer;

import org.jspecify.annotations.NullMarked;
