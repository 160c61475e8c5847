package io.turbidite.ops.expr;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.geo.Circle;
import io.turbidite.core.geo.Metric;
import io.turbidite.core.text.TextQuery;
import io.turbidite.core.type.Rectangle;

import org.jspecify.annotations.Nullable;

/**
 * A condition on one declared field, as the caller wrote it; its values are checked against the
 * field's type when a query is planned. <em>Immutable.</em>
 */
public sealed interface Predicate {
    /** The declared field it is about. */
    String field();

    /**
     * The field equals {@code value}; null matches null and missing.
     *
     * @param value of the field's Java class, a {@link Text} or a {@link Parameter}
     */
    record Eq(String field, @Nullable Object value) implements Predicate {
        public Eq {
            Given.notNull(field, "the field of a predicate");
            value = own(value);
        }

        @Override
        public String toString() {
            return field + " = " + show(value);
        }
    }

    /**
     * The field is neither null nor missing and lies between two bounds, both included; null is
     * open.
     *
     * @param low as the value of {@link Eq}, or {@link Excluded}; so is {@code high}
     */
    record Range(
            String field, @Nullable Object low, @Nullable Object high) implements Predicate {
        public Range {
            Given.notNull(field, "the field of a predicate");
            low = own(low);
            high = own(high);
        }

        @Override
        public String toString() {
            if (low instanceof Excluded || high instanceof Excluded) {
                String above = low == null ? "" : side(low, " > ", " >= ");
                String below = high == null ? "" : side(high, " < ", " <= ");
                return above + (low == null || high == null ? "" : " and ") + below;
            }
            return field
                    + " in "
                    + (low == null ? "" : show(low))
                    + ".."
                    + (high == null ? "" : show(high));
        }

        private String side(Object bound, String beyond, String from) {
            return bound instanceof Excluded(Object value)
                    ? field + beyond + show(value)
                    : field + from + show(bound);
        }
    }

    /** A point that lies in the window, or a rectangle that meets it; borders included. */
    record Within(String field, Rectangle window) implements Predicate {
        public Within {
            Given.notNull(field, "the field of a predicate");
            Given.notNull(window, "the window of a predicate");
        }

        @Override
        public String toString() {
            return "%s within %s,%s,%s,%s"
                    .formatted(field, window.minX(), window.minY(), window.maxX(), window.maxY());
        }
    }

    /**
     * A point on the sphere that lies in a window which crosses the antimeridian: its west border
     * is the greater longitude.
     */
    record Across(String field, double minX, double minY, double maxX, double maxY)
            implements Predicate {
        public Across {
            Given.notNull(field, "the field of a predicate");
        }

        @Override
        public String toString() {
            return "%s within %s,%s,%s,%s".formatted(field, minX, minY, maxX, maxY);
        }
    }

    /**
     * A window, whichever it is.
     *
     * @throws InvalidRequestException if a coordinate is not finite, or minY is above maxY
     */
    static Predicate window(String field, double minX, double minY, double maxX, double maxY) {
        // whether the field is on the sphere is known when the query is planned
        return minX > maxX && Double.isFinite(minX) && Double.isFinite(maxX) && minY <= maxY
                ? new Across(field, minX, minY, maxX, maxY)
                : new Within(field, new Rectangle(minX, minY, maxX, maxY));
    }

    /** A point or rectangle at most so far from a place, in the measure of the field's type. */
    record Distance(String field, double x, double y, double radius) implements Predicate {
        public Distance {
            Given.notNull(field, "the field of a predicate");
            var _ = new Circle(Metric.PLANE, x, y, radius);
        }

        @Override
        public String toString() {
            return "%s within %s of %s,%s".formatted(field, radius, x, y);
        }
    }

    /** A string that has all of the words, in any order, letters compared without case. */
    record Contains(String field, String words) implements Predicate {
        public Contains {
            Given.notNull(field, "the field of a predicate");
            Given.notNull(words, "the text of a predicate");
        }

        @Override
        public String toString() {
            return field + " contains " + show(words);
        }
    }

    /** A string that matches by its tokens or letters. */
    record Matches(String field, TextQuery query) implements Predicate {
        public Matches {
            Given.notNull(field, "the field of a predicate");
            Given.notNull(query, "what is asked of a text");
            Given.notNull(query.text(), "the text of a predicate");
        }

        @Override
        public String toString() {
            return field + " " + query;
        }
    }

    /** A value that is still text, read by the field's type when the query is planned. */
    record Text(String text) {
        @Override
        public String toString() {
            return text;
        }
    }

    /** A bound that does not lie in its range itself. */
    record Excluded(Object value) {
        /** The value of a bound, excluded or not. */
        static @Nullable Object valueOf(@Nullable Object bound) {
            return bound instanceof Excluded(Object value) ? value : bound;
        }

        /** Another value for a bound, excluded if that is; null is open either way. */
        public static @Nullable Object replaced(@Nullable Object bound, @Nullable Object newValue) {
            return bound instanceof Excluded && newValue != null
                    ? new Excluded(newValue)
                    : newValue;
        }

        /** The parameter that a bound stands for, excluded or not; null if it is none. */
        public static @Nullable Parameter parameterOf(@Nullable Object bound) {
            return valueOf(bound) instanceof Parameter parameter ? parameter : null;
        }
    }

    /** Stands for a value that each run of a prepared query gives. */
    record Parameter(String name) {
        public Parameter {
            Given.notNull(name, "the name of a parameter");
        }

        @Override
        public String toString() {
            return ":" + name;
        }
    }

    /** Shown in messages and plans, long ones by their beginning. */
    private static String show(@Nullable Object value) {
        String text = String.valueOf(value);
        String shown = text.length() <= 200
                ? text
                : "%s… (%d characters)".formatted(text.substring(0, 100), text.length());
        return value instanceof String ? '"' + shown + '"' : shown;
    }

    /** What the caller can't change any more. */
    private static @Nullable Object own(@Nullable Object value) {
        return switch (value) {
            case byte[] bytes -> bytes.clone();
            case Excluded(byte[] bytes) -> new Excluded(bytes.clone());
            case null, default -> value;
        };
    }
}
