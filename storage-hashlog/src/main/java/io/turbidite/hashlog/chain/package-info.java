/**
 * Records and the chains through them (FISH19 §4.2, §6.3, algorithm 1).
 *
 * <p>Holds the layout of key pointers ({@link io.turbidite.hashlog.chain.KeyPointer}). Writes a
 * record with its key pointers, inserts these into their chains, and walks a chain. Knows the log
 * and the table, and of PSFs only the flat {@link io.turbidite.hashlog.psf.Properties}. Invariant:
 * every link leads to a lower address. Start reading at {@code ChainInsertion}.
 */
@NullMarked
package io.turbidite.hashlog.chain;

import org.jspecify.annotations.NullMarked;
