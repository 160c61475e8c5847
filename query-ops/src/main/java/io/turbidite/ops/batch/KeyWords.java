package io.turbidite.ops.batch;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.record.KindValues;
import io.turbidite.core.record.RecordColumn;
import io.turbidite.core.record.RecordColumns;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * The values of some fields of many records as a few words each: two records have the same words if
 * and only if the keys of their fields are equal, as {@link io.turbidite.ops.expr.FieldKey} has
 * them. So groups are told apart without encoding a key. A value of more than {@value #BYTES_MAX}
 * bytes has no words.
 *
 * <pre>
 * word  what
 *    0  a byte for each field: 255 absent, else how many bytes the value has, 0 of numbers
 *    …  of each field: its number; or its first and its last eight bytes, which overlap
 * </pre>
 *
 * <p><em>Confined to one thread.</em> Valid until the next records.
 */
public final class KeyWords {
    static final int BYTES_MAX = 2 * Long.BYTES;

    /** One byte of the first word is never used, so that {@link #NONE} is no such word. */
    private static final int FIELDS_MAX = Long.BYTES - 1;

    /** The first word of a record that has no words. */
    public static final long NONE = -1;

    /** Of the bytes of first words: only that of an absent field has it, and {@link #NONE}. */
    private static final long HIGH_BITS = 0x8080_8080_8080_8080L;

    private static final int ABSENT = 0xFF;

    private final int[] fields;
    private final TypeKind[] kinds;
    private final int words;
    private final RecordColumn column = new RecordColumn();
    private long[] all = {};
    private long[] hashes = {};

    /**
     * @param fields that {@link #fit}
     */
    public KeyWords(RecordType type, int[] fields) {
        this.fields = fields.clone();
        this.kinds = new TypeKind[fields.length];
        int count = 1;
        for (int i = 0; i < fields.length; i++) {
            kinds[i] = type.field(fields[i]).kind();
            count += areBytes(kinds[i]) ? 2 : 1;
        }
        this.words = count;
    }

    /** Whether keys of these fields have words. */
    public static boolean fit(RecordType type, int[] fields) {
        if (fields.length > FIELDS_MAX) {
            return false;
        }
        for (int field : fields) {
            TypeKind kind = type.field(field).kind();
            boolean isNumber =
                    KindValues.isLong(kind) || kind == TypeKind.FLOAT || kind == TypeKind.DOUBLE;
            if (type.isEach(field) || !(isNumber || areBytes(kind))) {
                return false;
            }
        }
        return true;
    }

    static boolean areBytes(TypeKind kind) {
        return kind == TypeKind.STRING || kind == TypeKind.BINARY || kind == TypeKind.UUID;
    }

    /** How many words a record has. */
    public int words() {
        return words;
    }

    /** The words of all records, one record behind the other. */
    public long[] all() {
        return all;
    }

    /** The hash of each record's words; equal words have equal ones. */
    public long[] hashes() {
        return hashes;
    }

    /** Whether a first word is that of a record all of whose fields have values, in words. */
    public static boolean isWhole(long firstWord) {
        return (firstWord & HIGH_BITS) == 0;
    }

    /**
     * The hash of words that lie elsewhere: as {@link #hashes} has it of a record.
     *
     * @param at where the first of them is
     */
    public long hash(long[] others, int at) {
        long hash = 0;
        int word = at + 1;
        for (int i = 0; i < fields.length; i++) {
            long mark = others[at] & (0xFFL << (Byte.SIZE * i));
            hash = mixed(hash ^ others[word++] ^ mark);
            if (areBytes(kinds[i])) {
                long last = others[word++];
                hash = last == 0 ? hash : mixed(hash ^ last);
            }
        }
        return hash;
    }

    /** A hash of two. */
    public static long mixed(long one, long other) {
        return mixed(Long.rotateLeft(one, 32) ^ other);
    }

    /**
     * Reads the words of some records.
     *
     * @param rows which; as many as {@code count}
     */
    public void read(RecordColumns records, int[] rows, int count) {
        if (hashes.length < count) {
            hashes = new long[Math.max(count, 2 * hashes.length)];
            all = new long[hashes.length * words];
        }
        for (int i = 0; i < count; i++) {
            all[i * words] = 0;
        }
        Arrays.fill(hashes, 0, count, 0);
        int word = 1;
        for (int i = 0; i < fields.length; i++) {
            if (areBytes(kinds[i])) {
                records.bytes(fields[i], rows, count, column);
                bytes(records.segment(), Byte.SIZE * i, word, count);
                word += 2;
            } else {
                numbers(records, i, rows, word, count);
                word++;
            }
        }
    }

    private void numbers(RecordColumns records, int key, int[] rows, int word, int count) {
        if (KindValues.isLong(kinds[key])) {
            records.longs(fields[key], rows, count, column);
        } else {
            records.doubles(fields[key], rows, count, column);
            long[] bits = column.numbers();
            for (int i = 0; i < count; i++) {
                // equal doubles have equal bits: one zero, one NaN
                bits[i] = Double.doubleToLongBits(Double.longBitsToDouble(bits[i]) + 0.0);
            }
        }
        long[] numbers = column.numbers();
        boolean[] absent = column.absent();
        long mark = (long) ABSENT << (Byte.SIZE * key);
        for (int i = 0; i < count; i++) {
            int at = i * words;
            long number = absent[i] ? 0 : numbers[i];
            all[at] |= absent[i] ? mark : 0;
            all[at + word] = number;
            hashes[i] = mixed(hashes[i] ^ number ^ (absent[i] ? mark : 0));
        }
    }

    private void bytes(MemorySegment memory, int shift, int word, int count) {
        long[] places = column.numbers();
        int[] lengths = column.lengths();
        boolean[] absent = column.absent();
        long wordEnd = memory.byteSize() - Long.BYTES;
        for (int i = 0; i < count; i++) {
            int at = i * words;
            int length = lengths[i];
            long place = places[i];
            long first = 0;
            long last = 0;
            if (length > Long.BYTES) {
                if (length > BYTES_MAX) {
                    all[at] = NONE;
                    continue;
                }
                first = memory.get(Bytes.I64, place);
                last = memory.get(Bytes.I64, place + length - Long.BYTES);
            } else if (length > 0) {
                first = place <= wordEnd
                        ? memory.get(Bytes.I64, place) & (-1L >>> (Long.SIZE - Byte.SIZE * length))
                        : atEnd(memory, place, length);
            }
            long mark = (absent[i] ? (long) ABSENT : length) << shift;
            all[at] |= mark;
            all[at + word] = first;
            all[at + word + 1] = last;
            long hash = mixed(hashes[i] ^ first ^ mark);
            hashes[i] = last == 0 ? hash : mixed(hash ^ last);
        }
    }

    /** Up to eight bytes at the end of the memory. */
    private static long atEnd(MemorySegment memory, long place, int length) {
        long word = 0;
        for (int i = 0; i < length; i++) {
            word |= (memory.get(Bytes.U8, place + i) & 0xFFL) << (Byte.SIZE * i);
        }
        return word;
    }

    private static long mixed(long value) {
        long multiplier = 0x9E3779B97F4A7C15L;
        return value * multiplier ^ Math.multiplyHigh(value, multiplier);
    }
}
