package io.turbidite.pm.validate;

import io.turbidite.core.Limits;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.epoch.Epochs;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.pm.cells.KeyList;
import io.turbidite.pm.cells.Node;
import io.turbidite.pm.region.RegionMemory;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The primary keys that have stale entries, with their newest timestamp: small, so that readers
 * seldom go to the region. Open addressing; each place has three words: the key's hash, the value,
 * and the key itself if it has at most 8 bytes, else where its cell in the region is.
 *
 * <p><em>Thread-safe</em> for one writer and any readers: a place is filled before its value word
 * is released. A key leaves only after all readers that may stand on a stale entry of it are gone.
 * Its place may become another key's under a reader: so a reader believes a place's hash and key
 * only if the value is behind them what it was before.
 *
 * <p>Where its budget ends it is incomplete from then on: the table in the region decides then.
 */
final class StaleTable {
    private static final int WORDS = 3;
    private static final int PLACE_COUNT_MIN = 64;
    private static final long REMOVED = -1;
    private static final int SHORT_KEY_BYTES = 8;

    private static final int ENTRY_SHIFT = 47;
    private static final int STALE_SHIFT = 48;
    private static final int FORM_SHIFT = 56;
    private static final long FORM_MASK = 0xF;
    private static final long LONG_KEY = 15;

    /** How many batches of keys that leave have the key; at the most it stays for ever. */
    private static final int LEAVING_SHIFT = 60;

    private static final long LEAVING_MAX = 15;

    private static final VarHandle WORD = MethodHandles.arrayElementVarHandle(long[].class);

    private final RegionMemory memory;
    private final Epochs epochs;
    private final MemoryBudget.Account account;
    private final ConcurrentLinkedQueue<KeyList> leaving = new ConcurrentLinkedQueue<>();
    private final ArrayDeque<KeyList> spare = new ArrayDeque<>();
    private final Slice left = new Slice();

    /** Keys without stale entries, with their hashes. */
    private KeyList idle = new KeyList();

    private volatile long[] places = {};
    private volatile boolean complete = true;
    private int used;
    private int count;

    StaleTable(RegionMemory memory, Epochs epochs, MemoryBudget.Account account) {
        this.memory = memory;
        this.epochs = epochs;
        this.account = account;
    }

    /** Whether a key that is not here has no stale entry. */
    boolean isComplete() {
        return complete;
    }

    /** How many keys are here. */
    int count() {
        return count;
    }

    /** Bytes that it holds. */
    long byteSize() {
        return places.length * 8L;
    }

    /** The value of a key, for {@link #timestamp}; 0 if it is not here. */
    long find(Slice key, long hash) {
        long[] table = places;
        if (table.length == 0) {
            return 0;
        }
        int placeCount = table.length / WORDS;
        long form = form(key);
        int i = (int) (hash >>> 32) & placeCount - 1;
        while (true) {
            int at = i * WORDS;
            long value = (long) WORD.getAcquire(table, at + 1);
            if (value == 0) {
                return 0;
            }
            if (isOfForm(value, form) && (long) WORD.getAcquire(table, at) == hash) {
                long keyWord = (long) WORD.getAcquire(table, at + 2);
                if ((long) WORD.getAcquire(table, at + 1) != value) {
                    continue; // once more: it may be another key's
                }
                if (isKey(keyWord, key)) {
                    return value;
                }
            }
            i = i + 1 & placeCount - 1;
        }
    }

    private static boolean isOfForm(long value, long form) {
        return (value >>> FORM_SHIFT & FORM_MASK) == form && value != REMOVED;
    }

    private static long leavingCount(long value) {
        return value >>> LEAVING_SHIFT;
    }

    private static long withLeaving(long value, long count) {
        return (value & ~(LEAVING_MAX << LEAVING_SHIFT)) | (count << LEAVING_SHIFT);
    }

    static long timestamp(long value) {
        return value & Limits.TIMESTAMP_MAX;
    }

    static boolean hasEntry(long value) {
        return (value >>> ENTRY_SHIFT & 1) == 1;
    }

    static int staleCount(long value) {
        return (int) (value >>> STALE_SHIFT) & 0xFF;
    }

    /** 1 to 9 for keys of 0 to 8 bytes. */
    private static long form(Slice key) {
        return key.length() <= SHORT_KEY_BYTES ? key.length() + 1L : LONG_KEY;
    }

