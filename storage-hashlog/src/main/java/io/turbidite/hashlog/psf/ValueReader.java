package io.turbidite.hashlog.psf;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.expr.TokenReader;

import org.jspecify.annotations.Nullable;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;

/** Reads what a user writes for the value of a property. */
final class ValueReader {
    private ValueReader() {}

    /** The canonical value of {@code text} as a value of {@code definition}. */
    static PropertyValue valueOf(PsfDefinition definition, String text) {
        return switch (definition) {
            case PsfDefinition.Field _, PsfDefinition.Function _ -> literal(text);
            case PsfDefinition.Where _ -> truth(text);
            case PsfDefinition.Bucket bucket -> {
                Decimal number = number(text);
                if (!number.hasLongFloor()) {
                    throw new InvalidRequestException(
                            "%s is beyond 64 bits, no record is in such a bucket".formatted(text));
                }
                yield PropertyValue.of(Math.floorDiv(number.floor(), (long) bucket.width()));
            }
            case PsfDefinition.Ranges ranges -> {
                Decimal[] bounds =
                        ranges.bounds().stream().map(Decimal::of).toArray(Decimal[]::new);
                int range = CanonicalValues.rangeOf(number(text), bounds);
                if (range < 0) {
                    throw new InvalidRequestException(
                            "%s is in none of %s".formatted(text, ranges.text()));
                }
                yield PropertyValue.of(range);
            }
            case PsfDefinition.Prefix prefix ->
                PropertyValue.of(
                        cut(text.startsWith("\"") ? string(text) : text, prefix.charCount()));
        };
    }

    private static PropertyValue truth(String text) {
        if (!text.equals("true") && !text.equals("1")) {
            throw new InvalidRequestException(
                    "a where(…) PSF has the value true and no other, not '%s'".formatted(text));
        }
        return PropertyValue.of(1);
    }

    private static PropertyValue literal(String text) {
        TokenReader reader = new TokenReader(text);
        if (reader.peek() == '"') {
            return PropertyValue.of(string(text));
        }
        if (text.equals("true") || text.equals("false")) {
            return PropertyValue.of(text.equals("true"));
        }
        BigDecimal number = numberOrNull(text);
        return number == null ? PropertyValue.of(text) : PropertyValue.of(number);
    }

    private static String string(String text) {
        TokenReader reader = new TokenReader(text);
        String value = reader.string();
        reader.end();
        return value;
    }

    private static Decimal number(String text) {
        BigDecimal number = numberOrNull(text);
        if (number == null) {
            throw new InvalidRequestException("'%s' is not a number".formatted(text));
        }
        return Decimal.of(number);
    }

    private static @Nullable BigDecimal numberOrNull(String text) {
        TokenReader reader = new TokenReader(text);
        try {
            BigDecimal number = reader.number();
            reader.end();
            return number;
        } catch (InvalidRequestException e) {
            return null;
        }
    }

    private static String cut(String text, int charCount) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        int bytes = CanonicalValues.prefixBytes(utf8, 0, utf8.length, charCount);
        return new String(utf8, 0, bytes, StandardCharsets.UTF_8);
    }
}
