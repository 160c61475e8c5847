package io.turbidite.it.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.it.samples.Transcript;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/** Types what docs/tutorial.md types, and sees what it shows. */
class TutorialTest {
    private static final Path ROOT =
            Objects.requireNonNull(Path.of("").toAbsolutePath().getParent());

    /** What the commands make where they are typed. */
    private static final Set<String> MADE =
            Set.of("my-store", "copy", "restored", "my-log", "late.ndjson");

    @TempDir
    private Path directory;

    @Test
    void the_tutorial_shows_what_happens() throws IOException {
        List<Transcript.Step> steps =
                Transcript.steps(Files.readString(ROOT.resolve("docs/tutorial.md")));
        assertThat(steps).hasSizeGreaterThan(15);
        for (Transcript.Step step : steps) {
            assertThat(Transcript.run(step, directory, MADE, ROOT))
                    .as(step.line())
                    .matches(step.pattern());
        }
        // what this page types shows nothing there, and must work
        for (Transcript.Step step :
                Transcript.steps(Files.readString(ROOT.resolve("docs/choosing.md")))) {
            assertThat(Transcript.run(step, directory, MADE, ROOT))
                    .as(step.line())
                    .isNotEmpty()
                    .doesNotContain("turbidite: ");
        }
    }

    /** The line of SQL that the README shows, after the one that loads what it asks. */
    @Test
    void the_line_of_SQL_of_the_README_runs() throws IOException {
        List<Transcript.Step> steps = Transcript.steps(Files.readString(ROOT.resolve("README.md")));
        Transcript.Step asked = one(steps, " sql ");
        Transcript.Step loads = one(steps, "./turbidite run feeds/samples/");
        Transcript.run(loads, directory, MADE, ROOT);
        assertThat(Transcript.run(asked, directory, MADE, ROOT))
                .matches("(?s)dest +n\\R-+ +-+\\R([A-Z]{3} +\\d+\\R?){5}");
    }

    private static Transcript.Step one(List<Transcript.Step> steps, String part) {
        return steps.stream()
                .filter(step -> step.line().contains(part))
                .findFirst()
                .orElseThrow(() -> new AssertionError("the README shows no line with " + part));
    }
}
