package io.turbidite.it.rules;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * The pictures of {@code docs/benchmarks.md} show the committed figures.
 * {@code -Dbenchmarks.write=true} draws them anew, after a run of {@code ./turbidite bench}.
 */
class BenchmarkPicturesTest {
    private static final Path IMAGES = BenchmarkPictures.ROOT.resolve("docs/images");

    @Test
    void pictures_show_the_committed_figures() throws IOException {
        String page = Files.readString(BenchmarkPictures.ROOT.resolve("docs/benchmarks.md"));
        Map<String, String> pictures = BenchmarkPictures.all();
        assertThat(pictures).hasSize(5);
        for (Map.Entry<String, String> picture : pictures.entrySet()) {
            Path file = IMAGES.resolve(picture.getKey());
            if (Boolean.getBoolean("benchmarks.write")) {
                Files.writeString(file, picture.getValue());
            }
            assertThat(Files.readString(file))
                    .as("%s: run with -Dbenchmarks.write=true", picture.getKey())
                    .isEqualTo(picture.getValue());
            assertThat(page).contains("images/" + picture.getKey());
        }
    }
}
