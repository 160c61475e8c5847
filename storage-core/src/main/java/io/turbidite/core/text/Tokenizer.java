package io.turbidite.core.text;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.bytes.Utf8;

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
 * @param analyzer of {@link Kind#ANALYZER} its name; else empty
 */
public record Tokenizer(Kind kind, int size, String analyzer) {
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
        NGRAM,
        /** What an analyzer of Lucene makes; that library is optional. */
        ANALYZER
    }

    /** Most characters of a gram. */
    public static final int SIZE_MAX = 16;

    /** The tokenizer of words. */
    public static final Tokenizer WORD = new Tokenizer(Kind.WORD, 0, "");

    /** The tokenizer that takes the text as it is. */
    public static final Tokenizer KEYWORD = new Tokenizer(Kind.KEYWORD, 0, "");

    private static final String NGRAM = "ngram(";
    private static final String ANALYZER = "analyzer(";

    /** The {@link #tables} where the library is missing; no index has them. */
    private static final String MISSING = "missing";

    public Tokenizer {
        boolean fits = kind == Kind.NGRAM ? size >= 1 && size <= SIZE_MAX : size == 0;
        if (!fits || analyzer.isEmpty() == (kind == Kind.ANALYZER)) {
            throw new IllegalArgumentException("%s of %d '%s'".formatted(kind, size, analyzer));
        }
    }

    /**
     * The tokenizer of n-grams.
     *
     * @param size characters of a gram, from 1 to {@value #SIZE_MAX}
     */
    public static Tokenizer ngram(int size) {
        return new Tokenizer(Kind.NGRAM, size, "");
    }

    /** The tokenizer that is an analyzer of Lucene, such as {@code english}. */
    public static Tokenizer analyzer(String name) {
        return new Tokenizer(Kind.ANALYZER, 0, name);
    }

    /** The name for people and definitions: {@code word}, {@code ngram(3)}. */
    public String label() {
        return switch (kind) {
            case WORD, KEYWORD -> kind.name().toLowerCase(Locale.ROOT);
            case NGRAM -> NGRAM + size + ")";
            case ANALYZER -> ANALYZER + analyzer + ")";
        };
    }

    /** Whether it is the {@link #label} of a tokenizer. */
    public static boolean isLabel(String label) {
        return label.equals(WORD.label())
                || label.equals(KEYWORD.label())
                || sizeOf(label) > 0
                || !analyzerOf(label).isEmpty();
    }

    /**
     * The tokenizer of that name.
     *
     * @throws InvalidRequestException naming {@code use} if there is none
     */
    public static Tokenizer ofLabel(String label, String use) {
        if (!isLabel(label)) {
            throw new InvalidRequestException(
                    "%s: there is no tokenizer '%s'; there are word, keyword, ngram(n), n from 1 to %d, and analyzer(name)"
                            .formatted(use, label, SIZE_MAX));
        }
        if (label.equals(WORD.label())) {
            return WORD;
        }
        if (label.equals(KEYWORD.label())) {
            return KEYWORD;
        }
        return sizeOf(label) > 0 ? ngram(sizeOf(label)) : analyzer(analyzerOf(label));
    }

    /** The name in the label of an analyzer; empty if it is none. */
    private static String analyzerOf(String label) {
        boolean isOne = label.startsWith(ANALYZER) && label.endsWith(")");
        return isOne ? label.substring(ANALYZER.length(), label.length() - 1).strip() : "";
    }

    /**
     * Checks that it can make tokens here.
     *
     * @throws InvalidRequestException if the library is missing, or has no such analyzer
     */
    public void requireAvailable(String use) {
        if (kind != Kind.ANALYZER) {
            return;
        }
        try {
            if (!LuceneAnalyzers.names().contains(analyzer)) {
                throw new InvalidRequestException("%s: there is no analyzer '%s'; there are %s"
                        .formatted(use, analyzer, String.join(", ", LuceneAnalyzers.names())));
            }
        } catch (LinkageError missing) {
            throw new InvalidRequestException(
                    "%s: %s needs the libraries lucene-core and lucene-analysis-common, which are not here (%s)"
                            .formatted(use, label(), missing.getMessage()),
                    missing);
        }
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

    /**
     * Goes through the tokens of texts.
     *
     * @throws InvalidRequestException if the analyzer's library is missing
     */
    public TokenCursor newCursor() {
        requireAvailable("tokens");
        return switch (kind) {
            case WORD -> new WordCursor();
            case KEYWORD -> new KeywordCursor();
            case NGRAM -> new GramCursor(size);
            case ANALYZER -> LuceneAnalyzers.newCursor(analyzer);
        };
    }

    /**
     * The different tokens of a text, in the order of their first appearance.
     *
     * @throws InvalidRequestException if the text has a lone surrogate: no record has one
     */
    public List<String> tokensOf(String text) {
        Set<String> tokens = new LinkedHashSet<>();
        ByteSink utf8 = new ByteSink(64, Integer.MAX_VALUE - 16);
        Utf8.append(utf8, text);
        TokenCursor cursor = newCursor().wrap(utf8.asSlice(new Slice()));
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
            case ANALYZER -> ofLucene();
        };
    }

    /**
     * Whether tokens are made here as they were where {@link #tables} gave {@code kept}. Costs next
     * to nothing under the Java build that gave it.
     */
    public boolean isMadeBy(String kept) {
        return kind == Kind.WORD ? UnicodeTables.areWords(kept) : kept.equals(tables());
    }

    /** Whether two answers of {@link #tables} say that tokens are the same. */
    public boolean isSame(String tables, String others) {
        return kind == Kind.WORD
                ? UnicodeTables.markOf(tables).equals(UnicodeTables.markOf(others))
                : tables.equals(others);
    }

    private static String ofLucene() {
        try {
            return LuceneAnalyzers.tables();
        } catch (LinkageError missing) {
            return MISSING;
        }
    }
}
