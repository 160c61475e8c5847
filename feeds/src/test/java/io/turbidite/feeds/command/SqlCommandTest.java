package io.turbidite.feeds.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.command.Command.Result;
import io.turbidite.feeds.command.common.Interrupts;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

class SqlCommandTest {
    @TempDir
    private static Path directory;

    private static Path store = Path.of("");

    @BeforeAll
    static void load() throws IOException {
        store = Command.load(directory);
    }

    private static Result sql(Object... options) {
        List<Object> args = new ArrayList<>(List.of("sql", store));
        args.addAll(List.of(options));
        return Command.run(args.toArray());
    }

    private static String rows(Object... options) {
        Result result = sql(options);
        assertThat(result.err()).isEmpty();
        assertThat(result.code()).isZero();
        return result.out();
    }

    @Test
    void rows_are_an_aligned_table() {
        assertThat(rows("select tail, count(*) as n, sum(delay) as d from Trips group by tail"))
                .isEqualTo("""
                        tail  n   d
                        ----  -  --
                        null  1   0
                        N1    2  -5
                        N2    1  10
                        """);
    }

    @Test
    void nothing_in_a_table_moves_the_cursor() {
        assertThat(rows("select 'a\u009b31mb\u001b[0m' as \"c\u0007d\" from Trips limit 1"))
                .isEqualTo("c d\n----------\na 31mb [0m\n");
    }

    @Test
    void a_table_of_more_rows_than_are_measured_is_whole() {
        String five = "select a.number from Trips a, Trips b, Trips c, Trips d, Trips e";
        assertThat(rows(five).lines()).hasSize(2 + 1_024);
    }

    @Test
    void rows_are_json_or_csv_where_that_is_asked_for() {
        String statement = "select note, place from Trips where number = 2";
        assertThat(rows(statement, "--json"))
                .isEqualTo("{\"note\":\"Late bird\",\"place\":[2.0,2.0]}\n");
        assertThat(rows(statement, "--csv")).isEqualTo("note,place\r\nLate bird,\"[2.0,2.0]\"\r\n");
    }

    @Test
    void a_statement_is_read_from_a_file() throws IOException {
        Path file = directory.resolve("count.sql");
        Files.writeString(file, "select count(*) as n\nfrom Trips -- all of them\n;\n");
        assertThat(rows("--file", file)).isEqualTo("n\n-\n4\n");
        assertThat(sql("select 1", "-f", file).code()).isEqualTo(2);
        assertThat(sql().code()).isEqualTo(2);
    }

    @Test
    void statements_of_a_file_or_of_the_input_run_in_turn_until_one_fails() throws IOException {
        Path file = directory.resolve("two.sql");
        Files.writeString(file, """
                -- a comment; with a semicolon
                select count(*) as n from Trips;;
                select 'a;b' as "c;d" /* ; */ from Trips limit 1;
                select nte from Trips;
                select 4 as never
                """);
        Result result = sql("-f", file, "--csv");
        assertThat(result.code()).isEqualTo(2);
        assertThat(result.out()).isEqualTo("n\r\n4\r\nc;d\r\na;b\r\n");
        assertThat(result.err())
                .startsWith("turbidite: line 4, column 8: there is no column 'nte'");
        Result piped = Command.runPiped("select 1 as a;\nselect 2\n as b", "sql", store, "--csv");
        assertThat(piped.out()).isEqualTo("a\r\n1\r\nb\r\n2\r\n");
        assertThat(piped.code()).isZero();
        assertThat(Command.runPiped(" -- nothing\n;", "sql", store).err())
                .contains("give a statement");
    }

    @Test
    void a_script_that_ends_at_an_error_says_what_ran_and_that_the_rest_did_not() {
        String script =
                "select 1 as a;\n-- next\nselect 2 as b;\nselect\n nte from Trips;\nselect 3";
        Result syntax = Command.runPiped(script, "sql", store);
        assertThat(syntax.code()).isEqualTo(2);
        assertThat(syntax.errLines().getLast())
                .isEqualTo(
                        "turbidite: ended at the statement of line 4; 2 statements ran before it, the rest was not run");
        Result running = Command.runPiped(
                "-- this one fails while it runs\nselect 1 / (number - 1) as n from Trips; select 2",
                "sql",
                store);
        assertThat(running.errLines().getFirst()).startsWith("turbidite: ").contains("zero");
        assertThat(running.errLines().getLast())
                .isEqualTo(
                        "turbidite: ended at the statement of line 2; none ran before it, the rest was not run");
        assertThat(Command.runPiped("select 1 as a; select nte from Trips", "sql", store)
                        .errLines()
                        .getLast())
                .isEqualTo(
                        "turbidite: ended at the statement of line 1; 1 statement ran before it");
        assertThat(Command.runPiped("select nte from Trips", "sql", store).errLines())
                .hasSize(3);
    }

