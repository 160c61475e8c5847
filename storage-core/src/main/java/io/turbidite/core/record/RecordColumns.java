package io.turbidite.core.record;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Records that lie in one piece of memory, read field by field: of each record the header is
 * checked once, and then a field of many records is read in one loop, which costs a fraction of
 * what a {@link RecordView} takes that is moved to each of them. No value is copied but numbers.
 *
 * <p>The same damage is told by the same {@link io.turbidite.core.CorruptionException} as by a
 * view, of a field not before it is asked for. Records that are short, open or of an older version
 * are read as a view reads them, and so is all of a type with more fields than states fit a word.
 *
 * <p><em>Confined to one thread.</em> Valid as long as the records stay.
 */
public final class RecordColumns {
    private static final int ROOM_FIRST = 16;

    private final RecordLayout layout;
    private final RecordView view;
    private final Slice slice = new Slice();
    private final RecordColumn own = new RecordColumn();

    /** Whether the states of all fields fit a word. */
    private final boolean isNarrow;

    /** The first half of the header of a record with all fields and without an open area. */
    private final int usualHeader;

    private MemorySegment segment = MemorySegment.NULL;
    private long[] origins = {};
    private int[] lengths = {};
    private int count;

    /** Of each record; of a narrow type. */
    private long[] states = new long[ROOM_FIRST];

    /** What the states of all records have in common: the upper bit of a field that all have. */
    private long statesOfAll;

    /** Where the variable area of each record begins and ends, from the record's start. */
    private int[] variableOffsets = new int[ROOM_FIRST];

    private int[] openOffsets = new int[ROOM_FIRST];

    /** Shows no record yet. */
    public RecordColumns(RecordType type) {
        this.layout = RecordLayout.of(type);
        this.view = new RecordView(type);
        this.isNarrow = layout.fieldCount() <= RecordView.STATES_IN_WORD;
        this.usualHeader = layout.version()
                | layout.fieldCount() << (Byte.SIZE * RecordFormat.FIELD_COUNT_OFFSET);
    }

    /**
     * Shows other records.
     *
     * @param memory in which they lie
     * @param offsets where each begins
     * @param bytes how many each has
     * @param records how many there are
     * @throws io.turbidite.core.CorruptionException if a record's header and length don't fit
     *     together
     */
    public void wrap(MemorySegment memory, long[] offsets, int[] bytes, int records) {
        segment = memory;
        origins = offsets;
        lengths = bytes;
        count = 0;
        statesOfAll = isNarrow ? -1 : 0;
        if (states.length < records) {
            int room = Math.max(2 * states.length, records);
            states = new long[room];
            variableOffsets = new int[room];
            openOffsets = new int[room];
        }
        if (isNarrow) {
            wrapNarrow(records);
        } else {
            for (int i = 0; i < records; i++) {
                wrapByView(i);
            }
        }
        count = records;
    }

    private void wrapNarrow(int records) {
        MemorySegment memory = segment;
        int variable = layout.variableOffset(layout.fieldCount());
        int lastEnd = layout.previousEndOffset(layout.fieldCount());
        int skippedBits =
                Byte.SIZE * (Long.BYTES - (variable - layout.statesOffset(layout.fieldCount())));
        long common = -1;
        for (int i = 0; i < records; i++) {
            long origin = origins[i];
            int length = lengths[i];
            if (length < variable) {
                wrapByView(i);
                continue;
            }
            long header = memory.get(Bytes.I64, origin);
            int end = lastEnd < 0 ? 0 : memory.get(Bytes.I32, origin + lastEnd);
            long pairs = memory.get(Bytes.I64, origin + variable - Long.BYTES) >>> skippedBits;
            boolean isUsual = (int) header == usualHeader
                    && (int) (header >>> Integer.SIZE) == length
                    && end == length - variable
                    && (pairs & (pairs >>> 1) & RecordView.LOW_BITS) == 0;
            if (!isUsual) {
                wrapByView(i);
                continue;
            }
            states[i] = pairs;
            common &= pairs;
            variableOffsets[i] = variable;
            openOffsets[i] = length;
        }
        statesOfAll &= common;
    }

    /** Of a record that is not as most are, or damaged. */
    private void wrapByView(int row) {
        view.wrap(slice.set(segment, origins[row], lengths[row]));
        states[row] = isNarrow ? view.knownStates() : 0;
        statesOfAll &= states[row];
        variableOffsets[row] = view.variableOffset();
        openOffsets[row] = view.openOffset();
    }

    /** How many records it shows. */
    public int count() {
        return count;
    }

    /** The memory in which they lie. */
    public MemorySegment segment() {
        return segment;
    }

    /** A record by itself; valid until this is asked for another. */
    public RecordView view(int row) {
        return view.wrap(slice.set(segment, origins[row], lengths[row]));
    }

    /**
     * Whether a field can be read as a column: one that is declared, and not the elements of an
     * array.
     */
    public boolean has(int field) {
        return field >= 0 && field < layout.fieldCount();
    }

    /** A column of whoever reads one at a time. */
    public RecordColumn own() {
        return own;
    }

    /** Puts into a column which records have no value. */
    public RecordColumn presence(int field, int[] rows, int rowCount, RecordColumn to) {
        to.begin(rowCount, false);
        readPresence(field, rows, rowCount, to);
        return to;
    }

