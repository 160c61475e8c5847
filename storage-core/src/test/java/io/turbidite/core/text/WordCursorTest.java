package io.turbidite.core.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.sim.Seeds;

import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.SplittableRandom;

class WordCursorTest {
    /** The meaning of a word, said by strings. */
    private static List<String> said(String text) {
        Set<String> words = new LinkedHashSet<>();
        int start = -1;
        for (int at = 0; at <= text.length(); ) {
            int codePoint = at < text.length() ? text.codePointAt(at) : ' ';
            int category = Character.getType(codePoint);
            boolean isPart = Character.isLetterOrDigit(codePoint)
                    || category == Character.NON_SPACING_MARK
                    || category == Character.COMBINING_SPACING_MARK
                    || category == Character.ENCLOSING_MARK;
            if (isPart) {
                start = start < 0 ? at : start;
            } else if (start >= 0) {
                words.add(text.substring(start, at).toLowerCase(Locale.ROOT));
                start = -1;
            }
            at += Character.charCount(codePoint);
        }
        return new ArrayList<>(words);
    }

    @Test
    void words_of_every_kind() {
        assertThat(WordCursor.wordsOf("")).isEmpty();
        assertThat(WordCursor.wordsOf(" ., ")).isEmpty();
        assertThat(WordCursor.wordsOf("Late late LATE, at 10:05"))
                .containsExactly("late", "at", "10", "05");
        assertThat(WordCursor.wordsOf("ΟΔΟΣ ΣΑΣ İstanbul \u212Aelvin"))
                .containsExactly("οδος", "σας", "i\u0307stanbul", "kelvin");
        assertThat(WordCursor.wordsOf("\uD835\uDC00\uD801\uDC00x \uD83D\uDE00y"))
                .containsExactly("\uD835\uDC00\uD801\uDC28x", "y");
    }

    /** Code points of all lengths, capitals, marks and signs, in random texts. */
    @Test
    void words_are_what_strings_say() {
        SplittableRandom random = new SplittableRandom(Seeds.of("WordCursorTest"));
        String alphabet =
                "aAzZ09 .-éÉß\u0301\u0130\u03a3σ\u0391Ж\u0939\u093f\u4e2d\u20ac\uFF21\u2126";
        for (int round = 0; round < 3_000; round++) {
            StringBuilder text = new StringBuilder();
            int length = random.nextInt(30);
            for (int i = 0; i < length; i++) {
                if (random.nextInt(8) == 0) {
                    int codePoint = random.nextInt(Character.MAX_CODE_POINT + 1);
                    text.appendCodePoint(
                            codePoint >= 0xD800 && codePoint < 0xE000 ? 0x10400 : codePoint);
                } else {
                    text.append(alphabet.charAt(random.nextInt(alphabet.length())));
                }
            }
            List<String> expected = said(text.toString());
            assertThat(WordCursor.wordsOf(text.toString())).as(text.toString()).isEqualTo(expected);
            WordCursor words = new WordCursor();
            words.wrap(Slice.of(text.toString().getBytes(StandardCharsets.UTF_8)));
            while (words.next()) {
                ByteSink sink = new ByteSink(16, 1 << 10);
                words.append(sink, 1 << 10);
                byte[] word = sink.asSlice(new Slice()).toByteArray();
                assertThat(words.hasBytes(word)).isTrue();
                assertThat(words.byteCount()).isEqualTo(word.length);
                word[word.length - 1] ^= 1;
                assertThat(words.hasBytes(word)).isFalse();
            }
        }
    }

    /** As text that is decoded with a sign in place of what is wrong. */
    @Test
    void bytes_that_are_no_utf8_separate_words() {
        SplittableRandom random = new SplittableRandom(Seeds.of("WordCursorTest"));
        for (int round = 0; round < 3_000; round++) {
            byte[] text = "aéb\uD801\uDC00c中".getBytes(StandardCharsets.UTF_8);
            text[random.nextInt(text.length)] = (byte) random.nextInt(256);
            Set<String> found = new LinkedHashSet<>();
            WordCursor words = new WordCursor();
            words.wrap(Slice.of(text));
            while (words.next()) {
                ByteSink sink = new ByteSink(16, 1 << 10);
                words.append(sink, 1 << 10);
                found.add(sink.asSlice(new Slice()).toUtf8());
            }
            assertThat(found)
                    .containsExactlyElementsOf(said(new String(text, StandardCharsets.UTF_8)));
        }
    }

    @Test
    void a_tokenizer_that_is_not_there_is_named() {
        assertThat(Tokenizer.ofLabel("word", "index i")).isEqualTo(Tokenizer.WORD);
        assertThatThrownBy(() -> Tokenizer.ofLabel("ngram(0)", "index i"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage(
                        "index i: there is no tokenizer 'ngram(0)'; there are word, keyword, ngram(n), n from 1 to 16, and analyzer(name)");
        assertThat(Tokenizer.ofLabel("ngram(16)", "index i")).isEqualTo(Tokenizer.ngram(16));
        assertThat(Tokenizer.ofLabel("keyword", "index i")).isEqualTo(Tokenizer.KEYWORD);
        assertThat(Tokenizer.isLabel("ngram(17)")).isFalse();
        assertThat(Tokenizer.ngram(2).tables()).hasSize(16).isNotEqualTo(Tokenizer.WORD.tables());
    }

    /** The bug: each opening of a store with words took half a second of CPU for the mark. */
    @Test
    void the_build_that_told_the_mark_is_believed_and_another_build_looks_at_the_tables() {
        String told = Tokenizer.WORD.tables();
        String mark = told.substring(0, 16);
        String build = told.substring(16);
        assertThat(mark).matches("[0-9a-f]{16}");
        assertThat(build).contains(Runtime.version().toString());
        String wrong = "0".repeat(16);
        // believed without a look: a wrong mark shows that none was taken
        assertThat(Tokenizer.WORD.isMadeBy(wrong + build)).isTrue();
        for (String other : new String[] {"", " Another Vendor 21.0.1+12 -"}) {
            assertThat(Tokenizer.WORD.isMadeBy(mark + other)).isTrue();
            assertThat(Tokenizer.WORD.isMadeBy(wrong + other)).isFalse();
            assertThat(Tokenizer.WORD.isSame(told, mark + other)).isTrue();
            assertThat(Tokenizer.WORD.isSame(told, wrong + other)).isFalse();
        }
        assertThat(Tokenizer.WORD.isMadeBy("")).isFalse();
        assertThat(Tokenizer.ngram(2).isMadeBy(Tokenizer.ngram(2).tables())).isTrue();
        assertThat(Tokenizer.ngram(2).isMadeBy(wrong)).isFalse();
    }
}
