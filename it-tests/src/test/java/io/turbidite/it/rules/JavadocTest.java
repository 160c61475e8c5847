package io.turbidite.it.rules;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * Javadoc is prose: its lines have at most 100 columns, where code has up to 120. Layouts within
 * {@code <pre>} are tables, and keep their width.
 */
class JavadocTest {
    private static final int COLUMNS = 100;

    private static final Path HOME =
            Objects.requireNonNull(Path.of("").toAbsolutePath().getParent());

    private static List<String> tooLong(String name, List<String> lines) {
        List<String> found = new ArrayList<>();
        boolean javadoc = false;
        boolean layout = false;
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            javadoc |= line.strip().startsWith("/**");
            layout |= javadoc && line.contains("<pre");
            if (javadoc && !layout && line.length() > COLUMNS) {
                found.add(name + ":" + (i + 1));
            }
            layout &= !line.contains("</pre>");
            javadoc &= !line.contains("*/");
        }
        return found;
    }

    @Test
    void lines_have_at_most_100_columns() throws IOException {
        List<String> found = new ArrayList<>();
        int seen = 0;
        try (Stream<Path> walk = Files.walk(HOME)) {
            for (Path source : (Iterable<Path>) walk::iterator) {
                String name = HOME.relativize(source).toString();
                if (name.endsWith(".java") && !name.contains("target/")) {
                    seen++;
                    found.addAll(tooLong(name, Files.readAllLines(source)));
                }
            }
        }
        assertThat(seen).isGreaterThan(1000);
        assertThat(found).isEmpty();
    }

    @Test
    void a_long_line_is_found_in_javadoc_and_nowhere_else() {
        String words = "x".repeat(COLUMNS);
        assertThat(tooLong(
                        "A",
                        List.of(
                                "// " + words,
                                "/** " + words + " */",
                                "/**",
                                " * <pre>",
                                " * " + words,
                                " * </pre>",
                                " * " + words,
                                " */",
                                words)))
                .containsExactly("A:2", "A:7");
    }
}
