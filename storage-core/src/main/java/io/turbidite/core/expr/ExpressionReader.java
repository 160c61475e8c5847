package io.turbidite.core.expr;

import io.turbidite.core.expr.Expression.And;
import io.turbidite.core.expr.Expression.Call;
import io.turbidite.core.expr.Expression.Comparison;
import io.turbidite.core.expr.Expression.Constant;
import io.turbidite.core.expr.Expression.Grammar;
import io.turbidite.core.expr.Expression.Name;
import io.turbidite.core.expr.Expression.Or;
import io.turbidite.core.expr.Expression.Parameter;
import io.turbidite.core.expr.Expression.Path;
import io.turbidite.core.type.RecordType;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Reads {@link Expression}s: one method a rule of the grammar, bounded in depth and number. */
final class ExpressionReader {
    static final int DEPTH_MAX = 32;
    static final int COMPARISON_COUNT_MAX = 256;

    private static final Function NEGATIVE = Objects.requireNonNull(Function.named("negative"));
    private static final Constant TRUE = new Constant(new Literal.Bool(true));

    private final TokenReader reader;
    private final Grammar grammar;
    private int depth;
    private int comparisonCount;
    private int calculationCount;

    ExpressionReader(TokenReader reader, Grammar grammar) {
        this.reader = reader;
        this.grammar = grammar;
    }

    Expression condition() {
        int start = reader.position();
        return condition(expression(), start);
    }

    /** A whole text, or an argument. */
    Expression value() {
        return argument(expression());
    }

    /** In a transform words that are alone are fields. */
    private Expression argument(Expression value) {
        if (grammar == Grammar.TRANSFORM && value instanceof Constant(Literal literal)) {
            return switch (literal) {
                case Literal.Bool _, Literal.Null _ -> new Name(literal.text());
                case Literal.Text _, Literal.Numeric _ -> value;
            };
        }
        return value;
    }

    private void deeper() {
        if (++depth > DEPTH_MAX) {
            throw reader.wrongAt(reader.position(), "nested deeper than the limit of " + DEPTH_MAX);
        }
    }

    private Expression expression() {
        deeper();
        int start = reader.position();
        Expression first = conjunction();
        List<Expression> terms = new ArrayList<>();
        while (reader.accept("||") || reader.acceptWord("or")) {
            if (terms.isEmpty()) {
                addToOr(condition(first, start), terms);
            }
            int next = reader.position();
            addToOr(condition(conjunction(), next), terms);
        }
        depth--;
        return terms.isEmpty() ? first : new Or(terms);
    }

    /** Parentheses around what needs none leave no trace. */
    private static void addToOr(Expression term, List<Expression> terms) {
        if (term instanceof Or(List<Expression> inner)) {
            terms.addAll(inner);
        } else {
            terms.add(term);
        }
    }

    private Expression conjunction() {
        int start = reader.position();
        Expression first = term();
        List<Expression> terms = new ArrayList<>();
        while (reader.accept("&&") || reader.acceptWord("and")) {
            if (terms.isEmpty()) {
                addToAnd(condition(first, start), terms);
            }
            int next = reader.position();
            addToAnd(condition(term(), next), terms);
        }
        return terms.isEmpty() ? first : new And(terms);
    }

    private static void addToAnd(Expression term, List<Expression> terms) {
        if (term instanceof And(List<Expression> inner)) {
            terms.addAll(inner);
        } else {
            terms.add(term);
        }
    }

    private Expression term() {
        int signs = 0;
        while (negation()) {
            signs++;
        }
        int start = reader.position();
        Expression term = positive();
        if (signs == 0) {
            return term;
        }
        Expression condition = condition(term, start);
        if (signs % 2 == 0) {
            return condition;
        }
        checkNegated(condition, start);
        return condition.negated();
    }

