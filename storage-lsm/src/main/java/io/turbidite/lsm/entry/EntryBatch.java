package io.turbidite.lsm.entry;

import io.turbidite.core.Limits;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.memory.NativeMemory;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Neighbouring entries of a tree without values, taken out of a cursor together: a step from one to
 * the next is then a step of an index, and what each layer of cursors costs is paid once for all.
 * Keys are copied, so they outlive the pages and layers that they come from.
 *
 * <p><em>Confined to one thread.</em> Allocates nothing after construction. Owned by whoever reads,
 * and filled again and again.
 */
public final class EntryBatch {
    /** Most entries. */
    public static final int ENTRIES_MAX = 128;

    private static final int KEYS_BYTES = 8 << 10;

    /** Bytes of the longest key, with what may stand before it, and of a word written behind it. */
    private static final int LONGEST_BYTES = Limits.KEY_BYTES_MAX + 4 * Long.BYTES;

    private final MemorySegment keys = NativeMemory.unowned(KEYS_BYTES, Long.BYTES);
    private final int[] keyOffsets = new int[ENTRIES_MAX];
    private final int[] keyBytes = new int[ENTRIES_MAX];
    private final long[] versions = new long[ENTRIES_MAX];
    private final long[] checkedUntil = new long[ENTRIES_MAX];
    private int count;

    /** Bytes of keys. */
    private int usedBytes;

    public int count() {
        return count;
    }

    public void clear() {
        count = 0;
        usedBytes = 0;
    }

    /** Keeps the first {@code newCount} entries. */
    public void truncate(int newCount) {
        assert newCount <= count : newCount + " of " + count;
        count = newCount;
    }

    /** Whether there may be no room for one more entry. */
    public boolean isFull() {
        return count == ENTRIES_MAX || usedBytes > KEYS_BYTES - LONGEST_BYTES;
    }

    /** Adds the entry that a cursor stands on; there must be room. */
    public void add(EntryCursor entries) {
        Slice key = entries.key();
        int bytes = key.length();
        Bytes.copyShort(key.segment(), key.offset(), keys, usedBytes, bytes);
        keyOffsets[count] = usedBytes;
        keyBytes[count] = bytes;
        versions[count] = entries.timestamp() << 1 | (entries.isAntimatter() ? 1 : 0);
        checkedUntil[count] = entries.checkedUntil();
        usedBytes += bytes;
        count++;
    }

    /**
     * How many more entries there is room for, in a batch that is not full.
     *
     * @param bytesOfKey of each, as long as the longest key at most
     */
    public int room(int bytesOfKey) {
        int free = KEYS_BYTES - 2 * Long.BYTES - usedBytes;
        return Math.clamp(free / Math.max(1, bytesOfKey), 1, ENTRIES_MAX - count);
    }

    /**
     * Where the keys of further entries are written, from {@link #usedBytes} on, one behind the
     * other. Up to sixteen bytes behind the last one may be written too.
     */
    public MemorySegment keys() {
        return keys;
    }

    public int usedBytes() {
        return usedBytes;
    }

    /** Versions, as {@link EntryHead#version}; those of further entries from the count on. */
    public long[] versions() {
        return versions;
    }

    /** Adds entries whose keys, of one length, and versions were written to their places. */
    public void added(int entries, int bytesOfKey) {
        int end = count + entries;
        for (int i = count; i < end; i++) {
            keyOffsets[i] = usedBytes + (i - count) * bytesOfKey;
            keyBytes[i] = bytesOfKey;
            checkedUntil[i] = 0;
        }
        usedBytes += entries * bytesOfKey;
        count = end;
    }

    /** Adds entries whose keys, of these lengths, and versions were written to their places. */
    public void added(int entries, long[] bytesOfKeys) {
        int first = count;
        int offset = usedBytes;
        for (int i = 0; i < entries; i++) {
            int bytes = (int) bytesOfKeys[i];
            keyOffsets[first + i] = offset;
            keyBytes[first + i] = bytes;
            checkedUntil[first + i] = 0;
            offset += bytes;
        }
        usedBytes = offset;
        count = first + entries;
    }

    /** Adds an entry of another batch; there must be room. */
    public void add(EntryBatch other, int entry) {
        int bytes = other.keyBytes[entry];
        int from = other.keyOffsets[entry];
        // by words, as there are always some bytes of something behind a key
        for (int done = 0; done < bytes; done += Long.BYTES) {
            keys.set(Bytes.I64, usedBytes + done, other.keys.get(Bytes.I64, from + done));
        }
        keyOffsets[count] = usedBytes;
        keyBytes[count] = bytes;
        versions[count] = other.versions[entry];
        checkedUntil[count] = other.checkedUntil[entry];
        usedBytes += bytes;
        count++;
    }

