package io.turbidite.hashlog.psf;

import io.turbidite.core.expr.Literal;
import io.turbidite.core.expr.Operator;
import io.turbidite.hashlog.parse.FieldValues;
import io.turbidite.hashlog.parse.ValueKind;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * One comparison of a field, by number, with a constant. <em>Confined to one thread.</em> Without
 * garbage: texts compare as bytes, integers as integers, other numbers as {@link Decimal}s.
 */
final class FieldTest {
    final int field;
    private final Operator operator;
    private final Literal literal;

    // of a text
    private final byte[] text;

    // of a number
    private final Decimal decimal;
    private final boolean exact;
    private final long integer;

    private final Decimal scratch = new Decimal();

    FieldTest(Operator operator, Literal literal, int field) {
        this.field = field;
        this.operator = operator;
        this.literal = literal;
        this.text = literal instanceof Literal.Text(String value)
                ? value.getBytes(StandardCharsets.UTF_8)
                : new byte[0];
        this.decimal = literal instanceof Literal.Numeric number
                ? Decimal.of(number.value())
                : new Decimal();
        this.exact = decimal.isLong();
        this.integer = exact ? decimal.longValue() : 0;
    }

    /** Whether it is true of these values: false stands for unknown too. */
    boolean isTrue(FieldValues values) {
        ValueKind kind = values.kind(field);
        if (literal instanceof Literal.Null) {
            boolean isNull = kind == ValueKind.MISSING || kind == ValueKind.NULL;
            return isNull == (operator == Operator.EQUAL);
        }
        return switch (kind) {
            case MISSING, NULL -> false;
            case TRUE, FALSE ->
                literal instanceof Literal.Bool(boolean wanted)
                        ? (kind == ValueKind.TRUE == wanted) == (operator == Operator.EQUAL)
                        : ofOtherType();
            case INTEGER, DECIMAL ->
                literal instanceof Literal.Numeric
                        ? operator.holds(compareNumber(values, kind))
                        : ofOtherType();
            case TEXT, DECODED_TEXT ->
                literal instanceof Literal.Text ? isTrueOfText(values) : ofOtherType();
            case OBJECT, ARRAY -> ofOtherType();
        };
    }

    private boolean ofOtherType() {
        return operator == Operator.NOT_EQUAL;
    }

    private int compareNumber(FieldValues values, ValueKind kind) {
        if (kind == ValueKind.INTEGER) {
            return exact
                    ? Long.compare(values.integer(field), integer)
                    : scratch.set(values.integer(field)).compareTo(decimal);
        }
        scratch.read(values.bytes(field), values.offset(field), values.byteCount(field));
        return scratch.compareTo(decimal);
    }

    private boolean isTrueOfText(FieldValues values) {
        byte[] bytes = values.bytes(field);
        int offset = values.offset(field);
        int end = offset + values.byteCount(field);
        return switch (operator) {
            case EQUAL -> Arrays.equals(bytes, offset, end, text, 0, text.length);
            case NOT_EQUAL -> !Arrays.equals(bytes, offset, end, text, 0, text.length);
            case STARTS_WITH -> startsWith(bytes, offset, end);
            case STARTS_NOT_WITH -> !startsWith(bytes, offset, end);
            case LESS, AT_MOST, GREATER, AT_LEAST ->
                operator.holds(Arrays.compareUnsigned(bytes, offset, end, text, 0, text.length));
        };
    }

    private boolean startsWith(byte[] bytes, int offset, int end) {
        return end - offset >= text.length
                && Arrays.equals(bytes, offset, offset + text.length, text, 0, text.length);
    }
}
