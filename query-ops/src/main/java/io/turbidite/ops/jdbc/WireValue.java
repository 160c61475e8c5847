package io.turbidite.ops.jdbc;

/**
 * How values are written: a byte that says what follows, and that. Static.
 *
 * <pre>
 * NULL, TRUE, FALSE      nothing
 * BYTE, SHORT, INT, LONG the number
 * FLOAT, DOUBLE          its bits
 * DECIMAL                scale i32, then as INTEGER
 * INTEGER, BYTES         length i32, bytes (of an integer: two's complement, the first first)
 * TEXT                   a text
 * CHARACTER              u16
 * UUID                   two i64
 * DATE, TIME             days since 1970, nanoseconds of the day, i64
 * INSTANT, DURATION      seconds i64, nanoseconds i32
 * POINT, RECTANGLE       2, 4 doubles
 * LIST                   count i32, values
 * MAP                    count i32, of each a text and a value
 * </pre>
 */
final class WireValue {
    static final int NULL = 0;
    static final int TRUE = 1;
    static final int FALSE = 2;
    static final int BYTE = 3;
    static final int SHORT = 4;
    static final int INT = 5;
    static final int LONG = 6;
    static final int FLOAT = 7;
    static final int DOUBLE = 8;
    static final int DECIMAL = 9;
    static final int INTEGER = 10;
    static final int TEXT = 11;
    static final int CHARACTER = 12;
    static final int BYTES = 13;
    static final int UUID = 14;
    static final int DATE = 15;
    static final int TIME = 16;
    static final int INSTANT = 17;
    static final int DURATION = 18;
    static final int POINT = 19;
    static final int RECTANGLE = 20;
    static final int LIST = 21;
    static final int MAP = 22;

    private WireValue() {}
}
