package io.turbidite.ops.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.ops.QueryResult;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * The statements of {@code statements.txt}, each with what it gives. With {@code
 * -Dsql.corpus.write=FILE} the file is written anew, to be read by a person.
 */
class SqlCorpusTest {
    private static final String FILE = "statements.txt";

    private final People people = new People();

    private record Entry(String comment, String statement, List<String> lines) {}

    private static List<Entry> entries() {
        try (InputStream in = SqlCorpusTest.class.getResourceAsStream(FILE)) {
            String text = new String(
                    Objects.requireNonNull(in, FILE).readAllBytes(), StandardCharsets.UTF_8);
            List<Entry> entries = new ArrayList<>();
            String comment = "";
            for (String part : text.split("\n\n", -1)) {
                List<String> lines = part.lines().toList();
                StringBuilder statement = new StringBuilder();
                List<String> expected = new ArrayList<>();
                StringBuilder comments = new StringBuilder();
                for (String line : lines) {
                    if (line.startsWith("#")) {
                        comments.append(line).append('\n');
                    } else if (line.startsWith("> ")) {
                        statement
                                .append(statement.isEmpty() ? "" : "\n")
                                .append(line, 2, line.length());
                    } else {
                        expected.add(line);
                    }
                }
                if (!statement.isEmpty()) {
                    entries.add(new Entry(comment + comments, statement.toString(), expected));
                    comment = "";
                } else {
                    comment += comments;
                }
            }
            return entries;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private List<String> answer(String statement) {
        List<String> lines = new ArrayList<>();
        try {
            SqlStatement planned = people.sql().statement(statement);
            try (QueryResult rows = planned.run()) {
                while (rows.next()) {
                    List<String> cells = new ArrayList<>();
                    for (int i = 0; i < rows.rowType().fields().size(); i++) {
                        if (rows.rowType().parent(i) < 0) {
                            cells.add(cell(rows.row().get(i)));
                        }
                    }
                    lines.add(String.join(" | ", cells));
                }
            }
            if (!planned.isOrdered()) {
                lines.sort(null);
            }
        } catch (InvalidRequestException e) {
            lines.clear();
            lines.addAll(
                    ("! " + e.getMessage()).lines().map(String::stripTrailing).toList());
        }
        return lines;
    }

    private static String cell(@Nullable Object value) {
        return value instanceof String text ? "'" + text + "'" : String.valueOf(value);
    }

    @TestFactory
    Stream<DynamicTest> statements_give_what_is_expected() throws IOException {
        String target = System.getProperty("sql.corpus.write");
        List<Entry> entries = entries();
        if (target != null) {
            StringBuilder text = new StringBuilder();
            for (Entry entry : entries) {
                text.append(entry.comment());
                entry.statement()
                        .lines()
                        .forEach(l -> text.append("> ").append(l).append('\n'));
                answer(entry.statement()).forEach(l -> text.append(l).append('\n'));
                text.append('\n');
            }
            Files.writeString(Path.of(target), text);
        }
        return entries.stream()
                .map(entry -> DynamicTest.dynamicTest(entry.statement(), () -> {
                    assertThat(answer(entry.statement()))
                            .as(entry.statement())
                            .isEqualTo(entry.lines());
                    assertThat(people.people.openCount).hasValue(0);
                    assertThat(people.cities.openCount).hasValue(0);
                }));
    }
}
