package io.turbidite.ops.expr;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.expr.Words;
import io.turbidite.core.record.RecordView;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/**
 * Whether a text has all of some words. A word is a longest run of letters, digits and the marks on
 * them; letters are compared in lower case. <em>Confined to one thread.</em>
 *
 * <p>ASCII text, the common case, is read where it lies; any other is decoded.
 */
final class WordPredicate implements RecordPredicate {
    private final int field;
    private final List<String> words;
    private final byte[][] ascii;
    private final boolean[] found;
    private final Slice text = new Slice();

    WordPredicate(int field, List<String> words) {
        this.field = field;
        this.words = List.copyOf(words);
        this.ascii = words.stream()
                .map(word -> word.getBytes(StandardCharsets.UTF_8))
                .toArray(byte[][]::new);
        this.found = new boolean[words.size()];
    }

    @Override
    public boolean matches(RecordView record) {
        if (record.isAbsent(field)) {
            return false;
        }
        record.getBytes(field, text);
        Arrays.fill(found, false);
        int missing = ascii.length;
        int start = -1;
        int length = text.length();
        for (int at = 0; at <= length; at++) {
            int b = at < length ? text.byteAt(at) : ' ';
            if (b >= 0x80) {
                return Words.of(text.toUtf8()).containsAll(words);
            }
            if (isAsciiWordPart(b)) {
                start = start < 0 ? at : start;
            } else if (start >= 0) {
                missing -= find(start, at);
                if (missing == 0) {
                    return true;
                }
                start = -1;
            }
        }
        return missing == 0;
    }

    private static boolean isAsciiWordPart(int b) {
        return (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z') || (b >= '0' && b <= '9');
    }

    /** Marks the word between two offsets as found; 1 if it was wanted and not yet found. */
    private int find(int start, int end) {
        for (int i = 0; i < ascii.length; i++) {
            if (!found[i] && equalsLowerCase(ascii[i], start, end)) {
                found[i] = true;
                return 1;
            }
        }
        return 0;
    }

    private boolean equalsLowerCase(byte[] word, int start, int end) {
        if (word.length != end - start) {
            return false;
        }
        for (int i = 0; i < word.length; i++) {
            int b = text.byteAt(start + i);
            int lower = b >= 'A' && b <= 'Z' ? b + ('a' - 'A') : b;
            if (lower != word[i]) {
                return false;
            }
        }
        return true;
    }
}