    private boolean isKey(long keyWord, Slice key) {
        return key.length() <= SHORT_KEY_BYTES
                ? keyWord == shortKey(key)
                : Node.hasKey(memory, keyWord, key);
    }

    private static long shortKey(Slice key) {
        if (key.length() == SHORT_KEY_BYTES) {
            return key.segment().get(Bytes.I64, key.offset());
        }
        long word = 0;
        for (int i = 0; i < key.length(); i++) {
            word |= (long) key.byteAt(i) << (8 * i);
        }
        return word;
    }

    // ---- the writer -----------------------------------------------------------------------------

    /** Where a key is; -1 if it is not here. */
    private int placeOf(Slice key, long hash) {
        long[] table = places;
        if (table.length == 0) {
            return -1;
        }
        int placeCount = table.length / WORDS;
        long form = form(key);
        for (int i = (int) (hash >>> 32) & placeCount - 1; ; i = i + 1 & placeCount - 1) {
            int at = i * WORDS;
            if (table[at + 1] == 0) {
                return -1;
            }
            if (isOfForm(table[at + 1], form) && table[at] == hash && isKey(table[at + 2], key)) {
                return at;
            }
        }
    }

    /**
     * A new operation on a key: some entries more, and another newest timestamp.
     *
     * @param cell where the key is in the region
     * @param before what the table in the region knew, 0 if nothing
     * @param layer what is new, a {@link LayerVersion}
     * @param after what the table in the region knows now
     */
    void superseded(Slice key, long hash, long cell, long before, long layer, long after) {
        if (!complete) {
            return;
        }
        int at = placeOf(key, hash);
        int staleBefore = at < 0 ? 0 : staleCount(places[at + 1]);
        boolean hasEntry = VersionWord.hasEntry(after);
        int stale = staleBefore == VersionWord.COUNT_MAX
                ? staleBefore
                : staleBefore
                        + (VersionWord.hasEntry(before) ? 1 : 0)
                        + LayerVersion.entryCount(layer)
                        - (hasEntry ? 1 : 0);
        put(at, key, hash, cell, VersionWord.timestamp(after), hasEntry, Math.max(0, stale));
    }

    /** What the table in the region says when it is read again. */
    void restored(Slice key, long hash, long cell, long versionWord) {
        int stale = VersionWord.staleCount(versionWord);
        if (complete && stale > 0) {
            put(
                    placeOf(key, hash),
                    key,
                    hash,
                    cell,
                    VersionWord.timestamp(versionWord),
                    VersionWord.hasEntry(versionWord),
                    stale);
        }
    }

    private void put(
            int at, Slice key, long hash, long cell, long timestamp, boolean hasEntry, int stale) {
        if (at < 0 && stale == 0) {
            return;
        }
        long value = timestamp
                | (hasEntry ? 1L << ENTRY_SHIFT : 0)
                | (long) Math.min(stale, VersionWord.COUNT_MAX) << STALE_SHIFT
                | form(key) << FORM_SHIFT;
        if (at >= 0) {
            if (key.length() > SHORT_KEY_BYTES) {
                WORD.setRelease(places, at + 2, cell); // the cell before may be in a retired page
            }
            WORD.setRelease(places, at + 1, withLeaving(value, leavingCount(places[at + 1])));
            return;
        }
        boolean isFull = (used + 1L) * WORDS * 5 > 3L * places.length;
        if (isFull && !hasRemoved(hash) && !grow()) {
            return;
        }
        if (insert(places, hash, key.length() <= SHORT_KEY_BYTES ? shortKey(key) : cell, value)) {
            used++;
        }
        count++;
    }

    /** Whether a key with this hash gets the place of one that has left. */
    private boolean hasRemoved(long hash) {
        return places.length > 0 && places[freePlace(places, hash) + 1] == REMOVED;
    }

    /** The first place for a key with this hash that no key has. */
    private static int freePlace(long[] table, long hash) {
        int placeCount = table.length / WORDS;
        int i = (int) (hash >>> 32) & placeCount - 1;
        while (table[i * WORDS + 1] != 0 && table[i * WORDS + 1] != REMOVED) {
            i = i + 1 & placeCount - 1;
        }
        return i * WORDS;
    }

    /** Whether the place was never used, or is empty again. */
    private static boolean insert(long[] table, long hash, long keyWord, long value) {
        int at = freePlace(table, hash);
        boolean wasEmpty = table[at + 1] == 0;
        // behind the removal of whoever was here, for readers in the middle of a look at it
        WORD.setRelease(table, at, hash);
        WORD.setRelease(table, at + 2, keyWord);
        WORD.setRelease(table, at + 1, value);
        return wasEmpty;
    }

