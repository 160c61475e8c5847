package io.turbidite.core.text;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** What a {@link TextQuery} means, said by strings and plain loops, for tests to compare with. */
public final class PlainText {
    private static final Pattern WORD = Pattern.compile("[\\p{L}\\p{Nd}\\p{Mn}\\p{Mc}\\p{Me}]+");

    private PlainText() {}

    /** The different tokens of a text. */
    public static Set<String> tokens(Tokenizer tokenizer, String text) {
        return switch (tokenizer.kind()) {
            case WORD -> {
                Set<String> words = new LinkedHashSet<>();
                WORD.matcher(text)
                        .results()
                        .forEach(found -> words.add(found.group().toLowerCase(Locale.ROOT)));
                yield words;
            }
            case KEYWORD -> Set.of(text);
            case NGRAM -> grams(text, tokenizer.size());
            case ANALYZER -> new LinkedHashSet<>(tokenizer.tokensOf(text));
        };
    }

    private static Set<String> grams(String text, int size) {
        List<String> letters = letters(text);
        Set<String> grams = new LinkedHashSet<>();
        Map<String, Integer> occurrences = new HashMap<>();
        int length = Math.min(size, letters.size());
        for (int i = 0; length > 0 && i + length <= letters.size(); i++) {
            String gram = String.join("", letters.subList(i, i + length));
            int occurrence = occurrences.merge(gram, 1, Integer::sum);
            grams.add(occurrence == 1 ? gram : gram + occurrence);
        }
        return grams;
    }

    private static List<String> letters(String text) {
        List<String> letters = new ArrayList<>();
        text.codePoints().forEach(c -> letters.add(Character.toString(Character.toLowerCase(c))));
        return letters;
    }

    /** Whether a text matches. */
    public static boolean matches(TextQuery query, String text) {
        return switch (query) {
            case TextQuery.All(Tokenizer by, String wanted) ->
                tokens(by, text).containsAll(tokens(by, wanted));
            case TextQuery.Any(Tokenizer by, String wanted) ->
                common(tokens(by, text), tokens(by, wanted)) > 0;
            case TextQuery.Prefix(Tokenizer by, String wanted) -> {
                String beginning = tokens(by, wanted).iterator().next();
                yield tokens(by, text).stream().anyMatch(token -> token.startsWith(beginning));
            }
            case TextQuery.Jaccard(Tokenizer by, String wanted, double least) -> {
                Set<String> all = new HashSet<>(tokens(by, text));
                all.addAll(tokens(by, wanted));
                int common = common(tokens(by, text), tokens(by, wanted));
                yield common > 0 && common >= least * all.size();
            }
            case TextQuery.Distance(String wanted, int most) -> distance(wanted, text) <= most;
        };
    }

    /** How many tokens two texts have in common. */
    public static int common(Tokenizer by, String text, String other) {
        return common(tokens(by, text), tokens(by, other));
    }

    private static int common(Set<String> some, Set<String> others) {
        Set<String> both = new HashSet<>(some);
        both.retainAll(others);
        return both.size();
    }

    /** The whole matrix of Levenshtein. */
    public static int distance(String a, String b) {
        List<String> rows = letters(a);
        List<String> columns = letters(b);
        int[][] cells = new int[rows.size() + 1][columns.size() + 1];
        for (int i = 0; i <= rows.size(); i++) {
            for (int j = 0; j <= columns.size(); j++) {
                if (i == 0 || j == 0) {
                    cells[i][j] = i + j;
                } else {
                    int change = rows.get(i - 1).equals(columns.get(j - 1)) ? 0 : 1;
                    cells[i][j] = Math.min(
                            cells[i - 1][j - 1] + change,
                            1 + Math.min(cells[i - 1][j], cells[i][j - 1]));
                }
            }
        }
        return cells[rows.size()][columns.size()];
    }
}
