/**
 * A region of byte-addressable memory, and the one way to it.
 *
 * <p>{@link io.turbidite.pm.region.RegionMemory} is all access: words, bytes, compare-and-swap,
 * write-back of lines, fence, force. {@link io.turbidite.pm.region.SegmentMemory} is the real one:
 * a file on persistent memory, another file, or memory without a file. The tests have a simulation
 * that loses what was not written back. {@link io.turbidite.pm.region.Region} adds a header with
 * two slots, pages of some sizes with their free lists, and the sum over all blocks.
 *
 * <p>Invariants: one writer; offsets, never addresses; a page is used again only after no durable
 * pointer and no reader's epoch leads to it. It knows nothing of keys. Start reading at {@code
 * RegionMemory}.
 */
@NullMarked
package io.turbidite.pm.region;

import org.jspecify.annotations.NullMarked;