    /** Copies what is here to a table that has room; false if the budget has none. */
    private boolean grow() {
        int placeCount = Math.max(PLACE_COUNT_MIN, Integer.highestOneBit(count + 1) * 4);
        long[] before = places;
        if (!account.reserve((long) placeCount * WORDS * 8)) {
            complete = false;
            clear();
            return false;
        }
        long[] table = new long[placeCount * WORDS];
        for (int at = 0; at < before.length; at += WORDS) {
            if (before[at + 1] != 0 && before[at + 1] != REMOVED) {
                var _ = insert(table, before[at], before[at + 2], before[at + 1]);
            }
        }
        places = table;
        used = count;
        account.release(before.length * 8L);
        return true;
    }

    /** Gives the memory back; it is empty. */
    void clear() {
        account.release(places.length * 8L);
        places = new long[0];
        used = 0;
        count = 0;
    }

    /** A stale entry was marked: no reader asks for it again. */
    void marked(Slice key, long hash) {
        lower(key, hash, 1, VersionWord.COUNT_MAX);
    }

    /**
     * An entry is gone.
     *
     * @param staleMax how many stale ones can be left
     */
    void collected(Slice key, long hash, boolean wasMarked, int staleMax) {
        lower(key, hash, wasMarked ? 0 : 1, staleMax);
    }

    private void lower(Slice key, long hash, int by, int staleMax) {
        int at = placeOf(key, hash);
        if (at < 0) {
            return;
        }
        long value = places[at + 1];
        int before = staleCount(value);
        if (before == VersionWord.COUNT_MAX && staleMax == VersionWord.COUNT_MAX) {
            return; // nobody knows how many there are
        }
        int after = Math.min(Math.max(0, before - by), staleMax);
        long lowered = (value & ~(0xFFL << STALE_SHIFT)) | ((long) after << STALE_SHIFT);
        if (after == 0 && before > 0 && leavingCount(value) < LEAVING_MAX) {
            idle.add(key, hash);
            lowered = withLeaving(lowered, leavingCount(value) + 1);
        }
        WORD.setRelease(places, at + 1, lowered);
    }

    /** Whether a key is here, also without stale entries. */
    boolean has(Slice key, long hash) {
        return placeOf(key, hash) >= 0;
    }

    /** A cell has moved to another node. */
    void moved(Slice key, long hash, long cell) {
        if (key.length() > SHORT_KEY_BYTES) {
            int at = placeOf(key, hash);
            if (at >= 0) {
                WORD.setRelease(places, at + 2, cell);
            }
        }
    }

    /**
     * Keys without stale entries leave once today's readers are gone. A key may get stale entries
     * and lose them again meanwhile: then it leaves with the last of the batches that have it, as
     * a reader that the first did not wait for may stand on one of those entries.
     */
    void release() {
        if (idle.count() > 0) {
            KeyList batch = idle;
            idle = spare.isEmpty() ? new KeyList() : spare.pop();
            epochs.bump(() -> leaving.add(batch));
        }
        for (KeyList batch = leaving.poll(); batch != null; batch = leaving.poll()) {
            for (int i = 0; i < batch.count(); i++) {
                int at = placeOf(batch.key(i, left), batch.word(i));
                if (at >= 0 && leavingCount(places[at + 1]) < LEAVING_MAX) {
                    leave(at);
                }
            }
            batch.clear();
            spare.push(batch);
        }
    }

    private void leave(int at) {
        long value = places[at + 1];
        long still = leavingCount(value) - 1;
        if (still <= 0 && staleCount(value) == 0) {
            remove(at);
        } else {
            WORD.setRelease(places, at + 1, withLeaving(value, Math.max(0, still)));
        }
    }

    /** Keys behind this place are still found: it stays a step, unless nothing is behind. */
    private void remove(int place) {
        int at = place;
        WORD.setRelease(places, at + 1, REMOVED);
        count--;
        int next = at + WORDS == places.length ? 0 : at + WORDS;
        while (places[next + 1] == 0 && places[at + 1] == REMOVED) {
            WORD.setRelease(places, at + 1, 0L);
            used--;
            next = at;
            at = at == 0 ? places.length - WORDS : at - WORDS;
        }
    }
}
