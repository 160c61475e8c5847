package io.turbidite.feeds;

import java.util.List;
import java.util.Map;

/** A YAML value that knows the line it was written in (from 1). <em>Immutable.</em> */
sealed interface YamlNode {
    int line();

    /** What a person would call it: {@code "the number 12"}, {@code "a list"}. */
    String described();

    /** A single value as it was written, without its quotes. */
    record Scalar(int line, String text, Kind kind) implements YamlNode {
        /** A file that is no definition may be one long text. */
        private static final int SHOWN_MAX = 60;

        enum Kind {
            TEXT,
            NUMBER,
            TRUTH,
            NOTHING
        }

        @Override
        public String described() {
            return switch (kind) {
                case TEXT ->
                    text.length() <= SHOWN_MAX
                            ? "'" + text + "'"
                            : "'" + text.substring(0, SHOWN_MAX) + "…'";
                case NUMBER -> "the number " + text;
                case TRUTH -> "the truth value " + text;
                case NOTHING -> "nothing";
            };
        }
    }

    record Sequence(int line, List<YamlNode> items) implements YamlNode {
        public Sequence {
            items = List.copyOf(items);
        }

        @Override
        public String described() {
            return "a list";
        }
    }

    /** Keys in the order they were written. */
    record Mapping(int line, Map<String, Entry> entries) implements YamlNode {
        @Override
        public String described() {
            return "a mapping";
        }
    }

    /**
     * The value of a key.
     *
     * @param line where the key stands
     */
    record Entry(int line, YamlNode value) {}
}
