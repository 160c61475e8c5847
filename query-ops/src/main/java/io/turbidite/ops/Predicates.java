package io.turbidite.ops;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.text.TextQuery;
import io.turbidite.core.text.Tokenizer;
import io.turbidite.ops.expr.Given;
import io.turbidite.ops.expr.Predicate;

import org.jspecify.annotations.Nullable;

import java.util.function.Supplier;

/**
 * Makes predicates for {@link Query#where}. Fields must be declared, and values must be of the
 * field's Java class (see {@link io.turbidite.core.type.TypeKind}); planning checks both.
 */
public final class Predicates {
    private static final String JACCARD = "jaccard>=";
    private static final String DISTANCE = "distance<=";

    private Predicates() {}

    /** The field equals {@code value}; a null value matches null and missing. */
    public static Predicate eq(String field, @Nullable Object value) {
        return new Predicate.Eq(field, value);
    }

    /**
     * The field is between the bounds, both included; a null bound is open. Null and missing are in
     * no range, not even in one that is open on both sides. Strings compare by their UTF-8 bytes.
     */
    public static Predicate range(String field, @Nullable Object low, @Nullable Object high) {
        return new Predicate.Range(field, low, high);
    }

    /**
     * The field is above {@code value} and does not equal it; a null value is an open bound, as in
     * {@link #range}. Null and missing are above nothing.
     */
    public static Predicate above(String field, @Nullable Object value) {
        return range(field, value == null ? null : new Predicate.Excluded(value), null);
    }

    /** As {@link #above}, for a field that is below {@code value}. */
    public static Predicate below(String field, @Nullable Object value) {
        return range(field, null, value == null ? null : new Predicate.Excluded(value));
    }

    /**
     * Stands for a value in {@link #eq} or a bound in {@link #range}, {@link #above} or {@link
     * #below} of a prepared query ({@link
     * Query#prepare}), which gets the values when it runs. One name may stand in several places,
     * for one value.
     *
     * @param name for {@link PreparedQuery#parameters} and messages
     * @throws InvalidRequestException if the name is empty
     */
    public static Predicate.Parameter parameter(String name) {
        if (Given.notNull(name, "the name of a parameter").isEmpty()) {
            throw new InvalidRequestException("a parameter needs a name");
        }
        return new Predicate.Parameter(name);
    }

    /**
     * A point inside the window, or a rectangle that meets it; borders included. A window on
     * longitudes and latitudes crosses the antimeridian if its {@code minX} is above its {@code
     * maxX}.
     *
     * @throws InvalidRequestException if a coordinate is not finite, or {@code minY} is above
     *     {@code maxY}; on the plane {@code minX} may not be above {@code maxX} either, which
     *     planning checks
     */
    public static Predicate within(
            String field, double minX, double minY, double maxX, double maxY) {
        return Predicate.window(field, minX, minY, maxX, maxY);
    }

    /**
     * A point within a distance of {@code x,y}, or a rectangle that comes as near; just so far is
     * near enough.
     *
     * @param radius the distance, finite and above 0
     * @throws InvalidRequestException if a number is not finite, or the distance is not above 0
     */
    public static Predicate distance(String field, double x, double y, double radius) {
        return new Predicate.Distance(field, x, y, radius);
    }

    /** A string that contains all of the words of {@code words}, in any order, ignoring case. */
    public static Predicate contains(String field, String words) {
        return new Predicate.Contains(field, words);
    }

    /** A string with all of the tokens of {@code text}, as the tokenizer makes them of both. */
    public static Predicate containsAll(String field, Tokenizer tokenizer, String text) {
        return new Predicate.Matches(
                field,
                new TextQuery.All(Given.notNull(tokenizer, "the tokenizer of a predicate"), text));
    }

    /** A string with at least one of the tokens of {@code text}. */
    public static Predicate containsAny(String field, Tokenizer tokenizer, String text) {
        return new Predicate.Matches(
                field,
                new TextQuery.Any(Given.notNull(tokenizer, "the tokenizer of a predicate"), text));
    }

