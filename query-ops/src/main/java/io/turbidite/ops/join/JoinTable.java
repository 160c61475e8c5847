package io.turbidite.ops.join;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeyCodec;
import io.turbidite.core.record.KindValues;
import io.turbidite.core.sort.SortBuffer;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.run.ByteHash;
import io.turbidite.ops.run.OperatorMemory;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Rows by key: a hash table with open addressing whose slots have the newest row of a key; each
 * row's number says which was there before it, and whether the row was joined. So rows are never
 * moved, and a table that is given up is sorted as it is. <em>Confined to one thread at a
 * time;</em> once all rows are there, several may find and read them, and each have notes of its
 * own.
 */
final class JoinTable implements AutoCloseable {
    private static final int SLOTS_FIRST = 256;
    private static final int ADDRESS_BITS = 48;
    private static final long ADDRESS_MASK = (1L << ADDRESS_BITS) - 1;

    /** In the number of a row that was joined. */
    private static final long MARK = 1L << ADDRESS_BITS;

    private final OperatorMemory memory;
    private final SortBuffer rows;

    /** Bytes behind each row, for notes about it; 0: none. */
    private final int noteBytes;

    private final ByteSink notedBytes = new ByteSink(256, Integer.MAX_VALUE - 8);
    private final Slice noted = new Slice();
    private final Slice rowKey = new Slice();

    /** Address of a row plus one, above it the highest bits of its key's hash; 0 is free. */
    private long[] slots = new long[SLOTS_FIRST];

    private int keyCount;

    /** What is charged for the slots, which have grown. */
    private long slotsBytes;

    /**
     * @param noteCount for how many numbers each row has room that are not part of it
     */
    JoinTable(RunOptions options, long memoryBytes, OperatorMeter meter, int noteCount) {
        memory = OperatorMemory.of(options, memoryBytes, meter);
        rows = new SortBuffer(memory);
        noteBytes = noteCount * Long.BYTES;
    }

    /** Adds a row; false, and nothing is added, where the memory is used up. */
    boolean add(Slice key, long hash, Slice row) {
        int slot = slotOf(key, hash, rowKey);
        boolean isNew = slots[slot] == 0;
        if (isNew && (keyCount + 1) * 2 > slots.length) {
            if (!grow()) {
                return false;
            }
            slot = slotOf(key, hash, rowKey);
        }
        long before = isNew ? 0 : slots[slot] & ADDRESS_MASK;
        long address = rows.add(key, before, noteBytes == 0 ? row : withNotes(row));
        if (address == SortBuffer.FULL) {
            return false;
        }
        slots[slot] = (hash & ~ADDRESS_MASK) | (address + 1);
        keyCount += isNew ? 1 : 0;
        return true;
    }

    /**
     * Charges its memory for what lies beside it, once all rows are there; false where there is not
     * so much.
     */
    boolean chargeBeside(long bytes) {
        return memory.charge(slotsBytes + bytes);
    }

    /** There is nothing beside it any more. */
    void lowerBeside() {
        memory.lowerCharge(slotsBytes);
    }

    private Slice withNotes(Slice row) {
        notedBytes.clear().putBytes(row);
        for (int i = 0; i < noteBytes; i += Long.BYTES) {
            notedBytes.putLong(0);
        }
        return notedBytes.asSlice(noted);
    }

    /**
     * A note about a row, 0 at first.
     *
     * @param index which of them
     * @param scratch of the thread that asks
     */
    long note(long address, int index, Slice scratch) {
        rows.payload(address, scratch);
        return scratch.segment().get(Bytes.I64, noteOffset(scratch, index));
    }

    /** As of {@link #note}. */
    void setNote(long address, int index, long note, Slice scratch) {
        rows.payload(address, scratch);
        scratch.segment().set(Bytes.I64, noteOffset(scratch, index), note);
    }

    private long noteOffset(Slice payload, int index) {
        return payload.offset() + payload.length() - noteBytes + (long) index * Long.BYTES;
    }

    /**
     * The first row of a key; {@link SortBuffer#NONE} if it has none.
     *
     * @param scratch of the thread that asks
     */
    long find(Slice key, long hash, Slice scratch) {
        return (slots[slotOf(key, hash, scratch)] & ADDRESS_MASK) - 1;
    }

    /** The next row of the same key; {@link SortBuffer#NONE} behind the last. */
    long behind(long address) {
        return (rows.number(address) & ADDRESS_MASK) - 1;
    }

    /** Remembers that a row was joined. */
    void mark(long address) {
        rows.setNumber(address, rows.number(address) | MARK);
    }

    boolean isMarked(long address) {
        return (rows.number(address) & MARK) != 0;
    }

    /**
     * Takes a row out of those of its key, from behind another one of them; it stays among {@link
     * #rows}.
     */
    void unlink(long before, long address) {
        rows.setNumber(
                before, (rows.number(before) & MARK) | (rows.number(address) & ADDRESS_MASK));
    }

    Slice row(long address, Slice slice) {
        rows.payload(address, slice);
        return noteBytes == 0
                ? slice
                : slice.set(slice.segment(), slice.offset(), slice.length() - noteBytes);
    }

    /** All rows, in no order that means anything. */
    SortBuffer rows() {
        return rows;
    }

    /** The slot of a key, or the free one where it belongs. */
    private int slotOf(Slice key, long hash, Slice scratch) {
        int slot = (int) hash & (slots.length - 1);
        for (; slots[slot] != 0; slot = (slot + 1) & (slots.length - 1)) {
            if ((slots[slot] ^ hash) >>> ADDRESS_BITS == 0
                    && rows.key((slots[slot] & ADDRESS_MASK) - 1, scratch).contentEquals(key)) {
                return slot;
            }
        }
        return slot;
    }

    private boolean grow() {
        // old and new are both there while the new one is filled
        long bytes = slots.length * 3L * Long.BYTES;
        if (slots.length > 1 << 29 || !memory.charge(bytes)) {
            return false;
        }
        slotsBytes = bytes;
        long[] old = slots;
        slots = new long[old.length * 2];
        for (long entry : old) {
            if (entry != 0) {
                rows.key((entry & ADDRESS_MASK) - 1, rowKey);
                long hash = ByteHash.of(rowKey);
                int slot = (int) hash & (slots.length - 1);
                while (slots[slot] != 0) {
                    slot = (slot + 1) & (slots.length - 1);
                }
                slots[slot] = entry;
            }
        }
        return true;
    }

    int keyCount() {
        return keyCount;
    }

    /**
     * All keys, each once, as values of a kind; without those that are empty, or that no value of
     * the kind equals.
     */
    List<Object> keys(TypeKind kind) {
        List<Object> keys = new ArrayList<>(keyCount);
        for (long slot : slots) {
            if (slot != 0) {
                rows.key((slot & ADDRESS_MASK) - 1, rowKey);
                Object key = rowKey.length() == 0 ? null : decoded(kind);
                if (key != null) {
                    keys.add(key);
                }
            }
        }
        return keys;
    }

    /** Whole numbers of all widths have one form of key: the held one may be a wider one. */
    private @Nullable Object decoded(TypeKind kind) {
        return switch (kind) {
            case INT8, INT16, INT32 ->
                KeyCodec.decode(TypeKind.INT64, rowKey, 0) instanceof Long number
                                && KindValues.inRange(kind, number)
                        ? KindValues.fromLong(kind, number)
                        : null;
            default -> KeyCodec.decode(kind, rowKey, 0);
        };
    }

    void clear() {
        rows.clear();
        Arrays.fill(slots, 0);
        keyCount = 0;
    }

    @Override
    public void close() {
        rows.close();
    }
}
