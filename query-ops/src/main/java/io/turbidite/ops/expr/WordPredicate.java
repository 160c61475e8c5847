package io.turbidite.ops.expr;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.text.WordCursor;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/**
 * Whether a text has all of some words, as {@link WordCursor} tells them. <em>Confined to one
 * thread.</em>
 */
final class WordPredicate implements RecordPredicate {
    private final int field;
    private final byte[][] words;
    private final boolean[] found;
    private final Slice text = new Slice();
    private final WordCursor cursor = new WordCursor();

    /**
     * @param words different ones, in lower case
     */
    WordPredicate(int field, List<String> words) {
        this.field = field;
        this.words = words.stream()
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
        int missing = words.length;
        cursor.wrap(text);
        while (missing > 0 && cursor.next()) {
            missing -= find();
        }
        return missing == 0;
    }

    /** Marks the word that the cursor is on as found; 1 if it was wanted and not yet found. */
    private int find() {
        for (int i = 0; i < words.length; i++) {
            if (!found[i] && cursor.hasBytes(words[i])) {
                found[i] = true;
                return 1;
            }
        }
        return 0;
    }
}
