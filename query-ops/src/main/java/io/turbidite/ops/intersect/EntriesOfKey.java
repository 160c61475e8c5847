package io.turbidite.ops.intersect;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;

import java.util.Arrays;

/**
 * What one index has of one primary key: mostly one entry, more where some are obsolete or the
 * index has several for a record. Reused from key to key. <em>Confined to one thread.</em>
 */
final class EntriesOfKey {
    /** The number of an entry that is not there. */
    static final int NONE = -1;

    private long[] timestamps = new long[4];
    private long[] checkedUntil = new long[4];
    private int[] offsets = new int[5];
    private final ByteSink secondaryKeys = new ByteSink(64, Integer.MAX_VALUE - 8);
    private int count;

    void clear() {
        count = 0;
        secondaryKeys.clear();
    }

    void add(long timestamp, long checked, Slice secondaryKey) {
        if (count == timestamps.length) {
            timestamps = Arrays.copyOf(timestamps, 2 * count);
            checkedUntil = Arrays.copyOf(checkedUntil, 2 * count);
            offsets = Arrays.copyOf(offsets, 2 * count + 1);
        }
        timestamps[count] = timestamp;
        checkedUntil[count] = checked;
        secondaryKeys.putBytes(secondaryKey);
        count++;
        offsets[count] = secondaryKeys.length();
    }

    int count() {
        return count;
    }

    long timestamp(int entry) {
        return timestamps[entry];
    }

    long checkedUntil(int entry) {
        return checkedUntil[entry];
    }

    Slice secondaryKey(int entry, Slice slice) {
        int offset = offsets[entry];
        return slice.set(secondaryKeys.segment(), offset, offsets[entry + 1] - offset);
    }

    /** The first entry of a version; {@link #NONE}. */
    int find(long timestamp) {
        for (int i = 0; i < count; i++) {
            if (timestamps[i] == timestamp) {
                return i;
            }
        }
        return NONE;
    }
}
