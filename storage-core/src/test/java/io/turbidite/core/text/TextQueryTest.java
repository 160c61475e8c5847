package io.turbidite.core.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.sim.Seeds;

import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;

/** Tokens, and what is asked of them, beside plain evaluation. */
class TextQueryTest {
    private static final List<Tokenizer> TOKENIZERS = List.of(
            Tokenizer.WORD,
            Tokenizer.KEYWORD,
            Tokenizer.ngram(1),
            Tokenizer.ngram(2),
            Tokenizer.ngram(3),
            Tokenizer.ngram(16));

    private final SplittableRandom random = new SplittableRandom(Seeds.of("TextQueryTest"));

    private String text() {
        StringBuilder text = new StringBuilder();
        String alphabet = random.nextBoolean() ? "ab" : "abAB é\u0000\u0001\u0002 \u4e2dÉ";
        for (int i = random.nextInt(random.nextInt(10) == 0 ? 80 : 9); i > 0; i--) {
            if (random.nextInt(12) == 0) {
                text.append("\uD801\uDC00");
            } else {
                text.append(alphabet.charAt(random.nextInt(alphabet.length())));
            }
        }
        return text.toString();
    }

    private static Slice utf8(String text) {
        return Slice.of(text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void tokens_are_what_strings_say() {
        for (int round = 0; round < 3_000; round++) {
            String text = text();
            for (Tokenizer tokenizer : TOKENIZERS) {
                assertThat(tokenizer.tokensOf(text))
                        .as("%s of '%s'", tokenizer.label(), text)
                        .containsExactlyElementsOf(PlainText.tokens(tokenizer, text));
            }
        }
    }

    @Test
    void grams_come_with_their_occurrence_and_short_texts_whole() {
        assertThat(Tokenizer.ngram(3).tokensOf("aaAAb")).containsExactly("aaa", "aaa2", "aab");
        assertThat(Tokenizer.ngram(3).tokensOf("Ab")).containsExactly("ab");
        assertThat(Tokenizer.ngram(3).tokensOf("")).isEmpty();
        assertThat(Tokenizer.KEYWORD.tokensOf("")).containsExactly("");
        assertThat(Tokenizer.ngram(1).tokensOf("a".repeat(100_000))).hasSize(100_000);
    }

    /** And the tokens by which an index would find a text are among its own. */
    @Test
    void what_matches_is_what_plain_evaluation_says() {
        int[] matching = new int[2];
        for (int round = 0; round < 2_000; round++) {
            TextQuery query = query();
            TextTest test = query.newTest();
            for (int i = 0; i < 10; i++) {
                String text = random.nextInt(4) == 0 ? query.text() : text();
                boolean matches = test.matches(utf8(text));
                matching[matches ? 1 : 0]++;
                assertThat(matches)
                        .as("'%s' %s", text, query)
                        .isEqualTo(PlainText.matches(query, text));
                for (Tokenizer tokenizer : TOKENIZERS) {
                    TextQuery.Terms terms = query.terms(tokenizer);
                    if (terms != null && matches) {
                        Set<String> common = new HashSet<>(PlainText.tokens(tokenizer, text));
                        common.retainAll(terms.tokens());
                        assertThat(common)
                                .as("'%s' %s", text, query)
                                .hasSizeGreaterThanOrEqualTo(terms.least());
                    }
                }
            }
        }
        assertThat(matching[0]).isGreaterThan(1_000);
        assertThat(matching[1]).isGreaterThan(1_000);
    }

    private TextQuery query() {
        while (true) {
            Tokenizer tokenizer = TOKENIZERS.get(random.nextInt(TOKENIZERS.size()));
            String text = text();
            TextQuery query = switch (random.nextInt(5)) {
                case 0 -> new TextQuery.All(tokenizer, text);
                case 1 -> new TextQuery.Any(tokenizer, text);
                case 2 -> new TextQuery.Prefix(TOKENIZERS.get(random.nextInt(2)), text);
                case 3 -> new TextQuery.Jaccard(tokenizer, text, (1 + random.nextInt(10)) / 10.0);
                default -> new TextQuery.Distance(text, random.nextInt(4));
            };
            try {
                query.check();
                return query;
            } catch (InvalidRequestException e) {
                assertThat(e).hasMessageContaining("token");
            }
        }
    }

    @Test
    void distance_needs_enough_grams() {
        TextQuery query = new TextQuery.Distance("ohare airport", 2);
        assertThat(Objects.requireNonNull(query.terms(Tokenizer.ngram(3))).least())
                .isEqualTo(5);
        assertThat(query.terms(Tokenizer.ngram(6))).isNull();
        assertThat(query.terms(Tokenizer.WORD)).isNull();
    }

    @Test
    void what_can_not_be_asked_is_refused() {
        assertRefused(new TextQuery.Any(Tokenizer.WORD, " ,"), "no token (word)");
        assertRefused(new TextQuery.Prefix(Tokenizer.WORD, "two words"), "of one token (word)");
        assertRefused(new TextQuery.Prefix(Tokenizer.KEYWORD, ""), "of one token (keyword)");
        // it would be asked for as a question mark
        String lone = "text has a lone surrogate U+D800 at index 1";
        assertRefused(new TextQuery.All(Tokenizer.KEYWORD, "a\ud800"), lone);
        assertRefused(new TextQuery.Any(Tokenizer.WORD, "a\ud800"), lone);
        assertRefused(new TextQuery.Prefix(Tokenizer.KEYWORD, "a\ud800"), lone);
        assertRefused(new TextQuery.Distance("a\ud800", 1), lone);
        assertRefused(new TextQuery.Prefix(Tokenizer.ngram(2), "ab"), "ngram(2) has no beginnings");
        assertRefused(new TextQuery.Jaccard(Tokenizer.WORD, "a", 0), "above 0 and at most 1");
        assertRefused(new TextQuery.Jaccard(Tokenizer.WORD, "a", Double.NaN), "jaccard>=NaN");
        assertRefused(new TextQuery.Distance("a", -1), "distance<=-1: the number is from 0 to 100");
    }

    @Test
    void an_analyzer_makes_the_tokens_of_its_language() {
        Tokenizer english = Tokenizer.ofLabel("analyzer(english)", "index i");
        assertThat(english).isEqualTo(Tokenizer.analyzer("english"));
        assertThat(english.label()).isEqualTo("analyzer(english)");
        assertThat(english.tokensOf("The airports are flying")).containsExactly("airport", "fly");
        assertThat(english.tokensOf("of the")).isEmpty();
        assertThat(english.tables()).startsWith("lucene 10.6.0, unicode ");
        TextTest test = new TextQuery.Any(english, "flight flying").newTest();
        assertThat(test.matches(utf8("to fly, and to fly again"))).isTrue();
        assertThat(test.matches(utf8("flown"))).isFalse();
        assertThat(test.matches(utf8("two flights"))).isTrue();
        assertRefused(new TextQuery.Prefix(english, "air"), "has no beginnings to look for");
        assertRefused(
                new TextQuery.Any(Tokenizer.analyzer("klingon"), "a"),
                "there is no analyzer 'klingon'; there are arabic, cjk, ");
    }

    private static void assertRefused(TextQuery query, String message) {
        assertThatThrownBy(query::check)
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(message);
    }
}
