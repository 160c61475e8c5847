package io.turbidite.core.record;

import java.util.regex.Pattern;

/** What Jackson says of wrong JSON, for people. Static, without state. */
public final class JsonMessages {
    /** Stands before the line and column of a bracket; the text itself is never told. */
    private static final Pattern SOURCE = Pattern.compile("\\[Source: [^;\\]]*; ");

    private JsonMessages() {}

    /** The message without the words that stand in place of the source. */
    public static String withoutSource(String message) {
        return SOURCE.matcher(message).replaceAll("[");
    }
}
