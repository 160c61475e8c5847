package io.turbidite.hashlog.parse;

/** What was found in place of a wanted field. */
public enum ValueKind {
    /**
     * The record does not have the field, or the parser stopped before it because nobody needed it.
     */
    MISSING(0),
    /** Null. */
    NULL(1),
    /** False. */
    FALSE(2),
    /** True. */
    TRUE(3),
    /** A number written as an integer of 64 bits. */
    INTEGER(4),
    /** Any other number, as it is written. */
    DECIMAL(5),
    /** A string whose bytes stand in the record as they are. */
    TEXT(6),
    /** A string with escapes, decoded aside. */
    DECODED_TEXT(7),
    /** An object, as it is written. */
    OBJECT(8),
    /** An array, as it is written. */
    ARRAY(9);

    private static final ValueKind[] BY_CODE = values();

    /** What arrays of kinds hold: the index in {@link #values()}. */
    final byte code;

    ValueKind(int code) {
        this.code = (byte) code;
    }

    static ValueKind ofCode(int code) {
        return BY_CODE[code];
    }

    /** Whether it is a string. */
    public boolean isText() {
        return this == TEXT || this == DECODED_TEXT;
    }

    /** Whether it is a number. */
    public boolean isNumber() {
        return this == INTEGER || this == DECIMAL;
    }
}