    /** Says of all entries how far they are checked. */
    public void setCheckedUntil(long timestamp) {
        Arrays.fill(checkedUntil, 0, count, timestamp);
    }

    /** Puts an entry in the place of one before it. */
    public void move(int from, int to) {
        keyOffsets[to] = keyOffsets[from];
        keyBytes[to] = keyBytes[from];
        versions[to] = versions[from];
        checkedUntil[to] = checkedUntil[from];
    }

    public boolean hasSameKey(int a, int b) {
        int bytes = keyBytes[a];
        if (bytes != keyBytes[b]) {
            return false;
        }
        int atA = keyOffsets[a];
        int atB = keyOffsets[b];
        if (bytes <= Long.BYTES) {
            return prefix(a) == prefix(b);
        }
        // of neighbours the last bytes differ first
        return keys.get(Bytes.I64, atA + bytes - Long.BYTES)
                        == keys.get(Bytes.I64, atB + bytes - Long.BYTES)
                && Bytes.compare(keys, atA, bytes - Long.BYTES, keys, atB, bytes - Long.BYTES) == 0;
    }

    /** The first eight bytes of an entry's key, as {@link Bytes#prefix}. */
    public long prefix(int entry) {
        // there are always eight bytes from where it begins, though not all may be its own
        long word = keys.get(Bytes.I64_BE, keyOffsets[entry]);
        int missing = Long.BYTES - keyBytes[entry];
        return missing <= 0
                ? word
                : missing == Long.BYTES ? 0 : word & (-1L << (Byte.SIZE * missing));
    }

    /** Order of an entry's key against another one. */
    public int compareKey(int entry, Slice key) {
        return compareKey(entry, key, Bytes.prefix(key.segment(), key.offset(), key.length()));
    }

    /**
     * Order of two entries of batches, which have the same first eight bytes: by key, then by
     * timestamp, the larger first, then matter before anti-matter.
     */
    public static int compareRest(EntryBatch a, int entryOfA, EntryBatch b, int entryOfB) {
        int bytesOfA = a.keyBytes[entryOfA] - Long.BYTES;
        int bytesOfB = b.keyBytes[entryOfB] - Long.BYTES;
        int order = bytesOfA <= 0 || bytesOfB <= 0
                ? Integer.compare(bytesOfA, bytesOfB)
                : Bytes.compare(
                        a.keys,
                        a.keyOffsets[entryOfA] + Long.BYTES,
                        bytesOfA,
                        b.keys,
                        b.keyOffsets[entryOfB] + Long.BYTES,
                        bytesOfB);
        if (order == 0) {
            order = Long.compare(b.timestamp(entryOfB), a.timestamp(entryOfA));
        }
        return order != 0
                ? order
                : Boolean.compare(a.isAntimatter(entryOfA), b.isAntimatter(entryOfB));
    }

    private int compareKey(int entry, Slice key, long prefixOfKey) {
        long prefix = prefix(entry);
        if (prefix != prefixOfKey) {
            return Long.compareUnsigned(prefix, prefixOfKey);
        }
        int mine = keyBytes[entry] - Long.BYTES;
        int theirs = key.length() - Long.BYTES;
        if (mine <= 0 || theirs <= 0) {
            // what the shorter one lacks is zeros in the other, or nothing
            return Integer.compare(mine, theirs);
        }
        return Bytes.compare(
                keys,
                keyOffsets[entry] + Long.BYTES,
                mine,
                key.segment(),
                key.offset() + Long.BYTES,
                theirs);
    }

    /**
     * The first entry whose key is at or above {@code key}; the count if there is none.
     *
     * @param hint an entry near which it may be, mostly behind it
     */
    public int lowerBound(Slice key, int hint) {
        long prefix = Bytes.prefix(key.segment(), key.offset(), key.length());
        int low = 0;
        int high = count;
        if (hint < count) {
            if (compareKey(hint, key, prefix) < 0) {
                low = hint + 1;
                int step = 1;
                while (low + step <= count) {
                    int probe = low + step - 1;
                    if (compareKey(probe, key, prefix) >= 0) {
                        high = probe;
                        break;
                    }
                    low = probe + 1;
                    step <<= 1;
                }
            } else {
                high = hint;
            }
        }
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (compareKey(middle, key, prefix) < 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** Moves {@code slice} to the key of an entry. */
    public Slice key(int entry, Slice slice) {
        return slice.set(keys, keyOffsets[entry], keyBytes[entry]);
    }

    public long timestamp(int entry) {
        return versions[entry] >>> 1;
    }

    public boolean isAntimatter(int entry) {
        return (versions[entry] & 1) != 0;
    }

    /** As {@link EntryCursor#checkedUntil}. */
    public long checkedUntil(int entry) {
        return checkedUntil[entry];
    }
}
