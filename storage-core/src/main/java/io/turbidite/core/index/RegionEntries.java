package io.turbidite.core.index;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;

import java.util.Arrays;

/**
 * The entries of one secondary key, as a region gives them: newest first.
 *
 * <p><em>Confined to one thread</em>, and reused. It takes memory for all entries of a key.
 */
public final class RegionEntries {
    private final ByteSink secondaryKey = new ByteSink(64, 1 << 16);
    private final ByteSink bytes = new ByteSink(1 << 10, Integer.MAX_VALUE - 8);
    private final Slice keySlice = new Slice();
    private long[] timestamps = new long[64];
    private boolean[] checked = new boolean[64];
    private int[] ends = new int[64];
    private int count;
    private int[] order = new int[64];
    private int[] spare = new int[0];
    private final Slice left = new Slice();
    private final Slice right = new Slice();

    /** Begins a secondary key; what was there is forgotten. */
    public void begin(Slice key) {
        secondaryKey.clear().putBytes(key);
        bytes.clear();
        count = 0;
    }

    /**
     * Adds an entry.
     *
     * @param isChecked whether the region knows that it has absorbed no newer version of the record
     */
    public void add(Slice primaryKey, long timestamp, boolean isChecked) {
        if (count == timestamps.length) {
            timestamps = Arrays.copyOf(timestamps, count * 2);
            checked = Arrays.copyOf(checked, count * 2);
            ends = Arrays.copyOf(ends, count * 2);
        }
        timestamps[count] = timestamp;
        checked[count] = isChecked;
        ends[count++] = bytes.putBytes(primaryKey).length();
    }

    /** The secondary key; valid until the next {@link #begin}. */
    public Slice secondaryKey() {
        return secondaryKey.asSlice(keySlice);
    }

    /** How many entries there are; none if all are stale. */
    public int count() {
        return count;
    }

    /** The primary key of an entry; valid until the next {@link #add}. */
    public Slice primaryKey(int index, Slice target) {
        int from = index == 0 ? 0 : ends[index - 1];
        return target.set(bytes.segment(), from, ends[index] - from);
    }

    /**
     * The places of the entries by primary key, then as they were added; the first {@link #count}
     * numbers count, until the next {@link #begin}.
     */
    public int[] byPrimaryKey() {
        return sorted(true);
    }

    /** The same by timestamp, ascending. */
    public int[] byTimestamp() {
        return sorted(false);
    }

    /** A merge sort from below, as it is stable and the sizes are anything. */
    private int[] sorted(boolean byKey) {
        if (order.length < count) {
            order = new int[timestamps.length];
        }
        if (spare.length < count) {
            spare = new int[timestamps.length];
        }
        for (int i = 0; i < count; i++) {
            order[i] = i;
        }
        for (int width = 1; width < count; width *= 2) {
            for (int from = 0; from < count; from += 2 * width) {
                int middle = Math.min(from + width, count);
                merge(from, middle, Math.min(middle + width, count), byKey);
            }
            int[] merged = spare;
            spare = order;
            order = merged;
        }
        return order;
    }

    private void merge(int from, int middle, int end, boolean byKey) {
        int a = from;
        int b = middle;
        for (int at = from; at < end; at++) {
            boolean takesLeft = b == end || (a < middle && !isAbove(order[a], order[b], byKey));
            spare[at] = takesLeft ? order[a++] : order[b++];
        }
    }

    private boolean isAbove(int a, int b, boolean byKey) {
        return byKey
                ? primaryKey(a, left).compareBytes(primaryKey(b, right)) > 0
                : timestamps[a] > timestamps[b];
    }

    /** When the entry was put. */
    public long timestamp(int index) {
        return timestamps[index];
    }

    /** As {@link #add} was told. */
    public boolean isChecked(int index) {
        return checked[index];
    }
}
