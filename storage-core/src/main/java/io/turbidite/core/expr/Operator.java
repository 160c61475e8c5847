package io.turbidite.core.expr;

import io.turbidite.core.InvalidRequestException;

/** How two values compare. */
public enum Operator {
    /** The same value. */
    EQUAL("=="),
    /** Another value. */
    NOT_EQUAL("!="),
    /** Below it. */
    LESS("<"),
    /** Below it, or the same. */
    AT_MOST("<="),
    /** Above it. */
    GREATER(">"),
    /** Above it, or the same. */
    AT_LEAST(">="),
    /** A text that begins with it. */
    STARTS_WITH("^="),
    /** A text that does not begin with it. */
    STARTS_NOT_WITH("!^=");

    private final String symbol;

    Operator(String symbol) {
        this.symbol = symbol;
    }

    /** As a text writes it. */
    public String symbol() {
        return symbol;
    }

    /** Whether it asks for an order. */
    public boolean isOrder() {
        return this == LESS || this == AT_MOST || this == GREATER || this == AT_LEAST;
    }

    /** Whether it asks for the beginning of a text. */
    public boolean isPrefix() {
        return this == STARTS_WITH || this == STARTS_NOT_WITH;
    }

    /**
     * Checks that null may stand on its right: then it asks whether there is a value.
     *
     * @throws InvalidRequestException that names the condition
     */
    public void requireTakesNull(Expression condition) {
        if (isOrder() || isPrefix()) {
            throw new InvalidRequestException(
                    "condition %s: the parameter is null, which '%s' does not take"
                            .formatted(condition.text(), symbol));
        }
    }

    /** What is true of two values where this is false. */
    public Operator negated() {
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

    /** The same of two values that changed places; a prefix can't be asked the other way round. */
    Operator mirrored() {
        return switch (this) {
            case LESS -> GREATER;
            case AT_MOST -> AT_LEAST;
            case GREATER -> LESS;
            case AT_LEAST -> AT_MOST;
            case EQUAL, NOT_EQUAL -> this;
            case STARTS_WITH, STARTS_NOT_WITH -> throw new IllegalStateException(name());
        };
    }

    /** Whether it holds of two values with this order, as comparators give it. */
    public boolean holds(int order) {
        return switch (this) {
            case EQUAL -> order == 0;
            case NOT_EQUAL -> order != 0;
            case LESS -> order < 0;
            case AT_MOST -> order <= 0;
            case GREATER -> order > 0;
            case AT_LEAST -> order >= 0;
            case STARTS_WITH, STARTS_NOT_WITH -> false;
        };
    }
}
