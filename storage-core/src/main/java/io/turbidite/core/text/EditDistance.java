package io.turbidite.core.text;

import java.util.Arrays;

/**
 * How many characters must be put in, taken out or replaced to make one text of another
 * (Levenshtein), up to a most: only the cells around the diagonal are computed that can hold so
 * little (Ukkonen 1985). Reused. <em>Confined to one thread.</em>
 */
final class EditDistance {
    private int[] row = new int[32];

    /** Whether it is {@code most} at most. */
    boolean isWithin(Letters a, Letters b, int most) {
        int rows = a.count();
        int columns = b.count();
        if (Math.abs(rows - columns) > most) {
            return false;
        }
        if (row.length <= columns) {
            row = new int[columns + columns / 2 + 1];
        }
        int tooMany = most + 1;
        Arrays.fill(row, 0, columns + 1, tooMany);
        for (int j = 0; j <= Math.min(columns, most); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= rows; i++) {
            int from = Math.max(1, i - most);
            int to = (int) Math.min(columns, (long) i + most);
            int diagonal = row[from - 1];
            row[from - 1] = from == 1 && i <= most ? i : tooMany;
            int least = row[from - 1];
            for (int j = from; j <= to; j++) {
                int above = row[j];
                int cost = a.at(i - 1) == b.at(j - 1) ? 0 : 1;
                int cell = Math.min(diagonal + cost, Math.min(above, row[j - 1]) + 1);
                row[j] = Math.min(cell, tooMany);
                least = Math.min(least, row[j]);
                diagonal = above;
            }
            if (least > most) {
                return false;
            }
        }
        return row[columns] <= most;
    }
}
