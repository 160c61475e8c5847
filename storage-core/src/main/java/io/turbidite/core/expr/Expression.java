package io.turbidite.core.expr;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * A condition on a record, or a value made of one. <em>Immutable.</em>
 *
 * <pre>
 * expression  = conjunction { ( "||" | "or" ) conjunction }
 * conjunction = term { ( "&amp;&amp;" | "and" ) term }
 * term        = ( "!" | "not" ) term | "(" expression ")" | sum [ comparison ]
 * comparison  = ( "==" | "=" | "!=" | "&lt;&gt;" | "&lt;" | "&lt;=" | "&gt;" | "&gt;=" ) sum
 *             | ( "^=" | "!^=" ) sum                        (starts with, starts not with)
 *             | [ "not" ] "in" "(" constant { "," constant } ")"
 *             | "is" [ "not" ] "null"
 * sum         = product { ( "+" | "-" ) product }
 * product     = factor { ( "*" | "/" | "%" ) factor }
 * factor      = "-" factor | "(" expression ")" | operand
 * operand     = constant | field | ":" name | function "(" expression { "," expression } ")"
 *             | "case" { "when" expression "then" expression } [ "else" expression ] "end"
 * constant    = string | number | "true" | "false" | "null"
 * string      = '"' as in JSON '"' | "'" text with '' for ' "'"
 * field       = path | name | "`" any name, `` for ` "`"
 * </pre>
 *
 * <p>Three truth values, after Kleene: what compares a value that is missing or null is unknown, as
 * is an order between values of different types; a record satisfies a condition if it is true.
 * Values of different types are not equal. A comparison with the constant {@code null} asks whether
 * there is a value. An operand alone, where a condition stands, means {@code operand == true}.
 *
 * <p>Reading makes one form of what means the same: {@code !} moves down to the comparisons
 * (unknown stays unknown), {@code in} becomes comparisons joined by {@code ||}, a constant stands
 * on the right, a compared number is in its shortest form. {@link #text()} reads back to an equal
 * tree.
 *
 * <p>At most {@value TokenReader#CHAR_COUNT_MAX} characters, {@value
 * ExpressionReader#COMPARISON_COUNT_MAX} comparisons, nested {@value ExpressionReader#DEPTH_MAX}
 * deep.
 */
public sealed interface Expression {
    /** What names a text knows, and what its bare words mean. */
    enum Grammar {
        /** Fields are paths into nested records, by names of ASCII: {@code actor.id}. */
        PATHS,
        /** Fields are those of flat records; a name may have dots and letters of any script. */
        FIELDS,
        /**
         * As {@link #FIELDS}, but {@code true}, {@code false} and {@code null} are names where they
         * are all of the text or all of an argument: so they were read before there were
         * conditions.
         */
        TRANSFORM
    }

    /** A field of a flat record. */
    record Name(String name) implements Expression {
        @Override
        public String text() {
            return TokenReader.quoteFlat(name);
        }
    }

    /** A field of a nested record. */
    record Path(FieldPath path) implements Expression {
        @Override
        public String text() {
            return path.text();
        }
    }

    /** A constant. */
    record Constant(Literal literal) implements Expression {
        @Override
        public String text() {
            return literal.text();
        }
    }

    /** Stands for a constant that is given later. */
    record Parameter(String name) implements Expression {
        @Override
        public String text() {
            return ":" + FieldPath.quote(name);
        }
    }

    /** A function of values. */
    record Call(Function function, List<Expression> arguments) implements Expression {
        public Call {
            arguments = List.copyOf(arguments);
        }

        @Override
        public String text() {
            Arithmetic sign = function.sign();
            if (sign != null) {
                return "%s %s %s".formatted(left(sign), sign.symbol(), right(sign));
            }
            if (function.equals(Function.CASE)) {
                return caseText();
            }
            return arguments.stream()
                    .map(Expression::text)
                    .collect(Collectors.joining(", ", function.functionName() + "(", ")"));
        }

        private String left(Arithmetic sign) {
            Arithmetic inner = signOf(arguments.get(0));
            boolean isBare = inner == null || sign.isSum() || !inner.isSum();
            return text(arguments.get(0), isBare);
        }

        private String right(Arithmetic sign) {
            Arithmetic inner = signOf(arguments.get(1));
            boolean isBare = inner == null || (sign.isSum() && !inner.isSum());
            return text(arguments.get(1), isBare);
        }

        private static @Nullable Arithmetic signOf(Expression operand) {
            return operand instanceof Call call ? call.function.sign() : null;
        }

        private static String text(Expression operand, boolean isBare) {
            return isBare ? operand.text() : "(" + operand.text() + ")";
        }

        private String caseText() {
            StringBuilder text = new StringBuilder("case");
            int last = arguments.size() - 1;
            for (int i = 0; i < last; i += 2) {
                text.append(" when ").append(arguments.get(i).text());
                text.append(" then ").append(arguments.get(i + 1).text());
            }
            if (last % 2 == 0) {
                text.append(" else ").append(arguments.get(last).text());
            }
            return text.append(" end").toString();
        }
    }

    /** Two values compared; if one is a constant it is the right one. */
    record Comparison(Expression left, Operator operator, Expression right) implements Expression {
        @Override
        public String text() {
            return left.text() + " " + operator.symbol() + " " + right.text();
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

    /** As it is read. */
    String text();

    /** Gives the name of each field of flat records, as often as it stands there. */
    default void forEachName(Consumer<String> taker) {
        switch (this) {
            case Name(String name) -> taker.accept(name);
            case Call(var _, List<Expression> arguments) ->
                arguments.forEach(argument -> argument.forEachName(taker));
            case Comparison(Expression left, var _, Expression right) -> {
                left.forEachName(taker);
                right.forEachName(taker);
            }
            case And(List<Expression> terms) -> terms.forEach(term -> term.forEachName(taker));
            case Or(List<Expression> terms) -> terms.forEach(term -> term.forEachName(taker));
            case Constant _, Parameter _, Path _ -> {}
        }
    }

    /**
     * What is true where this condition is false; unknown stays unknown, so that it moves down to
     * the comparisons.
     */
    default Expression negated() {
        return switch (this) {
            case Comparison(Expression left, Operator operator, Expression right) ->
                new Comparison(left, operator.negated(), right);
            case And(List<Expression> terms) ->
                new Or(terms.stream().map(Expression::negated).toList());
            case Or(List<Expression> terms) ->
                new And(terms.stream().map(Expression::negated).toList());
            case Name _, Path _, Constant _, Parameter _, Call _ ->
                throw new IllegalStateException(text() + " is no condition");
        };
    }

    /**
     * Reads a condition.
     *
     * @throws io.turbidite.core.InvalidRequestException with the position of what is wrong
     */
    static Expression condition(String text, Grammar grammar) {
        TokenReader reader = new TokenReader(text, grammar != Grammar.PATHS);
        Expression condition = condition(reader, grammar);
        reader.end();
        return condition;
    }

    /** Reads the condition that comes next in a longer text of the grammar of paths. */
    static Expression condition(TokenReader reader) {
        return condition(reader, Grammar.PATHS);
    }

    private static Expression condition(TokenReader reader, Grammar grammar) {
        return new ExpressionReader(reader, grammar).condition();
    }

    /**
     * Reads a value, which may be that of a condition.
     *
     * @throws io.turbidite.core.InvalidRequestException with the position of what is wrong
     */
    static Expression value(String text, Grammar grammar) {
        TokenReader reader = new TokenReader(text, grammar != Grammar.PATHS);
        Expression value = new ExpressionReader(reader, grammar).value();
        reader.end();
        return value;
    }
}