    private void readPresence(int field, int[] rows, int rowCount, RecordColumn to) {
        if (!isNarrow) {
            for (int i = 0; i < rowCount; i++) {
                to.setAbsent(i, view(rows[i]).isAbsent(field));
            }
            return;
        }
        boolean[] absent = to.absent();
        int shift = field << 1;
        if ((statesOfAll >>> shift & RecordFormat.STATE_PRESENT) != 0) {
            Arrays.fill(absent, 0, rowCount, false);
            return;
        }
        boolean some = false;
        for (int i = 0; i < rowCount; i++) {
            boolean isAbsent = (states[rows[i]] >>> shift & 3) != RecordFormat.STATE_PRESENT;
            absent[i] = isAbsent;
            some |= isAbsent;
        }
        to.setHasAbsent(some);
    }

    /**
     * Puts numbers into a column: of the kinds that {@link RecordView#getLong} takes.
     *
     * @param rows which records; as many as {@code rowCount}
     */
    public RecordColumn longs(int field, int[] rows, int rowCount, RecordColumn to) {
        TypeKind kind = layout.kind(field);
        assert KindValues.isLong(kind) : kind;
        presence(field, rows, rowCount, to);
        switch (kind) {
            case INT64, DATETIME, DURATION -> words(field, rows, rowCount, to);
            case INT32, DATE -> halves(field, rows, rowCount, to);
            default -> {
                long[] numbers = to.numbers();
                for (int i = 0; i < rowCount; i++) {
                    // rare kinds, whose values are checked
                    numbers[i] = to.absent()[i] ? 0 : view(rows[i]).getLong(field);
                }
            }
        }
        return to;
    }

    /**
     * Puts the bits of doubles into a column: of the kinds that {@link RecordView#getDouble} takes.
     */
    public RecordColumn doubles(int field, int[] rows, int rowCount, RecordColumn to) {
        TypeKind kind = layout.kind(field);
        presence(field, rows, rowCount, to);
        if (kind == TypeKind.DOUBLE) {
            words(field, rows, rowCount, to);
            return to;
        }
        assert kind == TypeKind.FLOAT : kind;
        halves(field, rows, rowCount, to);
        long[] numbers = to.numbers();
        for (int i = 0; i < rowCount; i++) {
            numbers[i] = Double.doubleToRawLongBits(Float.intBitsToFloat((int) numbers[i]));
        }
        return to;
    }

    private void words(int field, int[] rows, int rowCount, RecordColumn to) {
        MemorySegment memory = segment;
        int slot = layout.slotOffset(field);
        long[] numbers = to.numbers();
        if (!to.hasAbsent()) {
            for (int i = 0; i < rowCount; i++) {
                numbers[i] = memory.get(Bytes.I64, origins[rows[i]] + slot);
            }
            return;
        }
        boolean[] absent = to.absent();
        for (int i = 0; i < rowCount; i++) {
            // the slot of a field that a short record does not know lies outside of it
            numbers[i] = absent[i] ? 0 : memory.get(Bytes.I64, origins[rows[i]] + slot);
        }
    }

    private void halves(int field, int[] rows, int rowCount, RecordColumn to) {
        MemorySegment memory = segment;
        int slot = layout.slotOffset(field);
        long[] numbers = to.numbers();
        if (!to.hasAbsent()) {
            for (int i = 0; i < rowCount; i++) {
                numbers[i] = memory.get(Bytes.I32, origins[rows[i]] + slot);
            }
            return;
        }
        boolean[] absent = to.absent();
        for (int i = 0; i < rowCount; i++) {
            numbers[i] = absent[i] ? 0 : memory.get(Bytes.I32, origins[rows[i]] + slot);
        }
    }

    /**
     * Puts into a column where the bytes of strings, binary values and uuids lie in {@link
     * #segment}, and how many they are.
     */
    public RecordColumn bytes(int field, int[] rows, int rowCount, RecordColumn to) {
        to.begin(rowCount, true);
        readPresence(field, rows, rowCount, to);
        boolean[] absent = to.absent();
        long[] places = to.numbers();
        int[] bytes = to.lengths();
        if (layout.variableIndex(field) < 0) {
            int slot = layout.slotOffset(field);
            int slotBytes = RecordFormat.slotBytes(layout.kind(field));
            for (int i = 0; i < rowCount; i++) {
                places[i] = absent[i] ? 0 : origins[rows[i]] + slot;
                bytes[i] = absent[i] ? 0 : slotBytes;
            }
            return to;
        }
        MemorySegment memory = segment;
        int slot = layout.slotOffset(field);
        int before = layout.previousEndOffset(field);
        for (int i = 0; i < rowCount; i++) {
            if (absent[i]) {
                places[i] = 0;
                bytes[i] = 0;
                continue;
            }
            int row = rows[i];
            long origin = origins[row];
            int variable = variableOffsets[row];
            int start = before < 0 ? 0 : memory.get(Bytes.I32, origin + before);
            int end = memory.get(Bytes.I32, origin + slot);
            if (start < 0 || start > end || end > openOffsets[row] - variable) {
                // not read once more, as a close by another thread may have given the memory away
                throw RecordView.damagedEnd(slot, start, end, openOffsets[row] - variable);
            }
            places[i] = origin + variable + start;
            bytes[i] = end - start;
        }
        return to;
    }
}
