package io.turbidite.feeds.command;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.UnmatchedArgumentException;

/** Which option was meant by one that a command does not have. Static, without state. */
final class Mistyped {
    /** One letter in so many may be wrong. */
    private static final int LETTERS_AN_ERROR = 3;

    private Mistyped() {}

    /** What to say of an unknown option that is like one there is, or null. */
    static @Nullable String told(UnmatchedArgumentException e) {
        if (!e.isUnknownOption()) {
            return null;
        }
        String given = e.getUnmatched().getFirst().replaceFirst("=.*", "");
        String meant = nearest(given, e.getCommandLine().getCommandSpec());
        return meant == null ? null : "Unknown option: '%s'; is %s meant?".formatted(given, meant);
    }

    private static @Nullable String nearest(String given, CommandSpec command) {
        String nearest = null;
        int least = given.length() / LETTERS_AN_ERROR + 1;
        for (OptionSpec option : command.options()) {
            int distance = distance(given, option.longestName());
            if (!option.hidden() && distance < least) {
                least = distance;
                nearest = option.longestName();
            }
        }
        return nearest;
    }

    /**
     * Letters put in, left out or replaced (Wagner and Fischer, "The string-to-string correction
     * problem", 1974).
     */
    private static int distance(String from, String to) {
        int[] row = new int[to.length() + 1];
        for (int j = 0; j < row.length; j++) {
            row[j] = j;
        }
        for (int i = 1; i <= from.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j < row.length; j++) {
                int replaced = diagonal + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
            }
        }
        return row[to.length()];
    }
}