    /** The bugs: such a script was "too long", a mark of order refused, a wrong byte changed. */
    @Test
    void long_scripts_marks_of_byte_order_and_other_encodings() throws IOException {
        String lines = "\n".repeat(1_100_000);
        Result far =
                Command.runPiped(lines + "select 1 as a;\nselect nte from Trips", "sql", store);
        assertThat(far.out()).isEqualTo("a\n-\n1\n");
        assertThat(far.err())
                .contains("lines are counted from line 1100002, where the statement begins")
                .contains("turbidite: line 1, column 8: there is no column 'nte'");
        assertThat(Command.runPiped("\ufeffselect 1 as a", "sql", store).out())
                .isEqualTo("a\n-\n1\n");
        byte[] latin = "select 'caf\u00e9' as c".getBytes(StandardCharsets.ISO_8859_1);
        Path file = Files.write(directory.resolve("latin.sql"), latin);
        for (Result refused : List.of(
                sql("-f", file),
                Command.run(
                        new ByteArrayInputStream(latin),
                        Path.of(""),
                        false,
                        Interrupts.none(),
                        new Object[] {"sql", store}))) {
            assertThat(refused.code()).isEqualTo(2);
            assertThat(refused.out()).isEmpty();
            assertThat(refused.err()).contains("not UTF-8");
        }
    }

    @Test
    void a_definition_where_there_is_no_store_is_told_what_makes_one() {
        Path none = directory.resolve("none");
        Result result = Command.run("sql", none, "create dataset T (id int64, primary key (id))");
        assertThat(result.code()).isEqualTo(2);
        assertThat(result.err())
                .contains("none does not exist; ./turbidite dataset create and run make a store");
        assertThat(none).doesNotExist();
    }

    @Test
    void planning_has_a_limit() {
        String text = "select " + ("number" + " + 2".repeat(150) + ", ").repeat(100)
                + "number from Trips";
        Result refused = sql(text, "--planning-millis", "1");
        assertThat(refused.code()).isEqualTo(2);
        assertThat(refused.err()).contains("takes more than 0.001 s to plan");
        assertThat(Command.runPiped(text, "sql", store, "--planning-millis=1").err())
                .contains("takes more than 0.001 s to plan");
        assertThat(sql("select 1", "--planning-millis", "0").err())
                .contains("--planning-millis is at least 1, not 0");
        assertThat(rows("select 1 as a", "--planning-millis", "600000", "--csv"))
                .isEqualTo("a\r\n1\r\n");
    }

    @Test
    void an_explanation_as_json_is_one_line() {
        assertThat(rows("explain as json select note from Trips where tail = 'N1'"))
                .startsWith("{\"dataset\":\"Trips\"")
                .contains("by_tail")
                .hasLineCount(1);
    }

    @Test
    void explain_shows_that_an_index_is_used() {
        assertThat(rows("explain select note from Trips where tail = 'N1'")).contains("by_tail");
        assertThat(rows("explain analyze select number from Trips where tail = 'N1'", "--json"))
                .contains("\"actual\":2");
    }

    @Test
    void a_mistake_is_told_with_its_place_in_a_few_lines() {
        Result result = sql("select nte from Trips");
        assertThat(result.code()).isEqualTo(2);
        assertThat(result.out()).isEmpty();
        assertThat(result.errLines())
                .containsExactly(
                        "turbidite: line 1, column 8: there is no column 'nte'; is 'note' meant? (behind its table, t.nte reads an open field)",
                        "  select nte from Trips",
                        "         ^");
    }

    @Test
    void a_process_that_asks_nothing_in_sql_loads_no_class_of_it()
            throws IOException, InterruptedException {
        Path log = directory.resolve("classes.log");
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xlog:class+load:file=" + log,
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        Objects.requireNonNull(System.getProperty("java.class.path")),
                        Main.class.getName(),
                        "query",
                        store.toString(),
                        "Trips",
                        "--count")
                .redirectErrorStream(true)
                .start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(out).isZero();
        assertThat(out).contains("{\"count\":4}");
        assertThat(Files.readString(log))
                .contains("io.turbidite.ops.Query ")
                .doesNotContain("org.apache.calcite")
                .doesNotContain("io.turbidite.ops.sql.");
    }
}
