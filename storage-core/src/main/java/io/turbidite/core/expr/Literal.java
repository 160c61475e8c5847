package io.turbidite.core.expr;

import java.math.BigDecimal;

/** A constant of an expression. <em>Immutable.</em> */
public sealed interface Literal {
    /** A string. */
    record Text(String value) implements Literal {
        @Override
        public String text() {
            return TokenReader.quote(value);
        }
    }

    /**
     * A number, compared as a decimal.
     *
     * @param text as it is written; a number that is compared is put into its one shortest form
     */
    record Numeric(String text) implements Literal {
        /** Of an integer with more of them at its end the one form has an exponent. */
        private static final int ZEROS_MAX = 18;

        /** The one form of a number. */
        public static Numeric of(BigDecimal value) {
            BigDecimal shortest = value.stripTrailingZeros();
            boolean fewZeros = shortest.scale() < 0 && shortest.scale() >= -ZEROS_MAX;
            return new Numeric((fewZeros ? shortest.setScale(0) : shortest).toString());
        }

        /** Whether it can be compared: not too long, no exponent that nothing real has. */
        boolean isComparable() {
            return TokenReader.isBounded(text);
        }

        /** The number itself. */
        public BigDecimal value() {
            return new BigDecimal(text);
        }
    }

    /** True or false. */
    record Bool(boolean value) implements Literal {
        @Override
        public String text() {
            return String.valueOf(value);
        }
    }

    /** Null, which stands for missing too. */
    record Null() implements Literal {
        @Override
        public String text() {
            return "null";
        }
    }

    /** As an expression writes it. */
    String text();
}
