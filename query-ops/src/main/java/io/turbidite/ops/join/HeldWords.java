package io.turbidite.ops.join;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordColumns;
import io.turbidite.core.sort.SortBuffer;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.batch.EncodedWords;
import io.turbidite.ops.batch.KeyWords;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/**
 * The rows of a {@link JoinTable} by the words of their keys, so that batches are looked up in it
 * without encoding a key, and by columns. Each row has a number, from 1 on, and leads to the one
 * that was there before it with its key: so rows of a key come in the order of the table's.
 *
 * <p>It lies beside a table that does not change any more, in the memory of that. <em>Confined to
 * one thread</em> while it is made; then several may look rows up.
 */
final class HeldWords {
    /** No row. */
    static final int NONE = 0;

    /** Only the table knows: the key has no words, and there are such keys. */
    static final int BY_BYTES = -1;

    /** More rows are looked up one by one. */
    private static final int ROWS_MAX = 1 << 24;

    /** Rows that are read at once, and between two looks whether the query was stopped. */
    private static final int ROWS_AT_ONCE = 1_024;

    private final JoinTable table;
    private final RecordType type;
    private final int width;

    /** The newest row of a key, and above it half of the key's hash; 0 is free. */
    private final long[] slots;

    /** Keys, places in the table and rows before, of each row. */
    private final long[] keys;

    private final long[] addresses;
    private final int[] before;
    private final HeldColumns columns;
    private boolean hasChains;
    private boolean hasOthers;

    private HeldWords(JoinTable table, RecordType type, int rows, int width, SideColumns columns) {
        this.table = table;
        this.type = type;
        this.width = width;
        this.slots = new long[slotCount(rows)];
        this.keys = new long[(rows + 1) * width];
        this.addresses = new long[rows + 1];
        this.before = new int[rows + 1];
        this.columns = new HeldColumns(columns, rows + 1);
    }

    private static int slotCount(int rows) {
        return Integer.highestOneBit(rows) * 4;
    }

    /**
     * The rows of a side that is held, built, in its table; null where there are none, rows were
     * spilled, keys have no words or there is no memory for this.
     *
     * @param columns reads what groups need of the rows
     */
    static @Nullable HeldWords of(HeldRows held, SideColumns columns, RunOptions options) {
        JoinSide side = held.side();
        JoinTable table = held.table();
        long count = table.rows().count();
        if (count == 0 || count > ROWS_MAX || held.hasSpilled() || !fit(side)) {
            return null;
        }
        int rows = (int) count;
        KeyWords of = new KeyWords(side.type(), side.fields());
        long bytesOfRow =
                (of.words() + 1L) * Long.BYTES + Integer.BYTES + HeldColumns.bytesOfRow(columns);
        if (!table.chargeBeside(slotCount(rows) * (long) Long.BYTES + (rows + 1) * bytesOfRow)) {
            return null;
        }
        HeldWords words = new HeldWords(table, side.type(), rows, of.words(), columns);
        int known = words.readKeys(of, new EncodedWords(side.keyKinds()), options);
        if (known < rows / 2) {
            table.lowerBeside(); // most would be looked up one by one, which the table does by
            // itself
            return null;
        }
        if (HeldColumns.reads(columns)) {
            words.readColumns(options);
        }
        return words;
    }

    private static boolean fit(JoinSide side) {
        for (TypeKind kind : side.keyKinds()) {
            if (!EncodedWords.fit(kind)) {
                return false;
            }
        }
        return KeyWords.fit(side.type(), side.fields());
    }

    /** How many keys have words. */
    private int readKeys(KeyWords of, EncodedWords encoded, RunOptions options) {
        int known = 0;
        SortBuffer rows = table.rows();
        Slice key = new Slice();
        long address = SortBuffer.FIRST;
        for (int row = 1; address != SortBuffer.NONE; row++) {
            if (row % ROWS_AT_ONCE == 0) {
                options.checkNotStopped();
            }
            addresses[row] = address;
            if (encoded.read(rows.key(address, key), keys, row * width)) {
                add(row, of.hash(keys, row * width));
                known++;
            } else {
                hasOthers = true;
            }
            address = rows.addressBehind(address);
        }
        return known;
    }

