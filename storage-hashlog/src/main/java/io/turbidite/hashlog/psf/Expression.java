package io.turbidite.hashlog.psf;

import io.turbidite.hashlog.parse.FieldPath;
import io.turbidite.hashlog.parse.TextReader;

import java.util.List;
import java.util.stream.Collectors;

/**
 * A predicate over the fields of a record. <em>Immutable.</em> {@link #parse} has the grammar;
 * {@link #text()} reads back to an equal expression.
 *
 * <p>Three truth values, after Kleene: what compares a field that is missing or null is unknown, as
 * is an order between values of different types; a record satisfies the expression if it is true.
 * Values of different types are not equal. There is no negation but that of comparisons: reading
 * moves {@code !} down to them.
 */
public sealed interface Expression {

    /** How a field compares with a constant. */
    enum Operator {
        EQUAL("=="),
        NOT_EQUAL("!="),
        LESS("<"),
        AT_MOST("<="),
        GREATER(">"),
        AT_LEAST(">="),
        STARTS_WITH("^="),
        STARTS_NOT_WITH("!^=");

        final String symbol;

        Operator(String symbol) {
            this.symbol = symbol;
        }

        boolean isOrder() {
            return this == LESS || this == AT_MOST || this == GREATER || this == AT_LEAST;
        }

        Operator negated() {
            return switch (this) {
                case EQUAL -> NOT_EQUAL;
                case NOT_EQUAL -> EQUAL;
                case LESS -> AT_LEAST;
                case AT_MOST -> GREATER;
                case GREATER -> AT_MOST;
                case AT_LEAST -> LESS;
                case STARTS_WITH -> STARTS_NOT_WITH;
                case STARTS_NOT_WITH -> STARTS_WITH;
            };
        }
    }

    /** A field against a constant. */
    record Comparison(FieldPath path, Operator operator, Literal literal) implements Expression {
        @Override
        public String text() {
            return path.text() + " " + operator.symbol + " " + literal.text();
        }
    }

    /** All of them. */
    record And(List<Expression> terms) implements Expression {
        public And {
            terms = List.copyOf(terms);
        }

        @Override
        public String text() {
            return terms.stream()
                    .map(t -> t instanceof Or ? "(" + t.text() + ")" : t.text())
                    .collect(Collectors.joining(" && "));
        }
    }

    /** One of them. */
    record Or(List<Expression> terms) implements Expression {
        public Or {
            terms = List.copyOf(terms);
        }

        @Override
        public String text() {
            return terms.stream().map(Expression::text).collect(Collectors.joining(" || "));
        }
    }

    /**
     * What is true where this is false; unknown stays unknown, so that it moves down to the
     * comparisons.
     */
    default Expression negated() {
        return switch (this) {
            case Comparison(FieldPath path, Operator operator, Literal literal) ->
                new Comparison(path, operator.negated(), literal);
            case And(List<Expression> terms) ->
                new Or(terms.stream().map(Expression::negated).toList());
            case Or(List<Expression> terms) ->
                new And(terms.stream().map(Expression::negated).toList());
        };
    }

    /** As {@link #parse} reads it. */
    String text();

    /**
     * Reads an expression:
     *
     * <pre>
     * expression = conjunction { "||" conjunction }
     * conjunction = term { "&amp;&amp;" term }
     * term       = "!" term | "(" expression ")" | field [ comparison ]
     * comparison = ( "==" | "!=" | "&lt;" | "&lt;=" | "&gt;" | "&gt;=" ) literal
     *            | ( "^=" | "!^=" ) string                  (starts with, starts not with)
     *            | "in" "(" literal { "," literal } ")"
     * literal    = string | number | "true" | "false" | "null"
     * </pre>
     *
     * <p>A field alone means {@code field == true}; {@code in} is short for {@code ==} joined by
     * {@code ||}. At most 8192 characters, 256 comparisons, nested 32 deep.
     *
     * @throws io.turbidite.core.InvalidRequestException with the position of what is wrong
     */
    static Expression parse(String text) {
        TextReader reader = new TextReader(text);
        Expression expression = new ExpressionReader(reader).expression();
        reader.end();
        return expression;
    }
}
