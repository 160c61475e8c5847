package io.turbidite.ops.window;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.expr.Given;

import org.jspecify.annotations.Nullable;

import java.util.Locale;

/**
 * A function of the rows around a row. Make it by its name, then say over which rows, and under
 * which name: {@code WindowFunction.sum("delay").rows(-6, 0).as("week")}. Without a frame it is
 * over all rows of the partition up to the current one and those equal to it in the order, as in
 * SQL; without an order those are all of the partition. <em>Immutable.</em>
 *
 * @param kind what it does
 * @param argument the field that it takes; null where it takes none
 * @param number how many rows back or ahead, or how many parts
 * @param fallback the field of the current row that stands for a row that is not there; null: none
 * @param frame the rows that it looks at
 * @param name of its field in the rows
 */
public record WindowFunction(
        Kind kind,
        @Nullable String argument,
        long number,
        @Nullable String fallback,
        Frame frame,
        String name) {
    /** Most rows that a frame, {@code lag} or {@code lead} may look back or ahead. */
    public static final long DISTANCE_MAX = 100_000;

    /** What a function does. */
    public enum Kind {
        /** 1, 2, 3 and so on within the partition. */
        ROW_NUMBER,
        /** The number of rows before it in order, and 1. */
        RANK,
        /** The number of different values before it, and 1. */
        DENSE_RANK,
        /** The rank from 0 to 1. */
        PERCENT_RANK,
        /** The part of the rows that come up to the current one and those equal to it. */
        CUME_DIST,
        /** Which of n parts of equal size it is in, from 1. */
        NTILE,
        /** The value of a row before it. */
        LAG,
        /** The value of a row behind it. */
        LEAD,
        /** The value of the first row of the frame. */
        FIRST_VALUE,
        /** The value of the last row of the frame. */
        LAST_VALUE,
        /** The value of the row with the number {@link WindowFunction#number} in the frame. */
        NTH_VALUE,
        /** How many rows of the frame have a value. */
        COUNT,
        /** The sum over the frame. */
        SUM,
        /** As the sum, but 0 of no value. */
        SUM0,
        /** The mean over the frame. */
        AVG,
        /** The least value of the frame. */
        MIN,
        /** The greatest value of the frame. */
        MAX;

        String label() {
            return name().toLowerCase(Locale.ROOT);
        }

        boolean isFramed() {
            return compareTo(FIRST_VALUE) >= 0;
        }
    }

    /**
     * Rows of a partition, around the current one.
     *
     * @param isRange whether rows that are equal in the order are in it together
     * @param from the first one, below 0 before the current row; {@link #UNBOUNDED_FROM}
     * @param to the last one; {@link #UNBOUNDED_TO}
     */
    public record Frame(boolean isRange, long from, long to) {
        /** From the first row of the partition. */
        public static final long UNBOUNDED_FROM = Long.MIN_VALUE;

        /** To the last row of the partition. */
        public static final long UNBOUNDED_TO = Long.MAX_VALUE;

        /** From the first row to the current one and those equal to it. */
        public static final Frame RUNNING = new Frame(true, UNBOUNDED_FROM, 0);

        /** Checks it. */
        public Frame {
            if (from > to) {
                throw new InvalidRequestException("a frame ends before it begins");
            }
            boolean isWhole = from == UNBOUNDED_FROM && to == UNBOUNDED_TO;
            boolean fits = isRange
                    ? (to == 0 && from == UNBOUNDED_FROM)
                            || (from == 0 && (to == 0 || to == UNBOUNDED_TO))
                    : (to == UNBOUNDED_TO || isNear(to))
                            && (from == UNBOUNDED_FROM || isNear(from));
            if (!isWhole && !fits) {
                throw new InvalidRequestException(
                        isRange
                                ? "a frame of values goes from the first row or the current one to the current one or the last"
                                : String.format(
                                        Locale.ROOT,
                                        "a frame of rows goes from the first one, or from one of the %,d before or behind, to one of as many before or behind, or to the last",
                                        DISTANCE_MAX));
            }
        }

        private static boolean isNear(long distance) {
            return distance >= -DISTANCE_MAX && distance <= DISTANCE_MAX;
        }

        /** The same, where rows come from the last one to the first. */
        private Frame mirrored() {
            return new Frame(
                    isRange,
                    to == UNBOUNDED_TO ? UNBOUNDED_FROM : -to,
                    from == UNBOUNDED_FROM ? UNBOUNDED_TO : -from);
        }

        boolean isWhole() {
            return from == UNBOUNDED_FROM && to == UNBOUNDED_TO;
        }
    }

    /** What rows have in common that have the same value. */
    enum Unit {
        PARTITION,
        PEERS,
        ROW
    }

    /** Checks it. */
    public WindowFunction {
        boolean isDistance = kind == Kind.LAG || kind == Kind.LEAD;
        if (isDistance && (number < 0 || number > DISTANCE_MAX)) {
            throw new InvalidRequestException(String.format(
                    Locale.ROOT, "%s of %,d rows: 0 to %,d", kind.label(), number, DISTANCE_MAX));
        }
        if (kind == Kind.NTILE && number < 1) {
            throw new InvalidRequestException(
                    String.format(Locale.ROOT, "ntile of %,d parts: 1 at least", number));
        }
        if (kind == Kind.NTH_VALUE && number < 1) {
            throw new InvalidRequestException(
                    String.format(Locale.ROOT, "nth_value of row %,d: 1 at least", number));
        }
    }

    /** A function of no field. */
    public static WindowFunction of(Kind kind) {
        return new WindowFunction(kind, null, 1, null, Frame.RUNNING, kind.label());
    }

    /** A function of a field. */
    public static WindowFunction of(Kind kind, String field) {
        return new WindowFunction(
                kind,
                Given.notNull(field, "the field of a window function"),
                1,
                null,
                Frame.RUNNING,
                kind.label());
    }

    /** Numbers the rows of a partition, from 1. */
    public static WindowFunction rowNumber() {
        return of(Kind.ROW_NUMBER);
    }

    /** The sum of a field. */
    public static WindowFunction sum(String field) {
        return of(Kind.SUM, field);
    }

    /** The value of a field some rows before. */
    public static WindowFunction lag(String field, long rows) {
        return of(Kind.LAG, field).by(rows);
    }

    /** The value of a field some rows behind. */
    public static WindowFunction lead(String field, long rows) {
        return of(Kind.LEAD, field).by(rows);
    }

    /** The same, by so many rows or parts. */
    public WindowFunction by(long newNumber) {
        return new WindowFunction(kind, argument, newNumber, fallback, frame, name);
    }

    /** The same, with a field of the current row where the other row is not there. */
    public WindowFunction otherwise(@Nullable String field) {
        return new WindowFunction(kind, argument, number, field, frame, name);
    }

    /** The same, over the rows from one to another: {@code rows(-1, 1)} are three. */
    public WindowFunction rows(long from, long to) {
        return over(new Frame(false, from, to));
    }

    /** The same, over all rows of the partition. */
    public WindowFunction overAll() {
        return over(new Frame(false, Frame.UNBOUNDED_FROM, Frame.UNBOUNDED_TO));
    }

    /** The same, over other rows. */
    public WindowFunction over(Frame newFrame) {
        return new WindowFunction(kind, argument, number, fallback, newFrame, name);
    }

    /** The same by another name. */
    public WindowFunction as(String newName) {
        return new WindowFunction(
                kind,
                argument,
                number,
                fallback,
                frame,
                Given.notNull(newName, "the name of a window function"));
    }

    /** Whether it needs the rows from the last one to the first. */
    boolean isBackward() {
        boolean isToEnd = kind.isFramed() && frame.to == Frame.UNBOUNDED_TO && !frame.isWhole();
        if (isToEnd && kind == Kind.NTH_VALUE) {
            throw new InvalidRequestException(
                    "nth_value is of a frame that begins with the first row or ends near the current one");
        }
        return isToEnd || kind == Kind.CUME_DIST;
    }

    /** The same, where rows come from the last one to the first. */
    WindowFunction mirrored() {
        Kind turned = switch (kind) {
            case FIRST_VALUE -> Kind.LAST_VALUE;
            case LAST_VALUE -> Kind.FIRST_VALUE;
            default -> kind;
        };
        Frame seen = kind.isFramed() ? frame.mirrored() : frame;
        return new WindowFunction(turned, argument, number, fallback, seen, name);
    }

    Unit unit() {
        return switch (kind) {
            case ROW_NUMBER, RANK, DENSE_RANK, LAG, LEAD -> Unit.ROW;
            case PERCENT_RANK, CUME_DIST, NTILE -> Unit.PARTITION;
            default -> frame.isWhole() ? Unit.PARTITION : frame.isRange ? Unit.PEERS : Unit.ROW;
        };
    }

    /**
     * Its field in the rows.
     *
     * @throws InvalidRequestException if the field that it takes is not declared or of another type
     */
    public Field field(RecordType type) {
        return switch (kind) {
            case ROW_NUMBER, RANK, DENSE_RANK, NTILE, COUNT -> {
                if (argument != null) {
                    var _ = index(type, argument);
                }
                yield new Field(name, TypeKind.INT64, true);
            }
            case PERCENT_RANK, CUME_DIST -> new Field(name, TypeKind.DOUBLE, true);
            case SUM, SUM0 -> new Field(name, sumKind(taken(type)), true);
            case AVG -> {
                var _ = sumKind(taken(type));
                yield new Field(name, TypeKind.DOUBLE, true);
            }
            case MIN, MAX -> {
                Field of = taken(type);
                if (!of.kind().isScalar() || of.kind().isSpatial()) {
                    throw refused(of);
                }
                yield of.as(name, true);
            }
            case LAG, LEAD, FIRST_VALUE, LAST_VALUE, NTH_VALUE -> {
                Field of = taken(type);
                if (fallback != null) {
                    Field other = type.field(index(type, fallback));
                    if (isWhole(other.kind()) && isWhole(of.kind())) {
                        yield other.kind() == of.kind()
                                ? of.as(name, true)
                                : new Field(name, TypeKind.INT64, true);
                    }
                    if (other.kind() != of.kind()) {
                        throw new InvalidRequestException(
                                "%s of '%s', which is %s, or else of '%s', which is %s"
                                        .formatted(
                                                kind.label(),
                                                of.name(),
                                                of.typeLabel(),
                                                other.name(),
                                                other.typeLabel()));
                    }
                }
                yield of.as(name, true);
            }
        };
    }

    private static boolean isWhole(TypeKind kind) {
        return switch (kind) {
            case INT8, INT16, INT32, INT64 -> true;
            default -> false;
        };
    }

    private Field taken(RecordType type) {
        if (argument == null) {
            throw new InvalidRequestException("%s takes a field".formatted(kind.label()));
        }
        return type.field(index(type, argument));
    }

    static int index(RecordType type, String field) {
        int index = type.require(field, "a window function");
        if (type.isEach(index)) {
            throw new InvalidRequestException(
                    "a window function takes fields, not the elements of '%s'".formatted(field));
        }
        return index;
    }

    private TypeKind sumKind(Field of) {
        return switch (of.kind()) {
            case INT8, INT16, INT32, INT64 -> TypeKind.INT64;
            case FLOAT, DOUBLE -> TypeKind.DOUBLE;
            case DECIMAL -> TypeKind.DECIMAL;
            case DURATION -> {
                if (kind == Kind.AVG) {
                    throw refused(of);
                }
                yield TypeKind.DURATION;
            }
            default -> throw refused(of);
        };
    }

    private InvalidRequestException refused(Field of) {
        return new InvalidRequestException("%s does not take '%s', which is %s"
                .formatted(kind.label(), of.name(), of.typeLabel()));
    }

    @Override
    public String toString() {
        return "%s(%s)".formatted(kind.label(), argument == null ? "" : argument);
    }
}
