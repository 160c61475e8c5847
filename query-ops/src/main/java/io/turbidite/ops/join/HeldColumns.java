package io.turbidite.ops.join;

import io.turbidite.core.record.RecordColumns;
import io.turbidite.ops.aggregate.ArgumentColumns;
import io.turbidite.ops.batch.KeyWords;

/**
 * What groups of pairs need of the held rows, read once: words of group keys, and arguments, of
 * each row by its number. A row that is met a hundred times is not read again. <em>Confined to one
 * thread</em> while it is filled; then several may read it.
 */
final class HeldColumns {
    private final SideColumns columns;
    private final int keyWidth;
    private final long[] keys;
    private final long[] hashes;
    private final long[][] numbers;
    private final boolean[][] absent;

    /**
     * @param columns reads what is needed of some rows
     * @param rows most numbers, 0 included, which is that of no row
     */
    HeldColumns(SideColumns columns, int rows) {
        this.columns = columns;
        this.keyWidth = keyWidth(columns);
        this.keys = new long[keyWidth * rows];
        this.hashes = new long[keyWidth == 0 ? 0 : rows];
        ArgumentColumns arguments = columns.arguments();
        int count = arguments == null ? 0 : arguments.count();
        this.numbers = new long[count][];
        this.absent = new boolean[count][];
        for (int i = 0; i < count; i++) {
            boolean isHeld = arguments != null && arguments.isRead(i);
            numbers[i] = new long[isHeld ? rows : 0];
            absent[i] = new boolean[isHeld ? rows : 0];
        }
    }

    private static int keyWidth(SideColumns columns) {
        KeyWords words = columns.keys();
        return words == null ? 0 : words.words();
    }

    /** What it takes for a row. */
    static int bytesOfRow(SideColumns columns) {
        int bytes = keyWidth(columns) == 0 ? 0 : (keyWidth(columns) + 1) * Long.BYTES;
        ArgumentColumns arguments = columns.arguments();
        for (int i = 0; arguments != null && i < arguments.count(); i++) {
            bytes += arguments.isRead(i) ? Long.BYTES + 1 : 0;
        }
        return bytes;
    }

    /** Whether there is anything to read of a row. */
    static boolean reads(SideColumns columns) {
        return bytesOfRow(columns) > 0;
    }

    /**
     * Reads rows.
     *
     * @param which of the records; as many as {@code count}
     * @param first number of the first of them; the others follow
     */
    void read(RecordColumns records, int[] which, int count, int first) {
        KeyWords words = columns.keys();
        if (words != null) {
            words.read(records, which, count);
            System.arraycopy(words.all(), 0, keys, first * keyWidth, count * keyWidth);
            System.arraycopy(words.hashes(), 0, hashes, first, count);
        }
        ArgumentColumns arguments = columns.arguments();
        if (arguments != null) {
            arguments.read(records, which, count);
            for (int i = 0; i < numbers.length; i++) {
                if (arguments.isRead(i)) {
                    System.arraycopy(arguments.numbers(i), 0, numbers[i], first, count);
                    System.arraycopy(arguments.absent(i), 0, absent[i], first, count);
                }
            }
        }
    }

    /** How many words the part of the group key has that is here; 0: there is none. */
    int keyWidth() {
        return keyWidth;
    }

    /** The words of all rows, one row behind the other. */
    long[] keys() {
        return keys;
    }

    long[] hashes() {
        return hashes;
    }

    /** Gives those arguments that are here, of rows by their numbers. */
    void gather(ArgumentColumns to, int[] rows, int count) {
        for (int i = 0; i < numbers.length; i++) {
            if (!to.isRead(i)) {
                to.gather(i, numbers[i], absent[i], rows, count);
            }
        }
    }
}
