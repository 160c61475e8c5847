package io.turbidite.it.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.command.Main;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Types what docs/tutorial.md types, and sees what it shows. */
class TutorialTest {
    private static final Path ROOT =
            Objects.requireNonNull(Path.of("").toAbsolutePath().getParent());

    private static final Pattern BLOCK =
            Pattern.compile("^```console\n(.*?)^```", Pattern.MULTILINE | Pattern.DOTALL);

    /** A word of a command line, as a shell takes it. */
    private static final Pattern WORD = Pattern.compile("'([^']*)'|\"([^\"]*)\"|(\\S+)");

    private static final String PROMPT = "$ ./turbidite ";
    private static final String LEFT_OUT = "…";

    /** What the commands make where they are typed. */
    private static final Set<String> MADE =
            Set.of("my-store", "copy", "restored", "my-log", "late.ndjson");

    @TempDir
    private Path directory;

    /** A command with what the page shows of its output. */
    private record Step(String line, String shown) {}

    @Test
    void the_tutorial_shows_what_happens() throws IOException {
        List<Step> steps = steps(Files.readString(ROOT.resolve("docs/tutorial.md")));
        assertThat(steps).hasSizeGreaterThan(15);
        for (Step step : steps) {
            assertThat(run(step.line())).as(step.line()).matches(pattern(step.shown()));
        }
    }

    private static List<Step> steps(String page) {
        List<Step> steps = new ArrayList<>();
        Matcher blocks = BLOCK.matcher(page);
        while (blocks.find()) {
            for (String command : blocks.group(1).split(Pattern.quote(PROMPT), -1)) {
                if (!command.isEmpty()) {
                    int end = command.indexOf('\n');
                    steps.add(new Step(command.substring(0, end), command.substring(end + 1)));
                }
            }
        }
        return steps;
    }

    /** A line of dots alone stands for any lines; dots in a line for anything in it. */
    private static Pattern pattern(String shown) {
        StringBuilder pattern = new StringBuilder();
        for (String line : shown.lines().toList()) {
            if (line.equals(LEFT_OUT)) {
                pattern.append("(?:.*\n)*");
            } else {
                pattern.append(Arrays.stream(line.split(LEFT_OUT, -1))
                                .map(Pattern::quote)
                                .collect(Collectors.joining(".*")))
                        .append(" *\n");
            }
        }
        return Pattern.compile(pattern.toString());
    }

    private String run(String line) {
        List<String> words = new ArrayList<>();
        Matcher found = WORD.matcher(line);
        while (found.find()) {
            String word = Objects.requireNonNullElse(
                    found.group(1),
                    Objects.requireNonNullElse(
                            found.group(2), Objects.requireNonNullElse(found.group(3), "")));
            if (MADE.contains(word)) {
                word = directory.resolve(word).toString();
            } else if (word.startsWith("feeds/")) {
                word = ROOT.resolve(word).toString();
            }
            words.add(word);
        }
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        PrintStream out = new PrintStream(said, true, StandardCharsets.UTF_8);
        Main.run(words.toArray(new String[0]), out, out);
        return said.toString(StandardCharsets.UTF_8).replace(directory + "/", "");
    }
}
