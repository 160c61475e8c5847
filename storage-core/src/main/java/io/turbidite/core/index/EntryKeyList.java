package io.turbidite.core.index;

import io.turbidite.core.Limits;
import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.sort.KeySort;
import io.turbidite.core.text.TokenCursor;
import io.turbidite.core.text.Tokenizer;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.IntBinaryOperator;

/**
 * The entry keys of one record in one index: {@link EntryKeys#append} fills it, writers and
 * checkers read it. Reused; holds copies, and makes no garbage once it is large enough.
 *
 * <p><em>Confined to one thread.</em>
 */
public final class EntryKeyList {
    private static final int SLOTS_FIRST = 64;
    private static final int[] NO_SLOTS = {};
    private static final Slice NO_PRIMARY_KEY = Slice.of(new byte[0]);

    private final ByteSink bytes = new ByteSink(64, Integer.MAX_VALUE - 16);
    private final Slice left = new Slice();
    private final Slice right = new Slice();
    private int count;
    private int[] offsets = new int[1];
    private int[] lengths = new int[1];

    /** A hash table of keys that came by {@link #addIfNew}: their number + 1; 0 is free. */
    private int[] slots = NO_SLOTS;

    /** Where in it the keys are, by number. */
    private int[] slotOf = NO_SLOTS;

    /** How many were put into it since it was empty. */
    private int hashedCount;

    private long[] prefixes = new long[0];
    private int[] order = new int[0];
    private int[] sorted = new int[0];
    private final KeySort sorter = new KeySort();
    private final IntBinaryOperator compare = this::compare;
    private @Nullable Tokenizer tokenizer;
    private @Nullable TokenCursor tokens;

    /** To go through a text whose tokens are keys. */
    TokenCursor tokens(Tokenizer of) {
        TokenCursor made = tokens;
        if (made == null || !of.equals(tokenizer)) {
            made = of.newCursor();
            tokens = made;
            tokenizer = of;
        }
        return made;
    }

    /** Forgets all keys. */
    public EntryKeyList clear() {
        bytes.clear();
        count = 0;
        for (int i = 0; i < hashedCount; i++) {
            slots[slotOf[i]] = 0;
        }
        hashedCount = 0;
        return this;
    }

    /** How many keys there are. */
    public int count() {
        return count;
    }

    /** Bytes of all keys. */
    public int byteCount() {
        return bytes.length();
    }

    /** Moves {@code slice} to the i-th key, which is valid until keys are added or cleared. */
    public Slice key(int i, Slice slice) {
        return slice.set(bytes.segment(), offsets[i], lengths[i]);
    }

    /** Where the bytes of the next key go; {@link #add} or {@link #addIfNew} ends it. */
    public ByteSink sink() {
        return bytes;
    }

    /** What was put into the {@link #sink} since {@code start} bytes were in it is a whole key. */
    public void add(int start) {
        if (count == offsets.length) {
            offsets = Arrays.copyOf(offsets, 2 * count);
            lengths = Arrays.copyOf(lengths, 2 * count);
        }
        offsets[count] = start;
        lengths[count] = bytes.length() - start;
        count++;
    }

    /**
     * What was put into the {@link #sink} since {@code start} bytes were in it is a secondary key:
     * adds it with the primary key behind it, unless it is there already.
     *
     * @return whether it was added
     * @throws io.turbidite.core.InvalidRequestException if both together are too long
     */
    public boolean addIfNew(int start, Slice primaryKey, String use) {
        int keyBytes = bytes.length() - start;
        if (keyBytes + primaryKey.length() > Limits.KEY_BYTES_MAX) {
            throw Limits.keyTooLong(use, keyBytes + primaryKey.length());
        }
        return addIfNew(start, primaryKey);
    }

    /**
     * What was put into the {@link #sink} since {@code start} bytes were in it is a key of any
     * length, without a primary key: adds it, unless it is there already.
     */
    public void addDistinct(int start) {
        var _ = addIfNew(start, NO_PRIMARY_KEY);
    }

