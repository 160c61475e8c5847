package io.turbidite.core.text;

import io.turbidite.core.InvalidRequestException;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * What is asked of a text by its tokens. It names the {@link Tokenizer}, so the answer is the same
 * whatever index there is. <em>Immutable.</em>
 */
public sealed interface TextQuery {
    /** Most characters by which texts may differ. */
    int DISTANCE_MAX = 100;

    /** What the texts are compared with. */
    String text();

    /** Whether texts match, for one thread. */
    default TextTest newTest() {
        return new TextTest(this);
    }

    /**
     * The tokens by which an index finds all texts that match, and perhaps others; null if it can't
     * by tokens of this tokenizer.
     */
    @Nullable
    Terms terms(Tokenizer tokenizer);

    /**
     * Tokens of a query.
     *
     * @param tokens different ones
     * @param least how many of them a text must have
     */
    record Terms(List<String> tokens, int least) {}

    /**
     * Checks what can be told without a text.
     *
     * @throws InvalidRequestException if there is no token to look for, a number is out of range,
     *     or the text has a lone surrogate
     */
    void check();

    /** A text that has all of the tokens. */
    record All(Tokenizer tokenizer, String text) implements TextQuery {
        @Override
        public @Nullable Terms terms(Tokenizer other) {
            List<String> tokens = tokenizer.tokensOf(text);
            return other.equals(tokenizer) ? new Terms(tokens, tokens.size()) : null;
        }

        @Override
        public void check() {
            requireToken(tokenizer, text);
        }

        @Override
        public String toString() {
            return "contains all by %s of \"%s\"".formatted(tokenizer.label(), text);
        }
    }

    /** A text that has at least one of the tokens. */
    record Any(Tokenizer tokenizer, String text) implements TextQuery {
        @Override
        public @Nullable Terms terms(Tokenizer other) {
            return other.equals(tokenizer) ? new Terms(tokenizer.tokensOf(text), 1) : null;
        }

        @Override
        public void check() {
            requireToken(tokenizer, text);
        }

        @Override
        public String toString() {
            return "contains any by %s of \"%s\"".formatted(tokenizer.label(), text);
        }
    }

    /** A text with a token that begins so. */
    record Prefix(Tokenizer tokenizer, String text) implements TextQuery {
        /** The beginning, as tokens are written. */
        public String beginning() {
            return tokenizer.tokensOf(text).getFirst();
        }

        @Override
        public @Nullable Terms terms(Tokenizer other) {
            return null;
        }

        @Override
        public void check() {
            if (tokenizer.kind() != Tokenizer.Kind.WORD
                    && tokenizer.kind() != Tokenizer.Kind.KEYWORD) {
                throw new InvalidRequestException(
                        "%s has no beginnings to look for: ask by word or keyword"
                                .formatted(tokenizer.label()));
            }
            if (text.isEmpty() || tokenizer.tokensOf(text).size() != 1) {
                throw new InvalidRequestException("the beginning is of one token (%s), not of '%s'"
                        .formatted(tokenizer.label(), text));
            }
        }

        @Override
        public String toString() {
            return "has a token by %s that begins with \"%s\"".formatted(tokenizer.label(), text);
        }
    }

    /**
     * A text that has tokens in common: as a part of all different tokens of both.
     *
     * @param least the part, above 0 up to 1
     */
    record Jaccard(Tokenizer tokenizer, String text, double least) implements TextQuery {
        @Override
        public @Nullable Terms terms(Tokenizer other) {
            if (!other.equals(tokenizer)) {
                return null;
            }
            List<String> tokens = tokenizer.tokensOf(text);
            // all different tokens of both are no fewer than those of one
            return new Terms(tokens, (int) Math.ceil(least * tokens.size()));
        }

        /** Whether so many in common are enough. */
        boolean holds(int common, int count, int otherCount) {
            return common >= least * ((double) count + otherCount - common);
        }

        @Override
        public void check() {
            requireToken(tokenizer, text);
            if (!(least > 0 && least <= 1)) {
                throw new InvalidRequestException(
                        "jaccard>=%s: the number must be above 0 and at most 1".formatted(least));
            }
        }

        @Override
        public String toString() {
            return "is similar by %s to \"%s\", jaccard >= %s"
                    .formatted(tokenizer.label(), text, least);
        }
    }

    /**
     * A text that differs by few characters put in, taken out or replaced, without regard to case.
     *
     * @param most how many, from 0 to {@value #DISTANCE_MAX}
     */
    record Distance(String text, int most) implements TextQuery {
        @Override
        public @Nullable Terms terms(Tokenizer tokenizer) {
            if (tokenizer.kind() != Tokenizer.Kind.NGRAM) {
                return null;
            }
            List<String> grams = tokenizer.tokensOf(text);
            // each change spoils at most as many grams as a gram has characters
            int least = grams.size() - most * tokenizer.size();
            return least < 1 ? null : new Terms(grams, least);
        }

        @Override
        public void check() {
            if (most < 0 || most > DISTANCE_MAX) {
                throw new InvalidRequestException(
                        "distance<=%d: the number is from 0 to %d".formatted(most, DISTANCE_MAX));
            }
            var _ = Tokenizer.KEYWORD.tokensOf(text); // refuses what no record's text can be
        }

        @Override
        public String toString() {
            return "is similar to \"%s\", distance <= %d".formatted(text, most);
        }
    }

    private static void requireToken(Tokenizer tokenizer, String text) {
        tokenizer.requireAvailable("a question");
        if (tokenizer.tokensOf(text).isEmpty()) {
            throw new InvalidRequestException(
                    "there is no token (%s) to look for".formatted(tokenizer.label()));
        }
    }
}
