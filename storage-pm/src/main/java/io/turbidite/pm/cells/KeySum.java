package io.turbidite.pm.cells;

import io.turbidite.core.Limits;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.format.Crc32c;

import java.lang.foreign.MemorySegment;

/**
 * Makes the heads of cells: length and checksum of a key. Sums a copy: a view of each key's own
 * segment was 38 % of what an absorption allocated.
 *
 * <p><em>Confined to one thread</em>, and reused.
 */
final class KeySum {
    private final Crc32c crc = new Crc32c();
    private final byte[] bytes = new byte[Limits.KEY_BYTES_MAX + Integer.BYTES];
    private final MemorySegment copy = MemorySegment.ofArray(bytes);

    /** The head of the cell of a key. */
    long head(Slice key) {
        int length = key.length();
        Bytes.copyShort(key.segment(), key.offset(), copy, 0, length);
        copy.set(Bytes.I32, length, length);
        return (long) crc.compute(bytes, length + Integer.BYTES) << 32 | length;
    }
}
