package io.turbidite.feeds.parse;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.record.ValueParser;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.ToIntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The little language of {@code transform}. <em>Immutable.</em>
 *
 * <pre>
 * expression = function "(" expression { "," expression } ")" | name | "`" any name "`" | text | number
 * text       = "'" { any character, '' for ' } "'"
 * function   = a type's label | point | rectangle | lower | upper | trim | concat | nullif | coalesce
 * </pre>
 *
 * <p>It has no loops, no variables and no way out: at most {@value #TEXT_LENGTH_MAX} characters,
 * nested at most {@value #DEPTH_MAX} deep. A function of null is null ({@code concat},
 * {@code coalesce} and {@code nullif} say otherwise).
 */
sealed interface Expression {
    int TEXT_LENGTH_MAX = 1_000;
    int DEPTH_MAX = 16;

    /** What an expression reads: the values of one record, by the number its name was bound to. */
    interface Row {
        /** A value of the record: text if it comes from text; null where there is none. */
        @Nullable
        Object value(int index);
    }

    /** The type of the result; STRING also for what is read from text; null if it depends. */
    @Nullable
    TypeKind kind();

    /**
     * The value for a record.
     *
     * @throws InvalidRequestException if a value isn't what a function takes
     */
    @Nullable
    Object evaluate(Row row);

    /**
     * The value for {@code field}: text is read by the field's type.
     *
     * @throws InvalidRequestException naming the field
     */
    default @Nullable Object evaluateFor(Field field, Row row) {
        try {
            Object result = evaluate(row);
            return result instanceof String text && field.kind() != TypeKind.STRING
                    ? ValueParser.parse(field.kind(), text)
                    : result;
        } catch (InvalidRequestException e) {
            throw new InvalidRequestException(
                    "transform of '%s': %s".formatted(field.name(), e.getMessage()), e);
        }
    }

    /**
     * Reads an expression.
     *
     * @param text at most {@value #TEXT_LENGTH_MAX} characters
     * @param binding the number of a name, or an exception that says what names there are
     * @throws InvalidRequestException with the position of what is wrong
     */
    static Expression parse(String text, ToIntFunction<String> binding) {
        return new Reader(text, binding).whole();
    }

    /** A value of the record. */
    record Name(String name, int index) implements Expression {
        @Override
        public @Nullable TypeKind kind() {
            return null;
        }

        @Override
        public @Nullable Object evaluate(Row row) {
            return row.value(index);
        }
    }

    record Literal(String text) implements Expression {
        @Override
        public TypeKind kind() {
            return TypeKind.STRING;
        }

        @Override
        public Object evaluate(Row row) {
            return text;
        }
    }

    record Call(Function function, List<Expression> arguments) implements Expression {
        public Call {
            arguments = List.copyOf(arguments);
        }

        @Override
        public @Nullable TypeKind kind() {
            return function.result();
        }

        @Override
        public @Nullable Object evaluate(Row row) {
            return function.apply(arguments, row);
        }
    }

    /** Recursive descent; the depth is bounded by {@link #DEPTH_MAX}. */
    final class Reader {
        private static final Pattern TOKEN = Pattern.compile("\\s*(?:"
                + "(?<name>[\\p{L}_][\\p{L}\\p{N}_.-]*)"
                + "|`(?<quoted>[^`]+)`"
                + "|'(?<text>(?:[^']|'')*)'"
                + "|(?<number>[+-]?[0-9]+(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)"
                + "|(?<sign>[(),])"
                + ")");
        private static final Map<String, Function> FUNCTIONS = Function.byName();

        private final String text;
        private final Matcher matcher;
        private final ToIntFunction<String> binding;
        private int at;

        Reader(String text, ToIntFunction<String> binding) {
            if (text.length() > TEXT_LENGTH_MAX) {
                throw new InvalidRequestException(
                        "the expression is longer than %d characters".formatted(TEXT_LENGTH_MAX));
            }
            this.text = text;
            this.matcher = TOKEN.matcher(text);
            this.binding = binding;
        }

        Expression whole() {
            Expression expression = expression(0);
            if (!text.substring(at).isBlank()) {
                throw wrong("nothing more was expected");
            }
            return expression;
        }

        private Expression expression(int depth) {
            if (depth > DEPTH_MAX) {
                throw wrong("it is nested deeper than " + DEPTH_MAX);
            }
            if (!token()) {
                throw wrong("a field, a function, a number or a 'text' was expected");
            }
            String name = matcher.group("name");
            if (name != null) {
                int behindName = at;
                if (sign("(")) {
                    return call(name, behindName, depth);
                }
                return new Name(name, binding.applyAsInt(name));
            }
            String quoted = matcher.group("quoted");
            if (quoted != null) {
                return new Name(quoted, binding.applyAsInt(quoted));
            }
            String literal = matcher.group("text");
            if (literal != null) {
                return new Literal(literal.replace("''", "'"));
            }
            String number = matcher.group("number");
            if (number != null) {
                return new Literal(number);
            }
            at = matcher.start("sign");
            throw wrong("a field, a function, a number or a 'text' was expected");
        }

        private Expression call(String name, int behindName, int depth) {
            Function function = FUNCTIONS.get(name);
            if (function == null) {
                at = behindName - name.length();
                throw wrong("there is no function '%s'; functions are %s"
                        .formatted(name, String.join(", ", FUNCTIONS.keySet())));
            }
            List<Expression> arguments = new ArrayList<>();
            do {
                arguments.add(expression(depth + 1));
            } while (sign(","));
            if (!sign(")")) {
                throw wrong("')' or ',' was expected");
            }
            if (arguments.size() < function.argumentCountMin()
                    || arguments.size() > function.argumentCountMax()) {
                throw wrong("%s takes %s, not %d"
                        .formatted(name, function.argumentCounts(), arguments.size()));
            }
            return new Call(function, arguments);
        }

        private boolean token() {
            matcher.region(at, text.length());
            if (!matcher.lookingAt()) {
                return false;
            }
            at = matcher.end();
            return true;
        }

        /** Passes over {@code sign} if it is next. */
        private boolean sign(String sign) {
            int before = at;
            if (token() && sign.equals(matcher.group("sign"))) {
                return true;
            }
            at = before;
            return false;
        }

        private InvalidRequestException wrong(String what) {
            return new InvalidRequestException(
                    "'%s' goes wrong at character %d: %s".formatted(text, at + 1, what));
        }
    }
}