    private void add(int row, long hash) {
        int mask = slots.length - 1;
        int slot = (int) (hash >>> Integer.SIZE) & mask;
        while (slots[slot] != 0 && !isOf(slots[slot], hash, keys, row * width)) {
            slot = (slot + 1) & mask;
        }
        before[row] = (int) slots[slot];
        hasChains |= before[row] != NONE;
        slots[slot] = hash >>> Integer.SIZE << Integer.SIZE | row;
    }

    private void readColumns(RunOptions options) {
        RecordColumns records = new RecordColumns(type);
        long[] origins = new long[ROWS_AT_ONCE];
        int[] lengths = new int[ROWS_AT_ONCE];
        int[] which = new int[ROWS_AT_ONCE];
        for (int i = 0; i < which.length; i++) {
            which[i] = i;
        }
        Slice shown = new Slice();
        int from = 1;
        while (from < addresses.length) {
            options.checkNotStopped();
            MemorySegment memory = table.row(addresses[from], shown).segment();
            int count = 0;
            // as many as lie in one piece
            while (count < which.length && from + count < addresses.length) {
                table.row(addresses[from + count], shown);
                if (!shown.segment().equals(memory)) {
                    break;
                }
                origins[count] = shown.offset();
                lengths[count] = shown.length();
                count++;
            }
            records.wrap(memory, origins, lengths, count);
            columns.read(records, which, count, from);
            from += count;
        }
    }

    private boolean isOf(long found, long hash, long[] words, int at) {
        if ((found ^ hash) >>> Integer.SIZE != 0) {
            return false;
        }
        int of = (int) found * width;
        for (int i = 0; i < width; i++) {
            if (keys[of + i] != words[at + i]) {
                return false;
            }
        }
        return true;
    }

    /**
     * Looks up many keys: all slots are read before what they lead to, so that these do not wait
     * for one another.
     *
     * @param scratch of the caller, as long as {@code count} or longer
     * @param found gets the newest row of each; {@link #NONE} or {@link #BY_BYTES}
     */
    void find(KeyWords of, int count, long[] scratch, int[] found) {
        long[] hashes = of.hashes();
        long[] words = of.all();
        int mask = slots.length - 1;
        for (int i = 0; i < count; i++) {
            scratch[i] = slots[(int) (hashes[i] >>> Integer.SIZE) & mask];
        }
        for (int i = 0; i < count; i++) {
            long first = words[i * width];
            if (KeyWords.isWhole(first)) {
                long slot = scratch[i];
                found[i] = slot == 0 || isOf(slot, hashes[i], words, i * width)
                        ? (int) slot
                        : behind(hashes[i], words, i * width);
            } else {
                found[i] = first == KeyWords.NONE && hasOthers ? BY_BYTES : NONE;
            }
        }
    }

    /** The row of a key that is not in its first slot. */
    private int behind(long hash, long[] words, int at) {
        int mask = slots.length - 1;
        int slot = (int) (hash >>> Integer.SIZE) + 1 & mask;
        while (slots[slot] != 0 && !isOf(slots[slot], hash, words, at)) {
            slot = (slot + 1) & mask;
        }
        return (int) slots[slot];
    }

    /** Whether some key has several rows. */
    boolean hasChains() {
        return hasChains;
    }

    /** The row that was there before one, of the same key; {@link #NONE}. */
    int before(int row) {
        return before[row];
    }

    /** Moves {@code slice} to a row. */
    Slice row(int row, Slice slice) {
        return table.row(addresses[row], slice);
    }

    /** The type of the rows. */
    RecordType type() {
        return type;
    }

    HeldColumns columns() {
        return columns;
    }
}
