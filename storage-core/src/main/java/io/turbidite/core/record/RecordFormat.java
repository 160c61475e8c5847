package io.turbidite.core.record;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

/**
 * The bytes of a record, version 1 or 2; all numbers little-endian. Version 2 has arrays or nested
 * records; a record of a type without them is of version 1, and so is one that was written before
 * the type got them.
 *
 * <pre>
 *  offset  bytes  what
 *  0       1      version: 1 or 2
 *  1       1      flags: bit 0 = there is an open area; all others 0
 *  2       2      declared field count n, unsigned: the fields that the type had when this was written
 *  4       4      open offset: where the variable area ends, from the start of the record; the length
 *                 of the record if there is no open area
 *  8       …      slots: one of fixed width for each declared field, in order (see {@link #slotBytes})
 *  …       n/4    states, rounded up: two bits a field, lowest first: 0 missing, 1 null, 2 present;
 *                 bits past the last field are 0
 *  …       …      variable area: the bytes of the present variable-width fields, in field order
 *  …       …      open area, to the end of the record: a name and a value for each open field
 * </pre>
 *
 * <p>The slot of a variable-width field (string, bytes, decimal, array, nested record) holds, as
 * u32, where its bytes <em>end</em>, from the start of the variable area; they start where the
 * previous variable-width field's end, and one that is not present ends where it starts. Any other
 * slot of a field that is not present is zero. So every declared field is reached by two loads, and
 * the same values always give the same bytes.
 *
 * <p>What lies within a nested record has slots and states behind its own, as if it were declared
 * at the top, and is missing where the nested record is null or missing. The bytes of a nested
 * record itself are its undeclared fields, in the form of the open area. The bytes of an array are
 * its elements one after the other: of fixed-width kinds what a slot would hold, of the others a
 * varint byte count and the bytes. None is null.
 *
 * <p>Slots come before states, so their offsets do not depend on n: a record written before fields
 * were added at the end of the type is read as it is, the new fields missing.
 *
 * <p>The open area is self-describing. A name is a varint byte count and UTF-8; a value is one tag
 * byte and what the tag says:
 *
 * <pre>
 *  tag  what         bytes after the tag
 *  0    null         0
 *  1    false        0
 *  2    true         0
 *  3    integer      zigzag varint, 1 to 10
 *  4    float        4
 *  5    double       8
 *  6    decimal      varint byte count, then {@link DecimalBytes} with scale
 *  7    string       varint byte count, then UTF-8
 *  8    bytes        varint byte count, then the bytes
 *  9    uuid         16, most significant first
 *  10   date         4, days since 1970-01-01
 *  11   time         8, microseconds of the day
 *  12   datetime     8, microseconds since 1970-01-01T00:00:00Z
 *  13   duration     8, microseconds
 *  14   point        16: x, y
 *  15   rectangle    32: minX, minY, maxX, maxY
 *  16   array        u32 byte count, then values to its end
 *  17   object       u32 byte count, then names and values to its end
 * </pre>
 *
 * <p>A record has no checksum of its own: pages and log records that carry it have. What a view
 * checks is that no damaged offset leads out of the record.
 */
final class RecordFormat {
    /** Of records whose type has neither arrays nor nested records. */
    static final int VERSION_FLAT = 1;

    static final int VERSION = 2;

    static final int VERSION_OFFSET = 0;
    static final int FLAGS_OFFSET = VERSION_OFFSET + 1;
    static final int FIELD_COUNT_OFFSET = FLAGS_OFFSET + 1;
    static final int OPEN_OFFSET_OFFSET = FIELD_COUNT_OFFSET + 2;
    static final int HEADER_BYTES = OPEN_OFFSET_OFFSET + 4;

    static final int FLAG_OPEN_AREA = 1;

    static final int STATE_MISSING = 0;
    static final int STATE_NULL = 1;
    static final int STATE_PRESENT = 2;

    static final int TAG_NULL = 0;
    static final int TAG_FALSE = 1;
    static final int TAG_TRUE = 2;
    static final int TAG_INTEGER = 3;
    static final int TAG_FLOAT = 4;
    static final int TAG_DOUBLE = 5;
    static final int TAG_DECIMAL = 6;
    static final int TAG_STRING = 7;
    static final int TAG_BINARY = 8;
    static final int TAG_UUID = 9;
    static final int TAG_DATE = 10;
    static final int TAG_TIME = 11;
    static final int TAG_DATETIME = 12;
    static final int TAG_DURATION = 13;
    static final int TAG_POINT = 14;
    static final int TAG_RECTANGLE = 15;
    static final int TAG_ARRAY = 16;
    static final int TAG_OBJECT = 17;

    /**
     * Most open fields of one record: finding a repeated name stays cheap whatever the names are.
     */
    static final int OPEN_FIELD_COUNT_MAX = 4_096;

    /** Longest name of an open field, in UTF-8 bytes; a declared name of 255 characters fits. */
    static final int OPEN_NAME_BYTES_MAX = 1_024;

    private RecordFormat() {}

    /** Width of a field's slot. */
    static int slotBytes(TypeKind kind) {
        return switch (kind) {
            case BOOL, INT8 -> 1;
            case INT16 -> 2;
            case INT32, FLOAT, DATE -> 4;
            case INT64, DOUBLE, TIME, DATETIME, DURATION -> 8;
            case UUID, POINT, LONLAT -> 16;
            case RECTANGLE -> 32;
            case DECIMAL, STRING, BINARY, ARRAY, RECORD -> 4;
        };
    }

    /** Whether the value's bytes lie in the variable area. */
    static boolean isVariable(TypeKind kind) {
        return switch (kind) {
            case DECIMAL, STRING, BINARY, ARRAY, RECORD -> true;
            default -> false;
        };
    }

    static int stateBytes(int fieldCount) {
        return (fieldCount + 3) >>> 2;
    }

    /** Damage at {@code offset} bytes from the start of a record. */
    static CorruptionException damaged(
            long offset, String what, Object expected, @Nullable Object found) {
        return new CorruptionException(
                "record", offset, what, String.valueOf(expected), String.valueOf(found));
    }
}
