package io.turbidite.core.record;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Bytes;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * The open field names met so far in one record: finds a repeated one without an object for each.
 * <em>Confined to one thread.</em>
 *
 * <p>Up to {@link RecordFormat#OPEN_FIELD_COUNT_MAX} names, compared by hash and then by bytes;
 * with that few, even names made to collide cost milliseconds.
 */
final class OpenNames {
    private int[] hashes = new int[16];
    private int[] offsets = new int[16];
    private int[] lengths = new int[16];
    private int count;

    /** Forgets all names but the first {@code keptCount}. */
    void truncate(int keptCount) {
        count = Math.min(count, keptCount);
    }

    /**
     * Adds the name in these bytes, which stay where they are until they are truncated.
     *
     * @return false if it was there already
     */
    boolean add(MemorySegment segment, int offset, int length) {
        int hash = hash(segment, offset, length);
        for (int i = 0; i < count; i++) {
            if (hashes[i] == hash
                    && Bytes.compare(segment, offset, length, segment, offsets[i], lengths[i])
                            == 0) {
                return false;
            }
        }
        if (count == RecordFormat.OPEN_FIELD_COUNT_MAX) {
            throw new InvalidRequestException("a record has more than %d undeclared fields"
                    .formatted(RecordFormat.OPEN_FIELD_COUNT_MAX));
        }
        if (count == hashes.length) {
            hashes = Arrays.copyOf(hashes, 2 * count);
            offsets = Arrays.copyOf(offsets, 2 * count);
            lengths = Arrays.copyOf(lengths, 2 * count);
        }
        hashes[count] = hash;
        offsets[count] = offset;
        lengths[count] = length;
        count++;
        return true;
    }

    private static int hash(MemorySegment segment, int offset, int length) {
        int hash = length;
        for (int i = 0; i < length; i++) {
            hash = 31 * hash + segment.get(Bytes.U8, offset + i);
        }
        return hash;
    }
}
