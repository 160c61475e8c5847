package io.turbidite.pm.cells;

import io.turbidite.pm.region.DirtyLines;
import io.turbidite.pm.region.Region;

import java.util.Arrays;

/**
 * Stores of words that publish what was written before them: they are done behind the fence that
 * makes it durable, all together, and with a fence of their own.
 *
 * <p><em>Confined to the writer.</em> Many publications share two fences.
 */
public final class Staged {
    private final Region region;
    private long[] offsets = new long[64];
    private long[] words = new long[64];
    private int count;

    public Staged(Region region) {
        this.region = region;
    }

    /** Stores {@code word} later. */
    public void add(long offset, long word) {
        if (count == offsets.length) {
            offsets = Arrays.copyOf(offsets, count * 2);
            words = Arrays.copyOf(words, count * 2);
        }
        offsets[count] = offset;
        words[count++] = word;
    }

    /** How many stores wait. */
    public int count() {
        return count;
    }

    /**
     * Fences what was written, then stores all and fences that. A fence that has nothing to do is
     * left out.
     */
    public void publish() {
        DirtyLines dirty = region.dirty();
        dirty.settle();
        for (int i = 0; i < count; i++) {
            region.memory().putLong(offsets[i], words[i]);
            dirty.add(offsets[i], 8);
        }
        count = 0;
        dirty.settle();
    }
}
