package io.turbidite.it.samples;

import io.turbidite.feeds.command.Main;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** What a page types in blocks named {@code console}, and what it shows. Static, without state. */
public final class Transcript {
    private static final Pattern BLOCK =
            Pattern.compile("^```console\n(.*?)^```", Pattern.MULTILINE | Pattern.DOTALL);

    /** A word of a command line, as a shell takes it. */
    private static final Pattern WORD = Pattern.compile("'([^']*)'|\"([^\"]*)\"|(\\S+)");

    private static final String PROMPT = "$ ";
    private static final String COMMAND = "./turbidite ";
    private static final String LEFT_OUT = "…";

    private Transcript() {}

    /** A command with what the page shows of its output. */
    public record Step(String line, String shown) {
        /** Whether it is one of {@code ./turbidite}. */
        public boolean isOurs() {
            return line.startsWith(COMMAND);
        }

        /**
         * Matches the output: a line of dots alone stands for any lines, dots in a line for any
         * text.
         */
        public Pattern pattern() {
            StringBuilder pattern = new StringBuilder();
            for (String shownLine : shown.lines().toList()) {
                if (shownLine.equals(LEFT_OUT)) {
                    pattern.append("(?:.*\n)*");
                } else {
                    pattern.append(Arrays.stream(shownLine.split(LEFT_OUT, -1))
                                    .map(Pattern::quote)
                                    .collect(Collectors.joining(".*")))
                            .append(" *\n");
                }
            }
            return Pattern.compile(pattern.toString());
        }
    }

    /** The steps of a page, in order. */
    public static List<Step> steps(String page) {
        List<Step> steps = new ArrayList<>();
        Matcher blocks = BLOCK.matcher(page);
        while (blocks.find()) {
            for (String command :
                    ("\n" + blocks.group(1)).split("\n" + Pattern.quote(PROMPT), -1)) {
                if (!command.isBlank()) {
                    String ended = command.endsWith("\n") ? command : command + "\n";
                    int end = ended.indexOf('\n');
                    steps.add(new Step(ended.substring(0, end), ended.substring(end + 1)));
                }
            }
        }
        return steps;
    }

    /**
     * Runs a command of ours in this process.
     *
     * @param made names of what the page's commands make; these lie in the directory
     * @param root where paths below {@code feeds/} begin
     * @return all that it printed, without the directory's path
     */
    public static String run(Step step, Path directory, Set<String> made, Path root) {
        List<String> words = new ArrayList<>();
        Matcher found = WORD.matcher(step.line().substring(COMMAND.length()));
        while (found.find()) {
            String word = Objects.requireNonNullElse(
                    found.group(1),
                    Objects.requireNonNullElse(
                            found.group(2), Objects.requireNonNullElse(found.group(3), "")));
            if (made.contains(word)) {
                word = directory.resolve(word).toString();
            } else if (word.startsWith("feeds/")) {
                word = root.resolve(word).toString();
            }
            words.add(word);
        }
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        PrintStream out = new PrintStream(said, true, StandardCharsets.UTF_8);
        Main.run(words.toArray(new String[0]), out, out);
        return said.toString(StandardCharsets.UTF_8).replace(directory + "/", "");
    }
}
