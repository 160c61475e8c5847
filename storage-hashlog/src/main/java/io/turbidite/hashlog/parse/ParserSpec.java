package io.turbidite.hashlog.parse;

import io.turbidite.core.InvalidRequestException;

import java.util.List;

/**
 * Which parser reads the records of a log, with a text form for the durable registry. <em>Immutable.</em>
 */
public sealed interface ParserSpec {
    /** One JSON object a record: {@code json}. */
    record Json() implements ParserSpec {
        @Override
        public String text() {
            return "json";
        }

        @Override
        public RecordParser newParser(
                List<FieldPath> paths, FieldListener listener, ScanMode mode) {
            FieldTree tree = new FieldTree(paths);
            return new JsonParser(tree, mode.newMasks(), new FieldValues(tree, listener));
        }
    }

    /** The text form, which {@link #parse} reads back. */
    String text();

    /**
     * A parser that looks for {@code paths}, which are numbered as they come.
     *
     * @param listener hears of each field when it is found
     * @throws InvalidRequestException if this kind of record can't have such a field, or one is named twice
     */
    RecordParser newParser(List<FieldPath> paths, FieldListener listener, ScanMode mode);

    /**
     * Reads a text form.
     *
     * @throws InvalidRequestException with the position of what is wrong
     */
    static ParserSpec parse(String text) {
        TextReader reader = new TextReader(text);
        reader.expect("json");
        reader.end();
        return new Json();
    }
}
