/**
 * Fuzzing of every decoder of bytes, guided by coverage: Jazzer in a JVM of its own for each {@link
 * io.turbidite.it.fuzz.Decoder}. For any input a decoder may throw only a {@link
 * io.turbidite.core.StorageException}, within bounds of time and memory.
 *
 * <p>Invariant: stored checksums are one constant in those JVMs (the hook {@code NoChecksums} of
 * the resources), so damage gets past them. Start reading at {@link io.turbidite.it.fuzz.FuzzTest}.
 */
@NullMarked
package io.turbidite.it.fuzz;

import org.jspecify.annotations.NullMarked;
