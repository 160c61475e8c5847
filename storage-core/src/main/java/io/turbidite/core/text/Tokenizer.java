package io.turbidite.core.text;

import io.turbidite.core.InvalidRequestException;

import java.util.Arrays;
import java.util.Locale;

/** A way to make tokens of a text. */
public enum Tokenizer {
    /**
     * Words: the longest runs of letters, digits and the marks on them, in lower case. What {@code
     * --contains} looks for.
     */
    WORD;

    /** The name for people and definitions: {@code word}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * The tokenizer of that name.
     *
     * @throws InvalidRequestException naming {@code use} if there is none
     */
    public static Tokenizer ofLabel(String label, String use) {
        for (Tokenizer tokenizer : values()) {
            if (tokenizer.label().equals(label)) {
                return tokenizer;
            }
        }
        throw new InvalidRequestException("%s: there is no tokenizer '%s'; there is %s"
                .formatted(
                        use,
                        label,
                        String.join(
                                ", ",
                                Arrays.stream(values()).map(Tokenizer::label).toList())));
    }

    /**
     * What its tokens depend on beside the text, in this process: with other tables an index of
     * tokens must be built anew.
     */
    public String tables() {
        return switch (this) {
            case WORD -> UnicodeTables.mark();
        };
    }
}
