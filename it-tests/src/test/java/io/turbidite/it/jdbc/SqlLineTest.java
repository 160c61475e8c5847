package io.turbidite.it.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import sqlline.SqlLine;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Pattern;

/** Sqlline 1.12.0, as it is, over a store. */
class SqlLineTest {
    /** What a terminal is told, and blanks at the ends of lines. */
    private static final Pattern NOT_SHOWN =
            Pattern.compile("\u001b\\[[?0-9;]*[a-zA-Z]|[ \t]+$", Pattern.MULTILINE);

    @TempDir
    private Path directory;

    private Path store;

    @BeforeEach
    void a_store() {
        store = directory.resolve("store");
        try (Store made = Store.open(store)) {
            Dataset pets = made.createDataset(DatasetSpec.named("Pets")
                    .field("id", "int64")
                    .field("name", "string?")
                    .field("kilos", "double?")
                    .primaryKey("id")
                    .index(IndexSpec.btree("by_name", "name")));
            pets.upsert(Map.of("id", 1L, "name", "Rex", "kilos", 31.5));
            pets.upsert(Map.of("id", 2L, "name", "Mia"));
        }
    }

    /** Types a script into the shell; all that it prints. */
    private String typed(String script) throws IOException {
        Path file = Files.writeString(directory.resolve("script.sql"), script);
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        SqlLine shell = new SqlLine();
        try (PrintStream out = new PrintStream(printed, true, StandardCharsets.UTF_8)) {
            shell.setOutputStream(out);
            shell.setErrorStream(out);
            var _ = shell.begin(
                    new String[] {
                        "-u",
                        "jdbc:turbidite:" + store,
                        "-n",
                        "",
                        "-p",
                        "",
                        "--silent=true",
                        "--color=false",
                        "--maxWidth=400",
                        "--run=" + file
                    },
                    InputStream.nullInputStream(),
                    false);
        }
        return NOT_SHOWN.matcher(printed.toString(StandardCharsets.UTF_8)).replaceAll("");
    }

    @Test
    void it_describes_the_store() throws IOException {
        assertThat(typed("!tables\n")).contains("| Pets       | TABLE ");
        assertThat(typed("!describe Pets\n!columns Pets\n"))
                .contains(
                        "| id          |",
                        "| name        |",
                        "| kilos       |",
                        "BIGINT",
                        "DOUBLE");
        assertThat(typed("!primarykeys Pets\n")).contains("| Pets       | id          | 1 ");
        assertThat(typed("!indexes Pets\n")).contains("by_name", "primary", "btree");
        assertThat(typed("!importedkeys Pets\n!exportedkeys Pets\n!procedures\n"))
                .doesNotContain("Error", "no such method");
    }

    @Test
    void it_shows_rows_in_its_formats() throws IOException {
        String select = "select id, name, kilos from Pets order by id;\n";
        assertThat(typed(select)).contains("""
                +----+------+-------+
                | id | name | kilos |
                +----+------+-------+
                | 1  | Rex  | 31.5  |
                | 2  | Mia  | null  |
                +----+------+-------+
                """);
        assertThat(typed("!set outputformat csv\n" + select)).contains("""
                'id','name','kilos'
                '1','Rex','31.5'
                """);
        assertThat(typed("!set outputformat json\n" + select))
                .contains("{\"id\":1,\"name\":\"Rex\",\"kilos\":31.5}");
        assertThat(typed("!set outputformat vertical\n" + select)).contains("name   Rex");
    }

    @Test
    void changes_are_there_for_the_next_session_and_an_error_has_its_place() throws IOException {
        assertThat(typed("""
                        insert into Pets (id, name) values (3, 'Tom');
                        select nosuch from Pets;
                        select count(*) as n from Pets;
                        """))
                .contains("Error: line 1, column 8: there is no column 'nosuch'", "(state=42000");
        assertThat(typed("select count(*) as n from Pets;\n")).contains("| 3 |");
    }
}
