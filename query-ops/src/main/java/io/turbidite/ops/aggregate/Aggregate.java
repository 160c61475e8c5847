package io.turbidite.ops.aggregate;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.expr.Expression;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.math.BigDecimal;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Something summed up of the records of a group, or of all records that a query finds.
 * <em>Immutable.</em>
 *
 * <pre>{@code
 * Query.on(flights).groupBy("carrier").aggregate(
 *         Aggregate.count(), Aggregate.avg("delay"), Aggregate.max("delay").as("worst"))
 * }</pre>
 *
 * <p>Records whose field is null or missing are left out, as in SQL: of no value at all the counts
 * are 0, and everything else is null.
 *
 * @param function what is made of the values
 * @param field what has the values: a declared field, by its path, or an expression, which needs a
 *     name by {@link #as}: {@code sum("arr_delay - dep_delay").as("lost")}; null: it counts records
 * @param name the name of the result in the rows of the query
 * @param listing how values are listed, of functions that keep them all
 */
public record Aggregate(Function function, @Nullable String field, String name, Listing listing) {
    private static final Pattern NAME = Pattern.compile("[\\p{L}\\p{N}_$.\\-]*");

    /** What is made of values, and of which. */
    public enum Function {
        /** How many there are: an int64. */
        COUNT("count"),
        /** How many different ones there are: an int64. Exact; values of any scalar kind. */
        COUNT_DISTINCT("count_distinct"),
        /**
         * The sum. Of integers an int64, of durations a duration: one that does not fit is an
         * error, whatever the order of the records. Of floats and doubles a double, with the
         * rounding errors made up for; of decimals a decimal.
         */
        SUM("sum"),
        /** The mean: a double, of durations a duration, rounded down to whole microseconds. */
        AVG("avg"),
        /** The least, by the order of the field's type; of any kind but points and rectangles. */
        MIN("min"),
        /** The greatest; NaN is above all numbers. */
        MAX("max"),
        /** The variance of a sample, a double: of fewer than two values null. */
        VAR("var"),
        /** The root of {@link #VAR}. */
        STDDEV("stddev"),
        /**
         * All values as an array; of values of one kind that is no array or record itself. Those of
         * a group take at most {@link Listing#BYTES_MAX} bytes.
         */
        ARRAY_AGG("array_agg"),
        /** All texts as one, with {@link Listing#separator} between; bounded as an array is. */
        STRING_AGG("string_agg"),
        /**
         * The number below which a part of all numbers lies, a double; between two numbers the line
         * between them. Exact: it keeps all, bounded as an array is.
         */
        PERCENTILE_CONT("percentile_cont"),
        /** The first value that a part of all values does not exceed; bounded as an array is. */
        PERCENTILE_DISC("percentile_disc");

        private final String label;

        Function(String label) {
            this.label = label;
        }

        /** As commands and names of results write it. */
        public String label() {
            return label;
        }

        /** Whether it keeps all values, and has the order of {@link Aggregate#listing}. */
        public boolean lists() {
            return compareTo(ARRAY_AGG) >= 0;
        }

        /**
         * The kind of the result.
         *
         * @param kind of the values
         * @throws InvalidRequestException if it can't be made of such values
         */
        TypeKind resultKind(TypeKind kind, String field) {
            boolean isNumber = switch (kind) {
                case INT8, INT16, INT32, INT64, FLOAT, DOUBLE, DECIMAL -> true;
                default -> false;
            };
            boolean isDuration = kind == TypeKind.DURATION;
            return switch (this) {
                case COUNT -> TypeKind.INT64;
                case COUNT_DISTINCT -> {
                    require(kind.isScalar(), "simple values", kind, field);
                    yield TypeKind.INT64;
                }
                case MIN, MAX -> {
                    boolean hasOrder = kind.isScalar() && !kind.isSpatial();
                    require(hasOrder, "values that have an order", kind, field);
                    yield kind;
                }
                case SUM -> {
                    require(isNumber || isDuration, "numbers and durations", kind, field);
                    yield switch (kind) {
                        case FLOAT, DOUBLE -> TypeKind.DOUBLE;
                        case DECIMAL, DURATION -> kind;
                        default -> TypeKind.INT64;
                    };
                }
                case AVG -> {
                    require(isNumber || isDuration, "numbers and durations", kind, field);
                    yield isDuration ? kind : TypeKind.DOUBLE;
                }
                case VAR, STDDEV, PERCENTILE_CONT -> {
                    require(isNumber, "numbers", kind, field);
                    yield TypeKind.DOUBLE;
                }
                case ARRAY_AGG -> {
                    require(kind.isScalar(), "simple values", kind, field);
                    yield TypeKind.ARRAY;
                }
                case STRING_AGG -> {
                    require(kind == TypeKind.STRING, "texts", kind, field);
                    yield kind;
                }
                case PERCENTILE_DISC -> {
                    boolean hasOrder = kind.isScalar() && !kind.isSpatial();
                    require(hasOrder, "values that have an order", kind, field);
                    yield kind;
                }
            };
        }

        private void require(boolean holds, String taken, TypeKind kind, String field) {
            if (!holds) {
                throw new InvalidRequestException("%s takes %s; field '%s' is of type %s"
                        .formatted(label, taken, field, kind.label()));
            }
        }
    }

    /**
     * How the values of a group are listed.
     *
     * @param order by which they are; none: as they come, which no one may rely on, but different
     *     values and those of percentiles by themselves
     * @param isDistinct whether equal values are listed once, where the first of them stands
     * @param condition of records whose value is listed, in the language of queries; null: all
     * @param separator between texts
     * @param fraction of a percentile, 0 to 1: a half is the median
     */
    public record Listing(
            List<By> order,
            boolean isDistinct,
            @Nullable String condition,
            String separator,
            BigDecimal fraction) {
        /** Most bytes that the values of one group take, 16 MiB; more of them are an error. */
        public static final int BYTES_MAX = 16 << 20;

        /** Without order, condition and separator; the median. */
        public static final Listing PLAIN =
                new Listing(List.of(), false, null, "", BigDecimal.valueOf(0.5));

        /**
         * A value to order by.
         *
         * @param field a declared field or an expression, as {@link Aggregate#field}
         * @param isDescending whether the greatest comes first
         * @param nullsAbove whether null is above all values, and not below them
         */
        public record By(String field, boolean isDescending, boolean nullsAbove) {}

        /** Checks it. */
        public Listing {
            order = List.copyOf(order);
            if (fraction.signum() < 0 || fraction.compareTo(BigDecimal.ONE) > 0) {
                throw new InvalidRequestException(
                        "a percentile is of a fraction from 0 to 1, not of %s"
                                .formatted(fraction.toPlainString()));
            }
        }

        Listing where(String newCondition) {
            return new Listing(order, isDistinct, newCondition, separator, fraction);
        }
    }

    public Aggregate {
        if (field == null && function != Function.COUNT) {
            throw new InvalidRequestException(
                    "%s needs a field that it is made of".formatted(function.label()));
        }
        if (name.isEmpty()) {
            throw new InvalidRequestException("a result needs a name");
        }
    }

    /** Of a function that needs to know no more, or lists values as they come. */
    public Aggregate(Function function, @Nullable String field, String name) {
        this(function, field, name, Listing.PLAIN);
    }

    /** How many records there are, as {@code count}. */
    public static Aggregate count() {
        return new Aggregate(Function.COUNT, null, Function.COUNT.label());
    }

    /** How many records have a value of the field, as {@code count_field}. */
    public static Aggregate count(String field) {
        return of(Function.COUNT, field);
    }

    /** How many different values the field has, as {@code count_distinct_field}. */
    public static Aggregate countDistinct(String field) {
        return of(Function.COUNT_DISTINCT, field);
    }

    /** The sum of the field's values, as {@code sum_field}. */
    public static Aggregate sum(String field) {
        return of(Function.SUM, field);
    }

    /** Their mean, as {@code avg_field}. */
    public static Aggregate avg(String field) {
        return of(Function.AVG, field);
    }

    /** The least of them, as {@code min_field}. */
    public static Aggregate min(String field) {
        return of(Function.MIN, field);
    }

    /** The greatest of them, as {@code max_field}. */
    public static Aggregate max(String field) {
        return of(Function.MAX, field);
    }

    /** Their variance as a sample, as {@code var_field}. */
    public static Aggregate variance(String field) {
        return of(Function.VAR, field);
    }

    /** Their standard deviation as a sample, as {@code stddev_field}. */
    public static Aggregate standardDeviation(String field) {
        return of(Function.STDDEV, field);
    }

    /** All values of the field, as {@code array_agg_field}. */
    public static Aggregate array(String field) {
        return of(Function.ARRAY_AGG, field);
    }

    /** The median of the field's numbers, as {@code percentile_cont_field}. */
    public static Aggregate median(String field) {
        return of(Function.PERCENTILE_CONT, field);
    }

    /** An aggregate whose name is that of its function and its field, with _ between. */
    public static Aggregate of(Function function, String field) {
        return new Aggregate(function, field, function.label() + "_" + field);
    }

    /**
     * The same of those records alone for which a condition holds, in the language of queries:
     * {@code count().where("delay > 30").as("late")}. SQL calls it {@code filter}.
     *
     * @param condition is not checked before the query runs
     */
    public Aggregate where(String condition) {
        if (function.lists()) {
            return with(listing.where(condition));
        }
        String of = field == null ? "1" : field;
        // what may be a name is one, even if an expression would have quotes around it
        String value =
                field != null && NAME.matcher(of).matches() ? new Expression.Name(of).text() : of;
        return new Aggregate(
                function, "case when %s then %s end".formatted(condition, value), name);
    }

    /** The same by another name. */
    public Aggregate as(String newName) {
        return new Aggregate(function, field, newName, listing);
    }

    /** The same, with the values listed in another way. */
    public Aggregate with(Listing newListing) {
        return new Aggregate(function, field, name, newListing);
    }

    /** As people write it: {@code sum(delay)}. */
    @Override
    public String toString() {
        return field == null ? function.label() : "%s(%s)".formatted(function.label(), field);
    }
}