    /**
     * A string with a token that begins with {@code beginning}, which is of one token itself. The
     * tokenizer is of words or of whole texts.
     */
    public static Predicate containsPrefix(String field, Tokenizer tokenizer, String beginning) {
        return new Predicate.Matches(
                field,
                new TextQuery.Prefix(
                        Given.notNull(tokenizer, "the tokenizer of a predicate"), beginning));
    }

    /**
     * A string that has many tokens in common with {@code text}: their number, divided by that of
     * all different tokens of both, is at least {@code least}.
     *
     * @param least above 0, at most 1
     */
    public static Predicate jaccard(String field, Tokenizer tokenizer, String text, double least) {
        return new Predicate.Matches(
                field,
                new TextQuery.Jaccard(
                        Given.notNull(tokenizer, "the tokenizer of a predicate"), text, least));
    }

    /**
     * A string that becomes {@code text} when few characters are put in, taken out or replaced;
     * letters are compared without case.
     *
     * @param most how many, from 0 to {@value TextQuery#DISTANCE_MAX}
     */
    public static Predicate editDistance(String field, String text, int most) {
        return new Predicate.Matches(field, new TextQuery.Distance(text, most));
    }

    /** Reads {@code f=v}; {@code null} alone matches null and missing. */
    public static Predicate parseEq(String text) {
        String[] parts = split("eq", text, "f=value");
        return eq(parts[0], parts[1].equals("null") ? null : new Predicate.Text(parts[1]));
    }

    /** Reads {@code f=lo..hi}, split at the first {@code ..}; either bound may be empty. */
    public static Predicate parseRange(String text) {
        String[] parts = split("range", text, "f=low..high");
        int dots = parts[1].indexOf("..");
        if (dots < 0) {
            throw new InvalidRequestException(
                    "range '%s' has no '..'; write it as f=low..high, either may be empty"
                            .formatted(text));
        }
        String low = parts[1].substring(0, dots);
        String high = parts[1].substring(dots + 2);
        return range(
                parts[0],
                low.isEmpty() ? null : new Predicate.Text(low),
                high.isEmpty() ? null : new Predicate.Text(high));
    }

    /** Reads {@code f=value}, for {@link #above}. */
    public static Predicate parseAbove(String text) {
        String[] parts = split("above", text, "f=value");
        return above(parts[0], new Predicate.Text(parts[1]));
    }

    /** Reads {@code f=value}, for {@link #below}. */
    public static Predicate parseBelow(String text) {
        String[] parts = split("below", text, "f=value");
        return below(parts[0], new Predicate.Text(parts[1]));
    }

    /** Reads {@code f=minX,minY,maxX,maxY}. */
    public static Predicate parseWithin(String text) {
        String[] parts = split("within", text, "f=minX,minY,maxX,maxY");
        double[] window = numbers("within", parts[1], 4, "f=minX,minY,maxX,maxY");
        return named(
                "within", text, () -> within(parts[0], window[0], window[1], window[2], window[3]));
    }

    /** Reads {@code f=x,y,r}. */
    public static Predicate parseDistance(String text) {
        String[] parts = split("distance", text, "f=x,y,r");
        double[] circle = numbers("distance", parts[1], 3, "f=x,y,r");
        return named("distance", text, () -> distance(parts[0], circle[0], circle[1], circle[2]));
    }

    /** Reads {@code f=words}. */
    public static Predicate parseContains(String text) {
        String[] parts = split("contains", text, "f=words");
        return contains(parts[0], parts[1]);
    }

    /** Reads {@code f=text} or {@code f:tokenizer=text}; by words if it names none. */
    public static Predicate parseContainsAll(String text) {
        TokenText asked = TokenText.of("contains-all", text, "f:tokenizer=text", Tokenizer.WORD);
        return containsAll(asked.field(), asked.tokenizer(), asked.text());
    }

