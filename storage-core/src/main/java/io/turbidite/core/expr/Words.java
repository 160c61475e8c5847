package io.turbidite.core.expr;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * The words of a text: the longest runs of letters, digits and the marks on them, in lower case.
 * Static functions without state.
 */
public final class Words {
    private Words() {}

    /** The different words of a text, in the order of their first appearance. */
    public static List<String> of(String text) {
        Set<String> words = new LinkedHashSet<>();
        int start = -1;
        for (int at = 0; at <= text.length(); ) {
            int codePoint = at < text.length() ? text.codePointAt(at) : ' ';
            if (isWordPart(codePoint)) {
                start = start < 0 ? at : start;
            } else if (start >= 0) {
                words.add(text.substring(start, at).toLowerCase(Locale.ROOT));
                start = -1;
            }
            at += Character.charCount(codePoint);
        }
        return new ArrayList<>(words);
    }

    private static boolean isWordPart(int codePoint) {
        if (Character.isLetterOrDigit(codePoint)) {
            return true;
        }
        int category = Character.getType(codePoint);
        return category == Character.NON_SPACING_MARK
                || category == Character.COMBINING_SPACING_MARK
                || category == Character.ENCLOSING_MARK;
    }
}
