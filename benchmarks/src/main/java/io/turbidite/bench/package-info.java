/** Dispatches {@code ./turbidite bench SUITE}. Start reading at {@link io.turbidite.bench.Main}. */
@NullMarked
package io.turbidite.bench;

import org.jspecify.annotations.NullMarked;
