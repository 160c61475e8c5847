package io.turbidite.feeds.command;

import org.jspecify.annotations.Nullable;

import java.io.FileInputStream;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Finds out whether arguments lost characters on their way here: the JVM reads them in the encoding
 * of the locale, and puts a question mark for what that does not know. A query for {@code Z?rich}
 * would find nothing and say so with exit code 0. Static, without state.
 */
final class GivenArguments {
    private static final String COMMAND_LINE = "/proc/self/cmdline";
    private static final char REPLACEMENT = '\uFFFD';

    private GivenArguments() {}

    /** The first of the process's arguments that is not what was given, or null if all are. */
    static @Nullable String firstLost(String[] args) {
        return firstLost(args, commandLine(), encoding());
    }

    /**
     * As {@link #firstLost(String[])}.
     *
     * @param commandLine the process's, each text behind a zero but the first; null if the system
     *     doesn't tell
     * @param encoding in which the JVM read the arguments
     */
    static @Nullable String firstLost(
            String[] args, byte @Nullable [] commandLine, Charset encoding) {
        List<byte[]> given = commandLine == null ? List.of() : split(commandLine);
        int before = given.size() - args.length;
        for (int i = 0; i < args.length; i++) {
            boolean lost = before < 0
                    ? args[i].indexOf(REPLACEMENT) >= 0
                    : !Arrays.equals(args[i].getBytes(encoding), given.get(before + i));
            if (lost) {
                return args[i];
            }
        }
        return null;
    }

    /** In which the JVM reads arguments and names of files. */
    static Charset encoding() {
        return Charset.forName(
                System.getProperty("sun.jnu.encoding", StandardCharsets.UTF_8.name()),
                StandardCharsets.UTF_8);
    }

    private static byte @Nullable [] commandLine() {
        try (FileInputStream file = new FileInputStream(COMMAND_LINE)) {
            return file.readAllBytes();
        } catch (IOException elsewhere) {
            return null; // no Linux
        }
    }

    private static List<byte[]> split(byte[] texts) {
        List<byte[]> split = new ArrayList<>();
        int start = 0;
        for (int at = 0; at < texts.length; at++) {
            if (texts[at] == 0) {
                split.add(Arrays.copyOfRange(texts, start, at));
                start = at + 1;
            }
        }
        return split;
    }
}
