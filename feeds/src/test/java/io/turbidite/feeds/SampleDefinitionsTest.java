package io.turbidite.feeds;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.source.SourceKind;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.Stream;

/** The definitions that users copy. */
final class SampleDefinitionsTest {
    private static List<Path> samples() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("samples"))) {
            return files.filter(file -> file.toString().endsWith(".yaml")).toList();
        }
    }

    /** Those of this module, without the tests' own. */
    private static List<String> kinds() throws IOException {
        Path services = Path.of("src/main/resources/META-INF/services");
        List<String> classes = Files.readAllLines(services.resolve(SourceKind.class.getName()));
        return ServiceLoader.load(SourceKind.class).stream()
                .filter(kind -> classes.contains(kind.type().getName()))
                .map(kind -> kind.get().name())
                .toList();
    }

    @Test
    void each_kind_of_source_has_one_that_is_right() throws IOException {
        assertThat(samples())
                .allSatisfy(sample -> Feed.check(FeedDefinition.load(sample)))
                .extracting(sample -> FeedDefinition.load(sample).source().kind())
                .containsAll(kinds())
                .hasSizeGreaterThanOrEqualTo(5);
    }

    @Test
    void each_says_how_it_is_run() throws IOException {
        assertThat(samples())
                .allSatisfy(sample -> assertThat(Files.readString(sample))
                        .contains(
                                "# Run it:  ./turbidite ", sample.getFileName().toString()));
    }
}
