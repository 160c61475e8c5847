package io.turbidite.core.text;

import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;

import java.util.Arrays;

/** Different tokens, numbered as they came. Reused. <em>Confined to one thread.</em> */
final class TokenSet {
    private final ByteSink bytes = new ByteSink(64, Integer.MAX_VALUE - 16);

    /** Where tokens end in {@link #bytes}, by number. */
    private int[] ends = new int[16];

    private int count;

    /** By hash, a token's number + 1; 0 is free. */
    private int[] slots = new int[32];

    private final Slice known = new Slice();
    private final Slice added = new Slice();

    /** Forgets all tokens. */
    TokenSet clear() {
        if (count > 0) {
            Arrays.fill(slots, 0);
        }
        bytes.clear();
        count = 0;
        return this;
    }

    /** How many there are. */
    int count() {
        return count;
    }

    /** The number of a token; -1 if it is not there. */
    int find(Slice token) {
        return slots[slot(token)] - 1;
    }

    /** Adds the token that a cursor is on; false if it is there already. */
    boolean add(TokenCursor cursor) {
        int start = bytes.length();
        cursor.append(bytes, Integer.MAX_VALUE);
        added.set(bytes.segment(), start, bytes.length() - start);
        int slot = slot(added);
        if (slots[slot] != 0) {
            bytes.truncate(start);
            return false;
        }
        if (count == ends.length) {
            ends = Arrays.copyOf(ends, 2 * count);
        }
        ends[count++] = bytes.length();
        slots[slot] = count;
        if (2 * count > slots.length) {
            grow();
        }
        return true;
    }

    /** The place of a token, or the free one where it goes. */
    private int slot(Slice token) {
        int mask = slots.length - 1;
        int slot = (int) BloomFilter.hash(token) & mask;
        while (slots[slot] != 0 && !token(slots[slot] - 1).contentEquals(token)) {
            slot = (slot + 1) & mask;
        }
        return slot;
    }

    private Slice token(int number) {
        int start = number == 0 ? 0 : ends[number - 1];
        return known.set(bytes.segment(), start, ends[number] - start);
    }

    private void grow() {
        int[] larger = new int[2 * slots.length];
        int mask = larger.length - 1;
        for (int number = 0; number < count; number++) {
            int slot = (int) BloomFilter.hash(token(number)) & mask;
            while (larger[slot] != 0) {
                slot = (slot + 1) & mask;
            }
            larger[slot] = number + 1;
        }
        slots = larger;
    }
}
