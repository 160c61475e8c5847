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
}
