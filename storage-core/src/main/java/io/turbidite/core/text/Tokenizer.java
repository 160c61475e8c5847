package io.turbidite.core.text;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * A way to make tokens of a text. <em>Immutable.</em>
 *
 * @param kind what tokens are
 * @param size of {@link Kind#NGRAM} the characters of a gram, from 1 to {@value #SIZE_MAX}; else 0
 */
public record Tokenizer(Kind kind, int size) {
    /** What tokens are. */
    public enum Kind {
        /**
         * Words: the longest runs of letters, digits and the marks on them, in lower case. What
         * {@code --contains} looks for.
         */
        WORD,
        /** The text as it is. */
        KEYWORD,
        /** All n characters in a row, in lower case, with their occurrence. */
        NGRAM
    }

    /** Most characters of a gram. */
    public static final int SIZE_MAX = 16;

    /** The tokenizer of words. */
    public static final Tokenizer WORD = new Tokenizer(Kind.WORD, 0);

    /** The tokenizer that takes the text as it is. */
    public static final Tokenizer KEYWORD = new Tokenizer(Kind.KEYWORD, 0);

    private static final String NGRAM = "ngram(";

    public Tokenizer {
        boolean fits = kind == Kind.NGRAM ? size >= 1 && size <= SIZE_MAX : size == 0;
        if (!fits) {
            throw new IllegalArgumentException("%s of %d".formatted(kind, size));
        }
    }

    /**
     * The tokenizer of n-grams.
     *
     * @param size characters of a gram, from 1 to {@value #SIZE_MAX}
     */
    public static Tokenizer ngram(int size) {
        return new Tokenizer(Kind.NGRAM, size);
    }

    /** The name for people and definitions: {@code word}, {@code ngram(3)}. */
    public String label() {
        return kind == Kind.NGRAM ? NGRAM + size + ")" : kind.name().toLowerCase(Locale.ROOT);
    }

    /** Whether it is the {@link #label} of a tokenizer. */
    public static boolean isLabel(String label) {
        return label.equals(WORD.label()) || label.equals(KEYWORD.label()) || sizeOf(label) > 0;
    }

    /**
     * The tokenizer of that name.
     *
     * @throws InvalidRequestException naming {@code use} if there is none
     */
    public static Tokenizer ofLabel(String label, String use) {
        if (!isLabel(label)) {
            throw new InvalidRequestException(
                    "%s: there is no tokenizer '%s'; there are word, keyword and ngram(n), n from 1 to %d"
                            .formatted(use, label, SIZE_MAX));
        }
        return label.equals(WORD.label())
                ? WORD
                : label.equals(KEYWORD.label()) ? KEYWORD : ngram(sizeOf(label));
    }

    /** The size in the label of n-grams; 0 if it is none. */
    private static int sizeOf(String label) {
        for (int size = 1; size <= SIZE_MAX; size++) {
            if (label.equals(NGRAM + size + ")")) {
                return size;
            }
        }
        return 0;
    }

    /** Goes through the tokens of texts. */
    public TokenCursor newCursor() {
        return switch (kind) {
            case WORD -> new WordCursor();
            case KEYWORD -> new KeywordCursor();
            case NGRAM -> new GramCursor(size);
        };
    }

    /** The different tokens of a text, in the order of their first appearance. */
    public List<String> tokensOf(String text) {
        Set<String> tokens = new LinkedHashSet<>();
        ByteSink utf8 = new ByteSink(64, Integer.MAX_VALUE - 16);
        TokenCursor cursor = newCursor().wrap(utf8.putUtf8(text).asSlice(new Slice()));
        ByteSink token = new ByteSink(64, Integer.MAX_VALUE - 16);
        while (cursor.next()) {
            cursor.append(token.clear(), Integer.MAX_VALUE);
            tokens.add(token.asSlice(new Slice()).toUtf8());
        }
        return new ArrayList<>(tokens);
    }

    /**
     * What its tokens depend on beside the text, in this process: with other tables an index of
     * tokens must be built anew.
     */
    public String tables() {
        return switch (kind) {
            case WORD -> UnicodeTables.words();
            case KEYWORD -> "none";
            case NGRAM -> UnicodeTables.letters();
        };
    }
}
