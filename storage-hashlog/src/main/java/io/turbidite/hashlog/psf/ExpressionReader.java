package io.turbidite.hashlog.psf;

import io.turbidite.hashlog.parse.FieldPath;
import io.turbidite.hashlog.parse.TextReader;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/** Reads {@link Expression}s: one method a rule of the grammar, bounded in depth and number. */
final class ExpressionReader {
    static final int DEPTH_MAX = 32;
    static final int COMPARISON_COUNT_MAX = 256;

    private final TextReader reader;
    private int depth;
    private int comparisonCount;

    ExpressionReader(TextReader reader) {
        this.reader = reader;
    }

    Expression expression() {
        if (++depth > DEPTH_MAX) {
            throw reader.wrongAt(reader.position(), "nested deeper than the limit of " + DEPTH_MAX);
        }
        List<Expression> terms = new ArrayList<>();
        do {
            Expression term = conjunction();
            // parentheses around what needs none leave no trace
            if (term instanceof Expression.Or(List<Expression> inner)) {
                terms.addAll(inner);
            } else {
                terms.add(term);
            }
        } while (reader.accept("||"));
        depth--;
        return terms.size() == 1 ? terms.getFirst() : new Expression.Or(terms);
    }

    private Expression conjunction() {
        List<Expression> terms = new ArrayList<>();
        do {
            Expression term = term();
            if (term instanceof Expression.And(List<Expression> inner)) {
                terms.addAll(inner);
            } else {
                terms.add(term);
            }
        } while (reader.accept("&&"));
        return terms.size() == 1 ? terms.getFirst() : new Expression.And(terms);
    }

    private Expression term() {
        boolean negated = false;
        while (reader.accept("!")) {
            negated = !negated;
        }
        Expression term = positive();
        return negated ? term.negated() : term;
    }

    private Expression positive() {
        if (reader.accept("(")) {
            Expression inner = expression();
            reader.expect(")");
            return inner;
        }
        FieldPath path = reader.path();
        if (reader.acceptWord("in")) {
            return in(path);
        }
        Expression.Operator operator = operator();
        return operator == null
                ? comparison(path, Expression.Operator.EQUAL, new Literal.Bool(true), 0)
                : compared(path, operator);
    }

    private Expression.@Nullable Operator operator() {
        if (reader.accept("==")) {
            return Expression.Operator.EQUAL;
        }
        if (reader.accept("!=")) {
            return Expression.Operator.NOT_EQUAL;
        }
        if (reader.accept("<=")) {
            return Expression.Operator.AT_MOST;
        }
        if (reader.accept(">=")) {
            return Expression.Operator.AT_LEAST;
        }
        if (reader.accept("<")) {
            return Expression.Operator.LESS;
        }
        if (reader.accept(">")) {
            return Expression.Operator.GREATER;
        }
        if (reader.accept("!^=")) {
            return Expression.Operator.STARTS_NOT_WITH;
        }
        return reader.accept("^=") ? Expression.Operator.STARTS_WITH : null;
    }

    private Expression compared(FieldPath path, Expression.Operator operator) {
        int position = reader.position();
        return comparison(path, operator, literal(), position);
    }

    private Expression comparison(
            FieldPath path, Expression.Operator operator, Literal literal, int position) {
        if (++comparisonCount > COMPARISON_COUNT_MAX) {
            throw reader.wrongAt(
                    position, "more comparisons than the limit of " + COMPARISON_COUNT_MAX);
        }
        boolean ordered = literal instanceof Literal.Text || literal instanceof Literal.Numeric;
        if (operator.isOrder() && !ordered) {
            throw reader.wrongAt(
                    position,
                    "%s has no order, '%s' needs a number or a string"
                            .formatted(literal.text(), operator.symbol));
        }
        boolean starts = operator == Expression.Operator.STARTS_WITH
                || operator == Expression.Operator.STARTS_NOT_WITH;
        if (starts && !(literal instanceof Literal.Text)) {
            throw reader.wrongAt(
                    position,
                    "'%s' needs a string, not %s".formatted(operator.symbol, literal.text()));
        }
        return new Expression.Comparison(path, operator, literal);
    }

    private Expression in(FieldPath path) {
        reader.expect("(");
        List<Expression> terms = new ArrayList<>();
        do {
            terms.add(compared(path, Expression.Operator.EQUAL));
        } while (reader.accept(","));
        reader.expect(")");
        return terms.size() == 1 ? terms.getFirst() : new Expression.Or(terms);
    }

    private Literal literal() {
        if (reader.peek() == '"') {
            return new Literal.Text(reader.string());
        }
        if (reader.atNumber()) {
            return new Literal.Numeric(reader.number().stripTrailingZeros());
        }
        if (reader.acceptWord("true")) {
            return new Literal.Bool(true);
        }
        if (reader.acceptWord("false")) {
            return new Literal.Bool(false);
        }
        if (reader.acceptWord("null")) {
            return new Literal.Null();
        }
        throw reader.expected("a string, a number, true, false or null");
    }
}
