package io.turbidite.it.samples;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;

/** The code in the documents runs and is the code that was run. */
class SamplesTest {
    private static final Path ROOT =
            Objects.requireNonNull(Path.of("").toAbsolutePath().getParent());

    @Test
    void the_first_store_finds_the_tweet(@TempDir Path directory) {
        assertThat(FirstStore.run(directory.resolve("store"))).isEqualTo(1);
    }

    @Test
    void the_readme_shows_the_code_that_runs() throws IOException {
        String source = Files.readString(
                ROOT.resolve("it-tests/src/main/java/io/turbidite/it/samples/FirstStore.java"));
        String sample = source.substring(
                source.indexOf("// begin README\n") + 16, source.indexOf("        // end README"));
        String readme = Files.readString(ROOT.resolve("README.md"));
        assertThat(readme).contains(sample.stripTrailing().stripIndent().strip());
    }
}
