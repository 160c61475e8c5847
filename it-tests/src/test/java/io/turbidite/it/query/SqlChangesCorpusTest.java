package io.turbidite.it.query;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.log.Durability;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.catalog.StoreCatalog;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.sql.Sql;
import io.turbidite.ops.sql.SqlStatement;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * The statements of {@code changes.txt}, one after the other on one store, each with what it gives.
 * With {@code -Dsql.changes.write=FILE} the file is written anew, to be read by a person.
 */
class SqlChangesCorpusTest {
    private static final String FILE = "changes.txt";

    @TempDir
    private Path directory = Path.of("");

    private record Entry(String comments, String statement, List<String> lines) {}

    private static List<Entry> entries() throws IOException {
        List<Entry> entries = new ArrayList<>();
        try (InputStream in = SqlChangesCorpusTest.class.getResourceAsStream(FILE)) {
            String text = new String(
                    Objects.requireNonNull(in, FILE).readAllBytes(), StandardCharsets.UTF_8);
            for (String part : text.split("\n\n", -1)) {
                StringBuilder comments = new StringBuilder();
                List<String> statement = new ArrayList<>();
                List<String> expected = new ArrayList<>();
                for (String line : part.lines().toList()) {
                    if (line.startsWith("#")) {
                        comments.append(line).append('\n');
                    } else if (line.startsWith("> ")) {
                        statement.add(line.substring(2));
                    } else {
                        expected.add(line);
                    }
                }
                if (!statement.isEmpty()) {
                    entries.add(
                            new Entry(comments.toString(), String.join("\n", statement), expected));
                }
            }
        }
        return entries;
    }

    private static List<String> answer(Store store, String text) {
        List<String> lines = new ArrayList<>();
        try {
            SqlStatement statement = Sql.on(StoreCatalog.of(store, false)).statement(text);
            if (statement.explains()) {
                statement
                        .explanation(RunOptions.defaults())
                        .toString()
                        .lines()
                        .map(String::stripTrailing)
                        .forEach(lines::add);
            } else if (statement.givesRows()) {
                try (QueryResult rows = statement.run()) {
                    rows.toList().forEach(row -> lines.add(line(row.values())));
                }
                if (!statement.isOrdered()) {
                    lines.sort(null);
                }
            } else {
                long count = statement.execute();
                assertThat(statement.changedCount()).isEqualTo(count);
                lines.add(count + " changed");
            }
        } catch (InvalidRequestException e) {
            lines.clear();
            ("! " + e.getMessage()).lines().map(String::stripTrailing).forEach(lines::add);
        }
        return lines;
    }

    private static String line(Iterable<? extends @Nullable Object> values) {
        List<String> cells = new ArrayList<>();
        for (Object value : values) {
            cells.add(value instanceof String text ? "'" + text + "'" : String.valueOf(value));
        }
        return String.join(" | ", cells);
    }

    @Test
    void statements_give_what_is_expected() throws IOException {
        String target = System.getProperty("sql.changes.write");
        StringBuilder written = new StringBuilder();
        List<String> expected = new ArrayList<>();
        List<String> found = new ArrayList<>();
        try (Store store = Store.open(
                directory, StoreOptions.defaults().withDurability(Durability.BUFFERED))) {
            for (Entry entry : entries()) {
                List<String> lines = answer(store, entry.statement());
                written.append(entry.comments());
                entry.statement()
                        .lines()
                        .forEach(line -> written.append("> ").append(line).append('\n'));
                lines.forEach(line -> written.append(line).append('\n'));
                written.append('\n');
                expected.add(entry.statement() + "\n" + String.join("\n", entry.lines()));
                found.add(entry.statement() + "\n" + String.join("\n", lines));
            }
            assertThat(store.verify().errors()).isEmpty();
        }
        if (target != null) {
            Files.writeString(Path.of(target), written);
        }
        assertThat(found).isEqualTo(expected);
    }
}