    /** What is not below some element is not at or above another: orders have no opposite here. */
    private void checkNegated(Expression condition, int start) {
        switch (condition) {
            case And(List<Expression> terms) -> terms.forEach(term -> checkNegated(term, start));
            case Or(List<Expression> terms) -> terms.forEach(term -> checkNegated(term, start));
            case Comparison(Expression left, Operator operator, var _) -> {
                if (operator.isOrder()
                        && left instanceof Name(String name)
                        && name.endsWith(RecordType.EACH)) {
                    throw reader.wrongAt(
                            start,
                            "'not' has no meaning for '%s', which compares the elements of an array by an order"
                                    .formatted(condition.text()));
                }
            }
            case Name _, Path _, Constant _, Parameter _, Call _ -> {}
        }
    }

    /** {@code not} is a field where nothing follows that could be negated. */
    private boolean negation() {
        if (atSign()) {
            return reader.accept("!");
        }
        int start = reader.position();
        if (!reader.acceptWord("not")) {
            return false;
        }
        boolean isField = !(reader.peek() == '('
                        || atSign()
                        || reader.atString()
                        || reader.atNumber()
                        || reader.atName())
                || reader.atComparisonWord();
        if (isField) {
            reader.back(start);
        }
        return !isField;
    }

    /** Whether a {@code !} comes next that begins no comparison. */
    private boolean atSign() {
        return reader.at("!") && !reader.at("!=") && !reader.at("!^=");
    }

    private Expression positive() {
        int start = reader.position();
        Expression operand = sum();
        if (isCondition(operand)) {
            return operand;
        }
        Operator operator = operator();
        if (operator != null) {
            return compared(operand, operator, start);
        }
        if (reader.acceptWord("is")) {
            Operator is = reader.acceptWord("not") ? Operator.NOT_EQUAL : Operator.EQUAL;
            if (!reader.acceptWord("null")) {
                throw reader.expected("null");
            }
            return comparison(operand, is, new Constant(new Literal.Null()), start, start);
        }
        if (reader.acceptWord("in")) {
            return in(operand, start);
        }
        int before = reader.position();
        if (reader.acceptWord("not")) {
            if (reader.acceptWord("in")) {
                return in(operand, start).negated();
            }
            reader.back(before);
        }
        return operand;
    }

    private @Nullable Operator operator() {
        if (reader.accept("==")) {
            return Operator.EQUAL;
        }
        if (reader.accept("=")) {
            return Operator.EQUAL;
        }
        if (reader.accept("!=") || reader.accept("<>")) {
            return Operator.NOT_EQUAL;
        }
        if (reader.accept("<=")) {
            return Operator.AT_MOST;
        }
        if (reader.accept(">=")) {
            return Operator.AT_LEAST;
        }
        if (reader.accept("<")) {
            return Operator.LESS;
        }
        if (reader.accept(">")) {
            return Operator.GREATER;
        }
        if (reader.accept("!^=")) {
            return Operator.STARTS_NOT_WITH;
        }
        return reader.accept("^=") ? Operator.STARTS_WITH : null;
    }

    private Expression compared(Expression left, Operator operator, int start) {
        int position = reader.position();
        Expression right = sum();
        if (isCondition(right)) {
            throw reader.wrongAt(position, "%s is a condition, no value".formatted(right.text()));
        }
        return comparison(left, operator, right, start, position);
    }

    private static boolean isCondition(Expression expression) {
        return switch (expression) {
            case Comparison _, And _, Or _ -> true;
            case Name _, Path _, Call _, Constant _, Parameter _ -> false;
        };
    }

    private Expression sum() {
        int start = reader.position();
        Expression left = product();
        while (true) {
            Arithmetic sign = reader.accept("+")
                    ? Arithmetic.PLUS
                    : reader.accept("-") ? Arithmetic.MINUS : null;
            if (sign == null) {
                return left;
            }
            left = calculated(left, sign, start, reader.position(), product());
        }
    }

