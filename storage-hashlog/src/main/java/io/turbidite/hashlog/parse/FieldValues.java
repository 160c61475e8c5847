package io.turbidite.hashlog.parse;

import org.jspecify.annotations.Nullable;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The wanted fields of one record: flat, reused from record to record, filled by a
 * {@link RecordParser}. <em>Confined to one thread.</em> Fields are numbered as the paths were that
 * the parser was made for; offsets are bytes from the start of the record. Valid until the next
 * record.
 */
public final class FieldValues {
    /** In place of the kind of a field that nobody needs any more. */
    private static final byte RELEASED = -1;

    private final FieldTree tree;
    private final FieldListener listener;
    private final byte[] kinds;
    private final int[] offsets;
    private final int[] lengths;
    private final long[] integers;
    /** Fields at a node or below it that may still come and are still needed. */
    private final int[] pending;

    private final ByteBuilder decoded = new ByteBuilder();
    private byte[] record = new byte[0];
    private int recordBytes;
    private Rejection.@Nullable Kind rejectedFor;
    private int rejectedAt;

    /** Values that are none are missing, and refuse no record. */
    private boolean forgiving;

    FieldValues(FieldTree tree, FieldListener listener) {
        this.tree = tree;
        this.listener = listener;
        int fieldCount = tree.nodeOfField.length;
        kinds = new byte[fieldCount];
        offsets = new int[fieldCount];
        lengths = new int[fieldCount];
        integers = new long[fieldCount];
        pending = new int[tree.nodeCount()];
    }

    /** How many fields were asked for. */
    public int fieldCount() {
        return kinds.length;
    }

    /** What the value of a field is, by its place from 0. */
    public ValueKind kind(int field) {
        return ValueKind.ofCode(Math.max(0, kinds[field]));
    }

    /** The value of an {@link ValueKind#INTEGER}. */
    public long integer(int field) {
        assert kind(field) == ValueKind.INTEGER : kind(field);
        return integers[field];
    }

    /**
     * The array that holds the bytes of the value, not to be changed: a copy of the record, as far
     * as it was read, or what strings were decoded to.
     */
    public byte[] bytes(int field) {
        return kinds[field] == ValueKind.DECODED_TEXT.code ? decoded.bytes() : record;
    }

    /**
     * Where in {@link #bytes} the value starts; unless it is decoded text, that is where in the
     * record.
     */
    public int offset(int field) {
        return offsets[field];
    }

    /** Bytes of the value: of a string without its quotes, of anything else as it is written. */
    public int byteCount(int field) {
        return lengths[field];
    }

    /** The value as text, for people and cold paths; of what is missing, the empty string. */
    public String text(int field) {
        if (kinds[field] == ValueKind.INTEGER.code) {
            return Long.toString(integers[field]);
        }
        return kinds[field] <= 0
                ? ""
                : new String(bytes(field), offset(field), byteCount(field), StandardCharsets.UTF_8);
    }

    /**
     * Why the last record was refused.
     *
     * @throws IllegalStateException if it was not
     */
    public Rejection rejection() {
        if (rejectedFor == null) {
            throw new IllegalStateException("the last record was not refused");
        }
        return new Rejection(rejectedFor, rejectedAt);
    }

    /** Says that {@code field} is no longer needed: it stays missing if it was not found yet. */
    public void release(int field) {
        if (kinds[field] == 0) {
            kinds[field] = RELEASED;
            int node = tree.nodeOfField[field];
            for (int n = node; n >= 0; n = tree.parent[n]) {
                if (pending[n] == 0) {
                    // what lies above is done with it
                    return;
                }
            }
            // the field itself, not what is wanted below it
            settle(node, 1);
        }
    }

    // ---- for parsers

    /** Turns to a record whose bytes will stand in {@code copy} from index 0 on. */
    void begin(byte[] copy, int length) {
        record = copy;
        recordBytes = length;
        rejectedFor = null;
        Arrays.fill(kinds, (byte) 0);
        System.arraycopy(tree.fieldCount, 0, pending, 0, pending.length);
        decoded.clear();
    }

    /** Whether values that are none are taken for missing from now on. */
    void forgive(boolean from) {
        forgiving = from;
    }

    boolean isForgiving() {
        return forgiving;
    }

    /** Whether {@code field}, whose value is none, may be missing; it is then. */
    boolean forgives(int field) {
        if (forgiving) {
            release(field);
        }
        return forgiving;
    }

    /** Whether nothing at {@code node} or below it may still be found and is needed. */
    boolean isSettled(int node) {
        return pending[node] == 0;
    }

    /** Whether nothing below {@code node} may still be found and is needed, itself aside. */
    boolean isSettledBelow(int node) {
        int field = tree.field[node];
        // a container that is wanted itself is found when it ends
        int own = field >= 0 && kinds[field] == 0 ? 1 : 0;
        return pending[node] <= own;
    }

    boolean isDone() {
        return pending[0] == 0;
    }

    /** What was not found below {@code node} will not be. */
    void close(int node) {
        int rest = pending[node];
        if (rest != 0) {
            settle(node, rest);
        }
    }

    private void settle(int node, int count) {
        for (int n = node; n >= 0; n = tree.parent[n]) {
            pending[n] -= count;
        }
    }

    /** A record's refusal; returns false, for the parser to return. */
    boolean reject(Rejection.Kind kind, int at) {
        rejectedFor = kind;
        rejectedAt = Math.min(at, recordBytes);
        Arrays.fill(kinds, (byte) 0);
        return false;
    }

    void found(int field, ValueKind kind, int offset, int length) {
        if (kinds[field] == RELEASED) {
            return;
        }
        kinds[field] = kind.code;
        offsets[field] = offset;
        lengths[field] = length;
        settle(tree.nodeOfField[field], 1);
        listener.found(this, field);
    }

    void foundInteger(int field, long value, int offset, int length) {
        integers[field] = value;
        found(field, ValueKind.INTEGER, offset, length);
    }

    ByteBuilder decoded() {
        return decoded;
    }
}
