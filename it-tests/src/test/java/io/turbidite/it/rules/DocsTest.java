package io.turbidite.it.rules;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The documents say what the code says: links lead somewhere, classes exist, versions are the
 * constants'.
 */
class DocsTest {
    private static final Path HOME =
            Objects.requireNonNull(Path.of("").toAbsolutePath().getParent());

    private static final Pattern LINK = Pattern.compile("]\\(([^)\\s]+)\\)");
    private static final Pattern HEADING = Pattern.compile("^#+ (.*)$", Pattern.MULTILINE);
    private static final Pattern FENCE = Pattern.compile("```.*?```", Pattern.DOTALL);

    /** A class, or a member of one, as documents write it: {@code Store}, {@code Store.open}. */
    private static final Pattern CODE =
            Pattern.compile("`([A-Z]\\w*[a-z]\\w*)((?:\\.\\w+)*)(?:\\(\\))?`");

    private static final Pattern TYPE =
            Pattern.compile("\\b(?:class|interface|record|enum) (\\w+)");
    private static final Pattern FORMAT_ROW = Pattern.compile(
            "^\\| [^|]*, version (\\d+)[^|]*\\|[^|]*\\|(.*)\\|$", Pattern.MULTILINE);
    private static final Pattern CONSTANT =
            Pattern.compile("int (?:FORMAT_)?VERSION\\w* = (\\d+);");
    private static final Pattern SAID = Pattern.compile(
            "(?:format \"[\\w-]+\",|[Ff]ormat \\{@code [\\w-]+}|^ \\* The .*), version (\\d+)",
            Pattern.MULTILINE);

    /** A limit with the constant that says it. */
    private static final Pattern LIMIT_ROW = Pattern.compile(
            "^\\| [^|]*\\| ([\\d,]+) \\| `(\\w+)\\.(\\w+)` \\|$", Pattern.MULTILINE);

    /**
     * In backticks for other reasons: units, values, an event of a data set, a class of the JDK.
     */
    private static final Set<String> NO_CLASSES = Set.of(
            "KiB",
            "MiB",
            "GiB",
            "TiB",
            "NaN",
            "Infinity",
            "PushEvent",
            "Error",
            "PT1H30M",
            "NAME",
            "CancellationException");

    private static List<Path> files(String ending, String... below) throws IOException {
        List<Path> found = new ArrayList<>();
        for (String directory : below) {
            try (Stream<Path> walk = Files.walk(HOME.resolve(directory))) {
                walk.filter(path -> path.toString().endsWith(ending)
                                && !HOME.relativize(path).toString().contains("target/"))
                        .forEach(found::add);
            }
        }
        return found;
    }

    private static List<Path> documents() throws IOException {
        List<Path> found = files(".md", "docs", "README.md", "CONTRIBUTING.md", "CHANGELOG.md");
        assertThat(found).hasSizeGreaterThan(20);
        return found;
    }

    private static String text(Path file) throws IOException {
        return Files.readString(file);
    }

    /** As the pages of a forge make it of a heading. */
    private static String anchor(String heading) {
        return heading.replaceAll("[^\\w\\- ]", "")
                .strip()
                .toLowerCase(Locale.ROOT)
                .replace(' ', '-');
    }

    @Test
    void links_lead_to_files_and_headings_that_are_there() throws IOException {
        List<String> broken = new ArrayList<>();
        int seen = 0;
        for (Path document : documents()) {
            Matcher link = LINK.matcher(FENCE.matcher(text(document)).replaceAll(""));
            while (link.find()) {
                String to = link.group(1);
                if (!to.matches("[a-z]+:.*")) {
                    seen++;
                    String[] parts = to.split("#", 2);
                    Path target = parts[0].isEmpty()
                            ? document
                            : Objects.requireNonNull(document.getParent())
                                    .resolve(parts[0])
                                    .normalize();
                    if (!Files.exists(target)
                            || (parts.length > 1
                                    && target.toString().endsWith(".md")
                                    && HEADING.matcher(text(target))
                                            .results()
                                            .noneMatch(heading ->
                                                    anchor(heading.group(1)).equals(parts[1])))) {
                        broken.add(HOME.relativize(document) + ": " + to);
                    }
                }
            }
        }
        assertThat(broken).isEmpty();
        assertThat(seen).isGreaterThan(100);
    }

    /** Decisions and the changelog tell of their day, and are left out. */
    @Test
    void the_index_names_every_page() throws IOException {
        String index = text(HOME.resolve("docs/index.md"));
        try (Stream<Path> pages = Files.list(HOME.resolve("docs"))) {
            assertThat(pages.map(page -> page.getFileName().toString())
                            .filter(name -> name.endsWith(".md") && !name.equals("index.md"))
                            .filter(name -> !index.contains("](" + name)))
                    .isEmpty();
        }
    }