    private Expression product() {
        int start = reader.position();
        Expression left = factor();
        while (true) {
            Arithmetic sign = reader.accept("*")
                    ? Arithmetic.TIMES
                    : reader.accept("/")
                            ? Arithmetic.DIVIDED
                            : reader.accept("%") ? Arithmetic.REMAINDER : null;
            if (sign == null) {
                return left;
            }
            left = calculated(left, sign, start, reader.position(), factor());
        }
    }

    private Call calculated(
            Expression left, Arithmetic sign, int leftAt, int rightAt, Expression right) {
        requireValue(left, leftAt, sign);
        requireValue(right, rightAt, sign);
        countCalculation(rightAt);
        return new Call(Function.of(sign), List.of(left, right));
    }

    private void requireValue(Expression value, int position, Arithmetic sign) {
        if (isCondition(value)) {
            throw reader.wrongAt(
                    position,
                    "%s is a condition: '%s' needs a value".formatted(value.text(), sign.symbol()));
        }
    }

    private void countCalculation(int position) {
        if (++calculationCount > COMPARISON_COUNT_MAX) {
            throw reader.wrongAt(
                    position, "more calculations than the limit of " + COMPARISON_COUNT_MAX);
        }
    }

    /** A sign before a number belongs to it. */
    private Expression factor() {
        if (reader.at("-") && !reader.atSignedNumber()) {
            int start = reader.position();
            reader.expect("-");
            deeper();
            Expression value = factor();
            depth--;
            requireValue(value, start, Arithmetic.MINUS);
            return new Call(NEGATIVE, List.of(argument(value)));
        }
        if (reader.accept("(")) {
            Expression inner = expression();
            reader.expect(")");
            return inner;
        }
        return operand();
    }

    /** A condition of an expression that may be an operand. */
    private Expression condition(Expression expression, int start) {
        return switch (expression) {
            case Comparison _, And _, Or _ -> expression;
            case Name _, Path _, Call _ ->
                comparison(expression, Operator.EQUAL, TRUE, start, start);
            case Constant _, Parameter _ ->
                throw reader.wrongAt(
                        start,
                        "%s alone is no condition: expected a field, a function or a comparison"
                                .formatted(expression.text()));
        };
    }

    private Comparison comparison(
            Expression left, Operator operator, Expression right, int leftAt, int rightAt) {
        if (++comparisonCount > COMPARISON_COUNT_MAX) {
            throw reader.wrongAt(
                    rightAt, "more comparisons than the limit of " + COMPARISON_COUNT_MAX);
        }
        if (isConstant(left)) {
            if (isConstant(right) || operator.isPrefix()) {
                throw reader.wrongAt(
                        leftAt,
                        "%s is a constant: expected a field or a function on this side"
                                .formatted(left.text()));
            }
            return comparison(right, operator.mirrored(), left, rightAt);
        }
        return comparison(left, operator, right, rightAt);
    }

    private Comparison comparison(
            Expression left, Operator operator, Expression right, int rightAt) {
        return right instanceof Constant(Literal literal)
                ? new Comparison(left, operator, new Constant(checked(operator, literal, rightAt)))
                : new Comparison(left, operator, right);
    }

    private static boolean isConstant(Expression expression) {
        return expression instanceof Constant || expression instanceof Parameter;
    }

    private Literal checked(Operator operator, Literal literal, int position) {
        boolean ordered = literal instanceof Literal.Text || literal instanceof Literal.Numeric;
        if (operator.isOrder() && !ordered) {
            throw reader.wrongAt(
                    position,
                    "%s has no order, '%s' needs a number or a string"
                            .formatted(literal.text(), operator.symbol()));
        }
        if (operator.isPrefix() && !(literal instanceof Literal.Text)) {
            throw reader.wrongAt(
                    position,
                    "'%s' needs a string, not %s".formatted(operator.symbol(), literal.text()));
        }
        if (literal instanceof Literal.Numeric number) {
            if (!number.isComparable()) {
                throw reader.wrongAt(
                        position,
                        "a number that is compared has at most %d characters, and an exponent of at most 4 digits"
                                .formatted(TokenReader.NUMBER_CHAR_COUNT_MAX));
            }
            return Literal.Numeric.of(number.value());
        }
        return literal;
    }

