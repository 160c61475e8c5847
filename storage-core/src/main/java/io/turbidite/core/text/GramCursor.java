package io.turbidite.core.text;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;

import java.util.Arrays;

/**
 * Goes through the n-grams of a text: every n characters in a row, in lower case; of a text with
 * fewer, all of it. A gram that comes again has its occurrence behind it: {@code aaa}, {@code
 * aaa2}, {@code aaa3}. So no token comes twice, and texts have as many tokens in common as they
 * have grams.
 *
 * <p><em>Confined to one thread.</em>
 */
final class GramCursor implements TokenCursor {
    private final int size;
    private final Letters letters = new Letters();

    /** Where grams were first met, by hash: the place + 1; 0 is free. */
    private int[] slots = new int[64];

    /** How often, by the place where they were first met. */
    private int[] counts = new int[32];

    /** Where in {@link #slots} something is. */
    private int[] used = new int[32];

    private int usedCount;

    /** Where the gram begins; behind the last one if there is none. */
    private int at;

    /** Letters of the gram: fewer than the size if the text has no more. */
    private int length;

    private final ByteSink token = new ByteSink(64, 1 << 10);

    GramCursor(int size) {
        this.size = size;
    }

    @Override
    public GramCursor wrap(Slice text) {
        letters.read(text);
        for (int i = 0; i < usedCount; i++) {
            slots[used[i]] = 0;
        }
        usedCount = 0;
        length = Math.min(size, letters.count());
        if (counts.length < letters.count()) {
            counts = new int[letters.count() + letters.count() / 2];
            used = new int[counts.length];
            slots = new int[Integer.highestOneBit(counts.length) << 2];
        }
        at = -1;
        return this;
    }

    @Override
    public boolean next() {
        if (length == 0 || at + length >= letters.count()) {
            return false;
        }
        at++;
        int occurrence = count();
        token.clear();
        for (int i = 0; i < length; i++) {
            Letters.put(letters.at(at + i), token);
        }
        if (occurrence > 1) {
            putDigits(occurrence);
        }
        return true;
    }

    /** How often the gram has come by now. */
    private int count() {
        int mask = slots.length - 1;
        int hash = 0;
        for (int i = 0; i < length; i++) {
            hash = (hash + letters.at(at + i)) * 0x9E3779B1;
            hash ^= hash >>> 15;
        }
        int slot = hash & mask;
        while (slots[slot] != 0) {
            int first = slots[slot] - 1;
            if (isSame(first)) {
                return ++counts[first];
            }
            slot = (slot + 1) & mask;
        }
        slots[slot] = at + 1;
        used[usedCount++] = slot;
        counts[at] = 1;
        return 1;
    }

    private boolean isSame(int other) {
        int[] all = letters.all();
        return Arrays.equals(all, at, at + length, all, other, other + length);
    }

    private void putDigits(int number) {
        if (number >= 10) {
            putDigits(number / 10);
        }
        token.putByte('0' + number % 10);
    }

    @Override
    public int byteCount() {
        return token.length();
    }

    @Override
    public void append(ByteSink sink, int byteCountMax) {
        sink.putBytes(token.segment(), 0, Math.min(token.length(), byteCountMax));
    }
}