    /** Reads {@code f=text} or {@code f:tokenizer=text}; by words if it names none. */
    public static Predicate parseContainsAny(String text) {
        TokenText asked = TokenText.of("contains-any", text, "f:tokenizer=text", Tokenizer.WORD);
        return containsAny(asked.field(), asked.tokenizer(), asked.text());
    }

    /** Reads {@code f=beginning} or {@code f:tokenizer=beginning}; by words if it names none. */
    public static Predicate parseContainsPrefix(String text) {
        TokenText asked =
                TokenText.of("contains-prefix", text, "f:tokenizer=beginning", Tokenizer.WORD);
        return containsPrefix(asked.field(), asked.tokenizer(), asked.text());
    }

    /**
     * Reads {@code f=text,jaccard>=0.5}, {@code f:tokenizer=text,jaccard>=0.5} or {@code
     * f=text,distance<=2}; Jaccard is by ngram(3) if it names no tokenizer.
     */
    public static Predicate parseSimilar(String text) {
        String shape = "f=text,jaccard>=0.5 or f=text,distance<=2";
        TokenText asked = TokenText.of("similar", text, shape, Tokenizer.ngram(3));
        int comma = asked.text().lastIndexOf(',');
        String like = comma < 0 ? "" : asked.text().substring(0, comma);
        String measure = asked.text().substring(comma + 1).strip();
        try {
            if (comma >= 0 && measure.startsWith(JACCARD)) {
                double least = Double.parseDouble(measure.substring(JACCARD.length()));
                return jaccard(asked.field(), asked.tokenizer(), like, least);
            }
            if (comma >= 0 && measure.startsWith(DISTANCE)) {
                int most = Integer.parseInt(measure.substring(DISTANCE.length()).strip());
                return editDistance(asked.field(), like, most);
            }
        } catch (NumberFormatException e) {
            throw new InvalidRequestException(
                    "similar '%s': '%s' has no number; write it as %s"
                            .formatted(text, measure, shape),
                    e);
        }
        throw new InvalidRequestException(
                "similar '%s' says no measure; write it as %s".formatted(text, shape));
    }

    /** A field, how its texts are made tokens of, and what is looked for. */
    private record TokenText(String field, Tokenizer tokenizer, String text) {
        static TokenText of(String option, String text, String shape, Tokenizer otherwise) {
            String[] parts = split(option, text, shape);
            int colon = parts[0].lastIndexOf(':');
            String label = parts[0].substring(colon + 1);
            boolean named = colon > 0 && Tokenizer.isLabel(label);
            return named
                    ? new TokenText(
                            parts[0].substring(0, colon),
                            Tokenizer.ofLabel(label, option),
                            parts[1])
                    : new TokenText(parts[0], otherwise, parts[1]);
        }
    }

    /** The part before the first {@code =} and the part behind it. */
    static String[] split(String option, String text, String shape) {
        int equals = Given.notNull(text, option).indexOf('=');
        if (equals <= 0) {
            throw new InvalidRequestException(
                    "%s '%s' is not of the form %s".formatted(option, text, shape));
        }
        return new String[] {text.substring(0, equals), text.substring(equals + 1)};
    }

    /** What an option asks for; what is wrong with it names the option. */
    static <T> T named(String option, String text, Supplier<T> asked) {
        try {
            return asked.get();
        } catch (InvalidRequestException e) {
            throw new InvalidRequestException(
                    "%s '%s': %s".formatted(option, text, e.getMessage()), e);
        }
    }

    static double[] numbers(String option, String text, int count, String shape) {
        String[] parts = text.split(",", -1);
        double[] numbers = new double[parts.length];
        try {
            for (int i = 0; i < parts.length; i++) {
                numbers[i] = Double.parseDouble(parts[i].strip());
            }
        } catch (NumberFormatException e) {
            throw new InvalidRequestException(
                    "%s '%s' is not %d numbers; write it as %s"
                            .formatted(option, text, count, shape),
                    e);
        }
        if (numbers.length != count) {
            throw new InvalidRequestException("%s '%s' has %d numbers, not %d; write it as %s"
                    .formatted(option, text, numbers.length, count, shape));
        }
        return numbers;
    }
}