    private Expression in(Expression operand, int start) {
        reader.expect("(");
        List<Expression> terms = new ArrayList<>();
        do {
            int position = reader.position();
            Expression element = operand();
            if (!isConstant(element)) {
                throw reader.wrongAt(
                        position,
                        "%s is no constant: expected a string, a number, true, false or null"
                                .formatted(element.text()));
            }
            terms.add(comparison(operand, Operator.EQUAL, element, start, position));
        } while (reader.accept(","));
        reader.expect(")");
        return terms.size() == 1 ? terms.getFirst() : new Or(terms);
    }

    private Expression operand() {
        if (reader.atString()) {
            return new Constant(new Literal.Text(reader.anyString()));
        }
        if (reader.atNumber()) {
            return new Constant(new Literal.Numeric(reader.numeral()));
        }
        if (reader.accept(":")) {
            return new Parameter(name());
        }
        if (!reader.atName()) {
            throw reader.expected("a field, a function, a string, a number, true, false or null");
        }
        boolean quoted = reader.peek() == '`';
        if (!quoted) {
            Expression word = keyword();
            if (word == null) {
                word = choice();
            }
            if (word != null) {
                return word;
            }
            int start = reader.position();
            String name = reader.name();
            if (reader.accept("(")) {
                return call(name, start);
            }
            reader.back(start);
        }
        return grammar == Grammar.PATHS ? new Path(reader.path()) : new Name(name());
    }

    private String name() {
        int start = reader.position();
        String name = reader.name();
        if (name.isEmpty()) {
            throw reader.wrongAt(start, "a name has at least one character");
        }
        return name;
    }

    private @Nullable Constant keyword() {
        if (reader.acceptWord("true")) {
            return TRUE;
        }
        if (reader.acceptWord("false")) {
            return new Constant(new Literal.Bool(false));
        }
        return reader.acceptWord("null") ? new Constant(new Literal.Null()) : null;
    }

    /** {@code case} is a field where no {@code when} follows. */
    private @Nullable Call choice() {
        int start = reader.position();
        if (!reader.acceptWord("case")) {
            return null;
        }
        if (!reader.acceptWord("when")) {
            reader.back(start);
            return null;
        }
        List<Expression> arguments = new ArrayList<>();
        do {
            int position = reader.position();
            arguments.add(condition(expression(), position));
            if (!reader.acceptWord("then")) {
                throw reader.expected("then");
            }
            arguments.add(expression());
            countCalculation(position);
        } while (reader.acceptWord("when"));
        if (reader.acceptWord("else")) {
            arguments.add(expression());
        }
        if (!reader.acceptWord("end")) {
            throw reader.expected("when, else or end");
        }
        return new Call(Function.CASE, arguments);
    }

    private Call call(String name, int start) {
        Function function = Function.named(name);
        if (function == null) {
            throw reader.wrongAt(
                    start,
                    "there is no function '%s'%s; functions are %s"
                            .formatted(
                                    name,
                                    TokenReader.inSmallLetters(name),
                                    String.join(", ", Function.names())));
        }
        List<Expression> arguments = new ArrayList<>();
        do {
            arguments.add(value());
        } while (reader.accept(","));
        if (!reader.accept(")")) {
            throw reader.expected("')' or ','");
        }
        if (!function.takes(arguments.size())) {
            throw reader.wrongAt(
                    start,
                    "%s takes %s, not %d"
                            .formatted(name, function.argumentCounts(), arguments.size()));
        }
        return new Call(function, arguments);
    }
}
