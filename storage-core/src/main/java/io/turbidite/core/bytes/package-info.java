/**
 * Raw bytes off the heap: views, growable sinks, comparison, varints.
 *
 * <p>Everything on a hot path passes bytes as a reused {@link io.turbidite.core.bytes.Slice};
 * nothing here allocates per call. Invariant: comparison is unsigned and lexicographic everywhere
 * (D1). Start reading at {@code Slice}.
 */
@NullMarked
package io.turbidite.core.bytes;

import org.jspecify.annotations.NullMarked;
