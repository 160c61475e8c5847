package io.turbidite.core.record;

/**
 * The values of one field of some records, one behind the other, where {@link RecordColumns} puts
 * them. Filled again for other records. <em>Confined to one thread.</em>
 */
public final class RecordColumn {
    private static final int ROOM_FIRST = 16;

    private long[] numbers = new long[ROOM_FIRST];
    private int[] lengths = {};
    private boolean[] absent = new boolean[ROOM_FIRST];
    private boolean hasAbsent;

    /** Room for the values of so many records; what was in it is gone. */
    void begin(int count, boolean areBytes) {
        if (count > numbers.length) {
            int room = Math.max(2 * numbers.length, count);
            numbers = new long[room];
            absent = new boolean[room];
        }
        if (areBytes && lengths.length < numbers.length) {
            lengths = new int[numbers.length];
        }
        hasAbsent = false;
    }

    /** Says of a record whether it has no value. */
    void setAbsent(int place, boolean isAbsent) {
        absent[place] = isAbsent;
        hasAbsent |= isAbsent;
    }

    /** Says whether some record has no value. */
    void setHasAbsent(boolean has) {
        hasAbsent = has;
    }

    /**
     * Whole numbers; bits of doubles; or where bytes lie in the memory of the records. 0 where a
     * record has no value. The array is the column's own, and may be longer than the values.
     */
    public long[] numbers() {
        return numbers;
    }

    /** How many bytes each value has, where values are bytes; otherwise as {@link #numbers}. */
    public int[] lengths() {
        return lengths;
    }

    /** Whether a record has no value, null or missing; otherwise as {@link #numbers}. */
    public boolean[] absent() {
        return absent;
    }

    /** Whether some record has none. */
    public boolean hasAbsent() {
        return hasAbsent;
    }
}
