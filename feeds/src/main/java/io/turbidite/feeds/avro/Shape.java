package io.turbidite.feeds.avro;

import java.util.Arrays;

/**
 * How the bytes of a value are laid out, and as what they are written: a schema without what
 * reading does not need. Shapes refer to one another, in circles too. <em>Immutable once its {@link
 * SchemaReader} has made it.</em>
 */
final class Shape {
    private static final Shape[] NONE = {};

    /** What the bytes are, in the words of Avro. */
    enum Kind {
        NULL,
        BOOLEAN,
        INT,
        LONG,
        FLOAT,
        DOUBLE,
        STRING,
        BYTES,
        FIXED,
        ENUM,
        ARRAY,
        MAP,
        RECORD,
        UNION,
        DATE,
        TIME_MILLIS,
        TIME_MICROS,
        TIMESTAMP_MILLIS,
        TIMESTAMP_MICROS,
        TIMESTAMP_NANOS,
        LOCAL_MILLIS,
        LOCAL_MICROS,
        LOCAL_NANOS,
        DECIMAL,
        DECIMAL_FIXED,
        UUID_FIXED
    }

    final Kind kind;

    /** Of fixed: how many bytes it has. */
    final int byteCount;

    /** Of a decimal: how many of its digits are behind the point. */
    final int scale;

    /** The names of a record's fields with their colons, or an enum's symbols, as JSON. */
    final byte[][] texts;

    /** Of a record its fields, of a union its branches, of an array or a map what is in it. */
    private Shape[] parts = NONE;

    /** How many of them may have bytes, while that is found out. */
    private int fullCount;

    private boolean isEmpty;

    Shape(Kind kind, int byteCount, int scale, byte[][] texts) {
        this.kind = kind;
        this.byteCount = byteCount;
        this.scale = scale;
        this.texts = texts;
        this.isEmpty = kind == Kind.NULL || (kind == Kind.FIXED && byteCount == 0);
    }

    Shape part(int index) {
        return parts[index];
    }

    int partCount() {
        return parts.length;
    }

    /** Whether a value of it has no bytes, whatever it is. */
    boolean isEmpty() {
        return isEmpty;
    }

    void setParts(Shape[] newParts) {
        parts = Arrays.copyOf(newParts, newParts.length);
        fullCount = parts.length;
        isEmpty |= kind == Kind.RECORD && fullCount == 0;
    }

    /** One more of its parts turns out to be empty; true if that makes it empty itself. */
    boolean hasEmptyPart() {
        boolean is = kind == Kind.RECORD && --fullCount == 0;
        isEmpty |= is;
        return is;
    }
}