    private boolean addIfNew(int start, Slice primaryKey) {
        int keyBytes = bytes.length() - start;
        if (2 * (count + 1) > slots.length) {
            growSlots(primaryKey.length());
        }
        int slot = slot(left.set(bytes.segment(), start, keyBytes), primaryKey.length());
        if (slots[slot] != 0) {
            bytes.truncate(start);
            return false;
        }
        bytes.putBytes(primaryKey);
        add(start);
        slots[slot] = count;
        slotOf[count - 1] = slot;
        hashedCount = count;
        return true;
    }

    /** The place of a secondary key, or the free one where it goes. */
    private int slot(Slice secondaryKey, int primaryBytes) {
        int mask = slots.length - 1;
        int slot = (int) BloomFilter.hash(secondaryKey) & mask;
        while (slots[slot] != 0) {
            int at = slots[slot] - 1;
            right.set(bytes.segment(), offsets[at], lengths[at] - primaryBytes);
            if (right.contentEquals(secondaryKey)) {
                return slot;
            }
            slot = (slot + 1) & mask;
        }
        return slot;
    }

    private void growSlots(int primaryBytes) {
        slots = new int[Math.max(SLOTS_FIRST, 2 * slots.length)];
        slotOf = Arrays.copyOf(slotOf, slots.length);
        for (int at = 0; at < count; at++) {
            left.set(bytes.segment(), offsets[at], lengths[at] - primaryBytes);
            int slot = slot(left, primaryBytes);
            slots[slot] = at + 1;
            slotOf[at] = slot;
        }
    }

    /** Sorts the keys ascending; they are distinct. */
    void sort() {
        if (count < 2) {
            return;
        }
        if (order.length < count) {
            prefixes = new long[offsets.length];
            order = new int[offsets.length];
            sorted = new int[offsets.length];
        }
        for (int i = 0; i < count; i++) {
            // the flipped sign bit makes the signed order of the sort the unsigned one of the bytes
            prefixes[i] = Bytes.prefix(bytes.segment(), offsets[i], lengths[i]) ^ Long.MIN_VALUE;
            order[i] = i;
        }
        sorter.sort(prefixes, order, count, compare);
        offsets = inOrder(offsets);
        lengths = inOrder(lengths);
    }

    /** What was there becomes the scratch space of the next sort. */
    private int[] inOrder(int[] values) {
        int[] into = sorted.length == values.length ? sorted : new int[values.length];
        for (int i = 0; i < count; i++) {
            into[i] = values[order[i]];
        }
        sorted = values;
        return into;
    }

    private int compare(int a, int b) {
        return key(a, left).compareBytes(key(b, right));
    }

    /**
     * Whether a key is in this list.
     */
    public boolean contains(Slice key) {
        int low = 0;
        int high = count - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            int order = key(middle, right).compareBytes(key);
            if (order == 0) {
                return true;
            }
            if (order < 0) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return false;
    }

    /** Appends all of it to a sink, for {@link #load}. */
    public void save(ByteSink sink) {
        sink.putInt(count);
        for (int i = 0; i < count; i++) {
            sink.putInt(lengths[i]);
            sink.putBytes(bytes.segment(), offsets[i], lengths[i]);
        }
    }

    /**
     * Takes the keys that {@link #save} put at an offset, in place of its own.
     *
     * @return the offset behind them
     */
    public long load(MemorySegment saved, long offset) {
        clear();
        int saves = saved.get(Bytes.I32, offset);
        long at = offset + Integer.BYTES;
        for (int i = 0; i < saves; i++) {
            int keyBytes = saved.get(Bytes.I32, at);
            int start = bytes.length();
            bytes.putBytes(saved, at + Integer.BYTES, keyBytes);
            add(start);
            at += Integer.BYTES + keyBytes;
        }
        return at;
    }
}
