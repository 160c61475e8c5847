package io.turbidite.hashlog.parse;

/**
 * Why a record was refused and where. <em>Immutable.</em>
 *
 * @param kind what is wrong
 * @param offset the byte of the record at which it was noticed, 0 to the record's length
 */
public record Rejection(Kind kind, int offset) {

    /** What can be wrong with a record. */
    public enum Kind {
        /** The record ends inside a value. */
        TRUNCATED("ends too early"),
        /** The record is not an object (JSON). */
        NOT_AN_OBJECT("is not an object"),
        /** A member's name was expected. */
        EXPECTED_NAME("has no field name where one must be"),
        /** A colon was expected. */
        EXPECTED_COLON("has no ':' after a field name"),
        /** A value was expected. */
        EXPECTED_VALUE("has no value where one must be"),
        /** A comma or the closing bracket was expected. */
        EXPECTED_COMMA("has no ',' or closing bracket after a value"),
        /** A closing bracket of the other kind. */
        WRONG_BRACKET("has a bracket of the wrong kind"),
        /** A number that is none. */
        BAD_NUMBER("has a malformed number"),
        /** Neither true, false nor null. */
        BAD_LITERAL("has a malformed literal"),
        /** An escape that is none, or half a surrogate pair. */
        BAD_ESCAPE("has a malformed escape"),
        /** A control character inside a string. */
        CONTROL_CHARACTER("has a control character inside a string"),
        /** Bytes that are not UTF-8. */
        BAD_UTF8("is not UTF-8"),
        /** Nested too deeply. */
        TOO_DEEP("is nested too deeply"),
        /** Bytes after the end of the value. */
        TRAILING_BYTES("goes on after its end"),
        /** A text in place of a boolean (CSV). */
        BAD_BOOLEAN("has a malformed boolean"),
        /** Quotes that do not pair (CSV). */
        BAD_QUOTING("has quotes that do not pair");

        private final String text;

        Kind(String text) {
            this.text = text;
        }
    }

    @Override
    public String toString() {
        return "the record %s at byte %d".formatted(kind.text, offset);
    }
}
