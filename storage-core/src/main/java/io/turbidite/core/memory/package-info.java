/**
 * Memory off the heap, counted before it is taken (D7).
 *
 * <p>Each store has one {@link io.turbidite.core.memory.MemoryBudget} that hands out accounts;
 * {@link io.turbidite.core.memory.ChunkPool} recycles equal chunks and charges them to one account.
 * Invariant: reservations never exceed the budget, and every allocation was reserved before. "Full"
 * is a value here ({@code false}, {@code null}), and the caller decides what to do about it. Tests
 * refuse memory by a {@link io.turbidite.core.memory.MemoryCheck}. Start reading at {@code
 * MemoryBudget}.
 */
@NullMarked
package io.turbidite.core.memory;

import org.jspecify.annotations.NullMarked;
