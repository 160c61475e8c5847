package io.turbidite.lsm.harness;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * Texts with words that many records have, few have, and one has; and what words they have, said by
 * regular expressions.
 */
public final class Texts {
    /** Too long for a key, and alike as far as one goes. */
    private static final String LONG = "z".repeat(250);

    private static final int TEXT_LENGTH_MAX = 500;

    private static final List<String> WORDS = List.of(
            "late",
            "Late",
            "fog",
            "snow",
            "ice",
            "10",
            "caf\u00e9",
            "\u039f\u0394\u039f\u03a3",
            "\u0130",
            "\ud801\udc00x",
            "\ud83d\ude00",
            "e\u0301",
            "la",
            "lat",
            LONG,
            LONG + "z".repeat(5),
            LONG + "z".repeat(5) + "a",
            LONG + "z".repeat(5) + "b");

    private static final List<String> BETWEEN = List.of(" ", ", ", ".", "\t", "\u2014", " - ");

    private static final Pattern NO_WORD = Pattern.compile("[^\\p{L}\\p{Nd}\\p{M}]+");

    private Texts() {}

    /** A text; now and then none, or one without words. */
    static String text(SplittableRandom random) {
        int dice = random.nextInt(20);
        if (dice < 2) {
            return dice == 0 ? "" : " .!? ";
        }
        StringBuilder text = new StringBuilder("the");
        int count = random.nextInt(5);
        // a B+-tree on the whole text takes no more
        for (int i = 0; i < count && text.length() < TEXT_LENGTH_MAX; i++) {
            text.append(BETWEEN.get(random.nextInt(BETWEEN.size())));
            text.append(WORDS.get(random.nextInt(WORDS.size())));
        }
        return text.append(' ').append(random.nextInt(40)).toString();
    }

    /** The same with one word of many changed. */
    static String changed(String text, SplittableRandom random) {
        return text + " " + WORDS.get(random.nextInt(WORDS.size()));
    }

    /** Words to look for, one to three, that most likely some texts have. */
    static List<String> terms(SplittableRandom random) {
        TreeSet<String> terms = new TreeSet<>();
        int count = 1 + random.nextInt(3);
        while (terms.size() < count) {
            String word = random.nextInt(6) == 0 ? "the" : WORDS.get(random.nextInt(WORDS.size()));
            terms.addAll(wordsOf(word));
            terms.add(random.nextInt(4) == 0 ? "" + random.nextInt(40) : "the");
        }
        List<String> shuffled = new ArrayList<>(terms);
        if (random.nextBoolean()) {
            shuffled = shuffled.reversed();
        }
        return shuffled;
    }

    /** The different words of a text. */
    public static Set<String> wordsOf(String text) {
        TreeSet<String> words = new TreeSet<>();
        for (String word : NO_WORD.split(text, -1)) {
            if (!word.isEmpty()) {
                words.add(word.toLowerCase(Locale.ROOT));
            }
        }
        return words;
    }

    /** How many different entries a text has: of long words the beginning counts. */
    public static int entryCount(String text) {
        return keysOf(wordsOf(text)).size();
    }

    /** How many of some words a text has, as far as an index can tell them apart. */
    static int commonCount(List<String> terms, String text) {
        Set<String> keys = keysOf(wordsOf(text));
        return (int) terms.stream()
                .distinct()
                .filter(term -> keys.containsAll(keysOf(List.of(term))))
                .count();
    }

    /** Words as an index can tell them apart. */
    static Set<String> keysOf(Iterable<String> words) {
        TreeSet<String> keys = new TreeSet<>();
        for (String word : words) {
            byte[] utf8 = word.getBytes(StandardCharsets.UTF_8);
            keys.add(
                    utf8.length <= 255
                            ? word
                            : "cut:"
                                    + new String(
                                            Arrays.copyOf(utf8, 255), StandardCharsets.ISO_8859_1));
        }
        return keys;
    }
}
