package io.turbidite.feeds;

/** An argument as it may be pasted into a shell. Static, without state. */
public final class ShellWord {
    private ShellWord() {}

    /** In quotes where it needs them. */
    public static String of(String argument) {
        return argument.matches("[A-Za-z0-9_./:=,@%+-]+")
                ? argument
                : "'" + argument.replace("'", "'\\''") + "'";
    }
}
