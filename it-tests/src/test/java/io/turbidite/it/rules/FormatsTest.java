package io.turbidite.it.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.ops.sql.Sql;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Numbers in messages look the same wherever a program runs that embeds a store: groups of digits
 * and fractions are never formatted by the locale that happens to be there.
 */
class FormatsTest {
    private static final Path ROOT =
            Objects.requireNonNull(Path.of("").toAbsolutePath().getParent());

    /** Groups of digits, or a fraction. */
    private static final String BY_LOCALE = "%[-+ #0(]*(?:,|\\d*(?:\\.\\d+)?[feEgG])";

    private static final Pattern FORMATTED =
            Pattern.compile("\"(?:[^\"\\\\\n]|\\\\.)*?%s(?:[^\"\\\\\n]|\\\\.)*\"\\s*\\.formatted\\("
                    .replace("%s", BY_LOCALE));

    private static final Pattern NO_LOCALE =
            Pattern.compile("String\\s*\\.format\\(\\s*\"|\\.printf\\(\\s*\"");

    @Test
    void no_format_of_main_code_follows_the_locale() throws IOException {
        List<String> found = new ArrayList<>();
        for (Path source : sources()) {
            found.addAll(byLocale(source.toString(), Files.readString(source)));
        }
        assertThat(found).as("take String.format(Locale.ROOT, …)").isEmpty();
    }

    @Test
    void a_format_that_follows_it_is_found() {
        assertThat(byLocale("", "x(\"%d of %,d rows\"\n    .formatted(a, b));")).hasSize(1);
        assertThat(byLocale("", "x(\"%.1f s\".formatted(a));")).hasSize(1);
        assertThat(byLocale("", "x(String.format(\"%s\", a));")).hasSize(1);
        assertThat(byLocale("", "x(String.format(Locale.ROOT, \"%,d\", a), \"%d\".formatted(b));"))
                .isEmpty();
    }

    @Test
    void a_message_is_the_same_where_people_group_digits_by_points() {
        Locale before = Locale.getDefault();
        Locale.setDefault(Locale.GERMANY);
        try {
            assertThat("%,d".formatted(1_000_000)).as("the locale matters").contains(".");
            Sql sql = Sql.on(List.of());
            String tooLong = " ".repeat(Sql.TEXT_CHARS_MAX + 1);
            assertThatThrownBy(() -> sql.statement(tooLong))
                    .hasMessageContaining("limit of 1,048,576");
        } finally {
            Locale.setDefault(before);
        }
    }

    private static List<Path> sources() throws IOException {
        List<Path> sources = new ArrayList<>();
        for (String module : List.of(
                "storage-core",
                "storage-lsm",
                "storage-hashlog",
                "storage-pm",
                "query-ops",
                "feeds")) {
            try (Stream<Path> files = Files.walk(ROOT.resolve(module).resolve("src/main/java"))) {
                files.filter(file -> file.toString().endsWith(".java")).forEach(sources::add);
            }
        }
        assertThat(sources).hasSizeGreaterThan(500);
        return sources;
    }

    private static List<String> byLocale(String name, String source) {
        List<String> found = new ArrayList<>();
        for (Pattern pattern : List.of(FORMATTED, NO_LOCALE)) {
            Matcher matcher = pattern.matcher(source);
            while (matcher.find()) {
                found.add(name + ": " + matcher.group());
            }
        }
        return found;
    }
}
