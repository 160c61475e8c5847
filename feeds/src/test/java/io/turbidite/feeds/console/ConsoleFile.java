package io.turbidite.feeds.console;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The files of which the console consists, as they lie in the jar. */
final class ConsoleFile {
    private static final String FOLDER = "/io/turbidite/feeds/console/";

    private ConsoleFile() {}

    static byte @Nullable [] read(String name) throws IOException {
        try (InputStream in = ConsoleFile.class.getResourceAsStream(FOLDER + name)) {
            return in == null ? null : in.readAllBytes();
        }
    }

    static String text(Path file) {
        try {
            return Files.readString(file, StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** All of them. */
    static List<Path> all() throws IOException {
        Path folder = Path.of("src/main/resources/io/turbidite/feeds/console");
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(Files::isRegularFile).sorted().toList();
        }
    }
}