    @Test
    void classes_and_members_that_documents_name_exist() throws IOException {
        Map<String, StringBuilder> sources = new HashMap<>();
        Set<String> types = new HashSet<>();
        for (String module : List.of(
                "storage-core",
                "storage-lsm",
                "storage-hashlog",
                "storage-pm",
                "query-ops",
                "feeds",
                "it-tests",
                "benchmarks")) {
            for (Path source : files(".java", module + "/src")) {
                String name = Objects.requireNonNull(source.getFileName()).toString();
                String text = text(source);
                sources.computeIfAbsent(
                                name.substring(0, name.length() - ".java".length()),
                                any -> new StringBuilder())
                        .append(text);
                TYPE.matcher(text).results().forEach(type -> types.add(type.group(1)));
            }
        }
        List<String> unknown = new ArrayList<>();
        for (Path document : documents()) {
            String where = HOME.relativize(document).toString();
            if (where.contains("decisions") || where.equals("CHANGELOG.md")) {
                continue;
            }
            for (MatchResult code : CODE.matcher(text(document)).results().toList()) {
                String type = code.group(1);
                StringBuilder source = sources.get(type);
                boolean known = source == null
                        ? types.contains(type) || NO_CLASSES.contains(type)
                        : code.group(2).isEmpty()
                                || Pattern.compile(
                                                "\\b" + code.group(2).split("\\.", -1)[1] + "\\b")
                                        .matcher(source)
                                        .find();
                if (!known) {
                    unknown.add(where + ": " + code.group());
                }
            }
        }
        assertThat(unknown).isEmpty();
    }

    @Test
    void versions_of_formats_are_those_of_their_descriptors() throws IOException {
        Path formats = HOME.resolve("docs/formats.md");
        List<MatchResult> rows = FORMAT_ROW.matcher(text(formats)).results().toList();
        assertThat(rows).hasSizeGreaterThan(10);
        List<String> wrong = new ArrayList<>();
        for (MatchResult row : rows) {
            boolean same = false;
            for (MatchResult link : LINK.matcher(row.group(2)).results().toList()) {
                Path descriptor = HOME.resolve("docs").resolve(link.group(1)).normalize();
                for (Path source : Files.isDirectory(descriptor)
                        ? files(".java", HOME.relativize(descriptor).toString())
                        : List.of(descriptor, descriptor.resolveSibling("ComponentWriter.java"))) {
                    if (Files.exists(source)) {
                        same |= CONSTANT.matcher(text(source))
                                .results()
                                .anyMatch(constant -> constant.group(1).equals(row.group(1)));
                    }
                }
            }
            if (!same) {
                wrong.add(row.group());
            }
        }
        assertThat(wrong).isEmpty();
    }

    @Test
    void versions_in_javadoc_are_those_of_the_constants_beside() throws IOException {
        int seen = 0;
        List<String> wrong = new ArrayList<>();
        for (Path source : files(
                ".java",
                "storage-core/src/main",
                "storage-lsm/src/main",
                "storage-hashlog/src/main",
                "feeds/src/main")) {
            String text = text(source);
            Matcher constant = CONSTANT.matcher(text);
            Matcher said = SAID.matcher(text);
            if (constant.find() && said.find()) {
                seen++;
                if (!constant.group(1).equals(said.group(1))) {
                    wrong.add(HOME.relativize(source) + ": " + said.group());
                }
            }
        }
        assertThat(wrong).isEmpty();
        assertThat(seen).isGreaterThan(5);
    }

    @Test
    void limits_are_those_of_the_code() throws IOException {
        Matcher rows = LIMIT_ROW.matcher(Files.readString(HOME.resolve("docs/limits.md")));
        int rowCount = 0;
        while (rows.find()) {
            long said = Long.parseLong(rows.group(1).replace(",", ""));
            assertThat(constant(rows.group(2), rows.group(3)))
                    .as("%s.%s", rows.group(2), rows.group(3))
                    .isEqualTo(said);
            rowCount++;
        }
        assertThat(rowCount).isGreaterThan(28);
    }

    /** What the sources give a constant: a number, or one that is shifted, less one perhaps. */
    private static long constant(String type, String name) throws IOException {
        for (Path path : files(
                ".java",
                "storage-core/src/main",
                "storage-lsm/src/main",
                "storage-hashlog/src/main",
                "query-ops/src/main",
                "feeds/src/main")) {
            if (path.endsWith(type + ".java")) {
                String source = Files.readString(path);
                Matcher found = Pattern.compile(
                                " %s = \\(?(\\w+)(?: << (\\w+))?\\)?( - 1)?;".formatted(name))
                        .matcher(source);
                if (found.find()) {
                    long number =
                            Long.parseLong(found.group(1).replace("_", "").replaceFirst("L$", ""));
                    String shift = found.group(2);
                    if (shift != null) {
                        number <<= Character.isDigit(shift.charAt(0))
                                ? Long.parseLong(shift)
                                : constant(type, shift);
                    }
                    return number - (found.group(3) == null ? 0 : 1);
                }
            }
        }
        throw new AssertionError("no constant %s.%s that is a plain number".formatted(type, name));
    }
}
