/**
 * Memory off the heap, counted before it is taken (D7).
 *
 * <p>One {@link io.turbidite.core.memory.MemoryBudget} per store hands out accounts; {@link
 * io.turbidite.core.memory.ChunkPool} recycles equal chunks charged to one of them. Invariant: what is
 * reserved never exceeds the budget, and nothing is allocated that was not reserved before. "Full" is a
 * value here ({@code false}, {@code null}): what to do about it is the caller's decision; tests
 * refuse memory by a {@link io.turbidite.core.memory.MemoryGate}. Start reading at {@code MemoryBudget}.
 */
@NullMarked
package io.turbidite.core.memory;

import org.jspecify.annotations.NullMarked;
