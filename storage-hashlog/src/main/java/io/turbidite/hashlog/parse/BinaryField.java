package io.turbidite.hashlog.parse;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.expr.FieldPath;

/**
 * A field of {@link ParserSpec.Binary}: where in every record it lies. <em>Immutable.</em>
 *
 * @param offset bytes from the start of the record
 * @param byteCount bytes of the field; for integers 1, 2, 4 or 8, little-endian
 */
public record BinaryField(String name, Encoding encoding, int offset, int byteCount) {
    /** How the bytes are read. */
    public enum Encoding {
        /** Two's complement: {@code i8 i16 i32 i64}. */
        SIGNED("i"),
        /** {@code u8 u16 u32}. */
        UNSIGNED("u"),
        /** UTF-8, zero bytes at its end cut off: {@code text16}. */
        TEXT("text");

        final String letter;

        Encoding(String letter) {
            this.letter = letter;
        }
    }

    public BinaryField {
        new FieldPath.Name(name);
        boolean integer = byteCount == 1 || byteCount == 2 || byteCount == 4;
        boolean good = switch (encoding) {
            case SIGNED -> integer || byteCount == 8;
            case UNSIGNED -> integer;
            case TEXT -> byteCount > 0 && byteCount <= 1 << 20;
        };
        if (!good || offset < 0 || offset > 1 << 25) {
            throw new InvalidRequestException(
                    "%s at byte %d is no field: integers are i8 i16 i32 i64 u8 u16 u32, texts text1 to text1048576"
                            .formatted(name, offset));
        }
    }

    String text() {
        int size = encoding == Encoding.TEXT ? byteCount : 8 * byteCount;
        return "%s:%s%s@%s".formatted(FieldPath.of(name).text(), encoding.letter, size, offset);
    }
}
