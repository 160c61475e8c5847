package io.turbidite.core.type;

import io.turbidite.core.InvalidRequestException;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** The kinds of declared fields, with the Java class that stands for a value of each. */
public enum TypeKind {
    /** {@link Boolean}. */
    BOOL,
    /** {@link Byte}. */
    INT8,
    /** {@link Short}. */
    INT16,
    /** {@link Integer}. */
    INT32,
    /** {@link Long}. */
    INT64,
    /** {@link Float}. */
    FLOAT,
    /** {@link Double}. */
    DOUBLE,
    /** {@link java.math.BigDecimal}; equal by value, so 1.0 and 1.00 are one key. */
    DECIMAL,
    /** {@link String}; ordered by UTF-8 bytes, which is the order of code points. */
    STRING,
    /** {@code byte[]}. */
    BINARY,
    /** {@link java.util.UUID}; ordered as its 16 bytes. */
    UUID,
    /** {@link java.time.LocalDate}. */
    DATE,
    /** {@link java.time.LocalTime} of whole microseconds, cut off as {@link #DATETIME}s are. */
    TIME,
    /**
     * {@link java.time.Instant} of whole microseconds: what is finer is cut off, in records, keys
     * and predicates.
     */
    DATETIME,
    /** {@link java.time.Duration} of whole microseconds, cut off as {@link #DATETIME}s are. */
    DURATION,
    /** {@link Point}; as a key ordered by x, then y. */
    POINT,
    /** {@link Rectangle}; as a key ordered by minX, minY, maxX, maxY. */
    RECTANGLE,
    /**
     * {@link Point} on the sphere: x a longitude of -180 to 180, y a latitude of -90 to 90; as a
     * key as {@link #POINT}.
     */
    LONLAT,
    /** {@link java.util.List} of values of one simple kind, in their order; no key. */
    ARRAY,
    /** {@link java.util.Map} from names to values: a record within a record; no key. */
    RECORD;

    /** Whether its values are one each: neither an array nor a record. */
    public boolean isScalar() {
        return this != ARRAY && this != RECORD;
    }

    /** Whether its values are {@link Point}s. */
    public boolean isPoint() {
        return this == POINT || this == LONLAT;
    }

    /** Whether its values have places: points and rectangles. */
    public boolean isSpatial() {
        return isPoint() || this == RECTANGLE;
    }

    /**
     * The name in definitions: {@code int64}, {@code string}; {@code bytes} for BINARY, {@code
     * point(lonlat)} for LONLAT.
     */
    public String label() {
        return switch (this) {
            case BINARY -> "bytes";
            case LONLAT -> "point(lonlat)";
            default -> name().toLowerCase(Locale.ROOT);
        };
    }

    /**
     * The simple kind with this label.
     *
     * @throws InvalidRequestException listing the kinds
     */
    public static TypeKind ofLabel(String label) {
        return find(label)
                .orElseThrow(() -> new InvalidRequestException(
                        "unknown type '%s'; %s".formatted(label, labels())));
    }

    static Optional<TypeKind> find(String label) {
        for (TypeKind kind : values()) {
            if (kind.isScalar() && kind.label().equals(label)) {
                return Optional.of(kind);
            }
        }
        return Optional.empty();
    }

    /** What there is, for messages. */
    static String labels() {
        return "types are %s, arrays like [string] and records like {lang: string}"
                .formatted(Arrays.stream(values())
                        .filter(TypeKind::isScalar)
                        .map(TypeKind::label)
                        .collect(Collectors.joining(", ")));
    }
}
