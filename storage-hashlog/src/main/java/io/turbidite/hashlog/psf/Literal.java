package io.turbidite.hashlog.psf;

import io.turbidite.hashlog.parse.TextReader;

import java.math.BigDecimal;

/** A constant of an expression. <em>Immutable.</em> */
public sealed interface Literal {
    /** A string. */
    record Text(String value) implements Literal {
        @Override
        public String text() {
            return TextReader.quote(value);
        }
    }

    /** A number, compared as a decimal. */
    record Numeric(BigDecimal value) implements Literal {
        @Override
        public String text() {
            return value.toString();
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
