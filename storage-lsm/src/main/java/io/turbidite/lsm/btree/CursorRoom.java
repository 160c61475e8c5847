package io.turbidite.lsm.btree;

import io.turbidite.core.Limits;
import io.turbidite.core.memory.NativeMemory;

import java.lang.foreign.MemorySegment;

/**
 * What a cursor decodes pages into. <em>Confined to one thread</em>, that of the {@link TreeCursor}
 * that has it: from its construction until it is closed.
 */
final class CursorRoom {
    final Leaf leaf = new Leaf();
    final Stretch stretch = new Stretch();

    /** Of entries that are not in the stretch. */
    final long[] prefixes = new long[Stretch.ENTRIES_MAX];

    /** Room for the longest key, and for the eight bytes that a head is copied in. */
    final MemorySegment keyBytes =
            NativeMemory.unowned(Limits.KEY_BYTES_MAX + (long) Heads.BYTES, 8);
}
