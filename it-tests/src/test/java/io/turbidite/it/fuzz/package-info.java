/**
 * Fuzzing of every decoder of bytes, guided by coverage: Jazzer in a JVM of its own for each {@link
 * io.turbidite.it.fuzz.Decoder}. What a decoder may do with any input is throw a {@link
 * io.turbidite.core.StorageException}, within bounds of time and memory.
 *
 * <p>Invariant: stored checksums are one constant in those JVMs (the hook {@code NoChecksums} of the
 * resources), so that damage reaches what lies behind them. Start reading at {@link
 * io.turbidite.it.fuzz.FuzzTest}.
 */
@NullMarked
package io.turbidite.it.fuzz;

import org.jspecify.annotations.NullMarked;
