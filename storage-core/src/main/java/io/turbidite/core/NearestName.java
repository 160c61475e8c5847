package io.turbidite.core;

import org.jspecify.annotations.Nullable;

import java.util.Collection;
import java.util.Locale;

/** Which name was meant by one that is not there, for messages. Static, without state. */
public final class NearestName {
    /** One letter in so many may be wrong. */
    private static final int LETTERS_AN_ERROR = 3;

    /** More letters are compared with nothing: a name that long is none of ours. */
    private static final int LETTERS_MAX = 200;

    private NearestName() {}

    /**
     * The name that is most like the one given.
     *
     * @param names those that are there
     * @return null if none is like it
     */
    public static @Nullable String of(String given, Collection<String> names) {
        if (given.length() > LETTERS_MAX) {
            return null;
        }
        String wanted = given.toLowerCase(Locale.ROOT);
        String nearest = null;
        int least = given.length() / LETTERS_AN_ERROR + 1;
        for (String name : names) {
            int differing = Math.abs(name.length() - wanted.length());
            // the very name may be there, but not where it is asked for
            if (differing < least && !name.equals(given)) {
                int distance = distance(wanted, name.toLowerCase(Locale.ROOT));
                if (distance < least) {
                    least = distance;
                    nearest = name;
                }
            }
        }
        return nearest;
    }

    /** The end of a message: {@code ; is 'Flights' meant?}, or nothing if no name is like it. */
    public static String hint(String given, Collection<String> names) {
        String nearest = of(given, names);
        return nearest == null ? "" : "; is '%s' meant?".formatted(nearest);
    }

    /**
     * Letters put in, left out, replaced, or neighbours that are swapped (Wagner and Lowrance, "An
     * extension of the string-to-string correction problem", 1975; no letter twice).
     */
    private static int distance(String from, String to) {
        int[][] rows = new int[from.length() + 1][to.length() + 1];
        for (int i = 0; i <= from.length(); i++) {
            for (int j = 0; j <= to.length(); j++) {
                if (i == 0 || j == 0) {
                    rows[i][j] = i + j;
                    continue;
                }
                boolean same = from.charAt(i - 1) == to.charAt(j - 1);
                int least = Math.min(rows[i - 1][j], rows[i][j - 1]) + 1;
                least = Math.min(least, rows[i - 1][j - 1] + (same ? 0 : 1));
                if (i > 1
                        && j > 1
                        && from.charAt(i - 1) == to.charAt(j - 2)
                        && from.charAt(i - 2) == to.charAt(j - 1)) {
                    least = Math.min(least, rows[i - 2][j - 2] + 1);
                }
                rows[i][j] = least;
            }
        }
        return rows[from.length()][to.length()];
    }
}
