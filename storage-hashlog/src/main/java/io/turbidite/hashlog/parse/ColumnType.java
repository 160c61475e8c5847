package io.turbidite.hashlog.parse;

import java.util.Locale;

/** What the values of a CSV column are: rows don't say, and "1.10" may be a version. */
public enum ColumnType {
    /** Bytes of UTF-8 as they stand. */
    TEXT,
    /** A number as JSON writes it. */
    NUMBER,
    /** {@code true} or {@code false}. */
    BOOLEAN;

    String text() {
        return name().toLowerCase(Locale.ROOT);
    }
}
