package io.turbidite.core.text;

import io.turbidite.core.bytes.Xxh3;

import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * The JDK's knowledge of characters, as far as words depend on it. Its version of Unicode changes
 * with the JDK, and no method tells it; so it is told by what it says of all code points.
 */
final class UnicodeTables {
    /**
     * Names the tables without looking at them. A provider of locales may bring word boundaries of
     * its own, on which the lower case of a final sigma depends.
     */
    private static final String BUILD = String.join(
            " ",
            System.getProperty("java.vendor", ""),
            System.getProperty("java.runtime.version", ""),
            System.getProperty("java.locale.providers", "-"));

    private static final class Words {
        static final String MARK = ofWords();
    }

    private static final class Letters {
        static final String MARK = ofLetters();
    }

    private UnicodeTables() {}

    /**
     * What words depend on: a mark, which is equal where words are, and behind a blank the build of
     * Java that told it. The mark takes half a second of CPU; the build saves it where it is the
     * same.
     */
    static String words() {
        return Words.MARK + " " + BUILD;
    }

    /**
     * Whether words are the same here as where {@code kept} was told.
     *
     * @param kept what {@link #words} gave there, or a mark alone
     */
    static boolean areWords(String kept) {
        return kept.endsWith(" " + BUILD) || markOf(kept).equals(Words.MARK);
    }

    /** Of what {@link #words} gave, what has to be equal. */
    static String markOf(String words) {
        int blank = words.indexOf(' ');
        return blank < 0 ? words : words.substring(0, blank);
    }

    /** Equal where the lower case of each character is: 16 hexadecimal digits. */
    static String letters() {
        return Letters.MARK;
    }

    /**
     * A hash over every code point that can be part of a word, and its lower case: alone, and where
     * it stands beside a final sigma, whose lower case depends on its neighbours.
     */
    private static String ofWords() {
        StringBuilder said = new StringBuilder(1 << 20);
        for (int codePoint = 0x80; codePoint <= Character.MAX_CODE_POINT; codePoint++) {
            if (WordCursor.isWordPart(codePoint)) {
                String one = Character.toString(codePoint);
                said.append(codePoint)
                        .append(one.toLowerCase(Locale.ROOT))
                        .append(sigma("a\u03a3" + one))
                        .append(sigma("a\u03a3" + one + "a"));
            }
        }
        return hash(said);
    }

    /** A hash over every code point with another lower case. */
    private static String ofLetters() {
        StringBuilder said = new StringBuilder(1 << 16);
        for (int codePoint = 0x80; codePoint <= Character.MAX_CODE_POINT; codePoint++) {
            int lower = Character.toLowerCase(codePoint);
            if (lower != codePoint) {
                said.append(codePoint).append(' ').append(lower).append(' ');
            }
        }
        return hash(said);
    }

    private static String hash(StringBuilder said) {
        byte[] bytes = said.toString().getBytes(StandardCharsets.UTF_8);
        return "%016x".formatted(Xxh3.hash(bytes, 0, bytes.length));
    }

    private static char sigma(String word) {
        return word.toLowerCase(Locale.ROOT).charAt(1);
    }
}
