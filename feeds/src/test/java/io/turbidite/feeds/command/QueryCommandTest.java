package io.turbidite.feeds.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.command.Command.Result;
import io.turbidite.feeds.command.common.Interrupts;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

class QueryCommandTest {
    @TempDir
    private static Path directory;

    private static Path store = Path.of("");

    @BeforeAll
    static void load() throws IOException {
        store = Command.load(directory);
    }

    private static Result query(String... options) {
        List<Object> args = new ArrayList<>(List.of("query", store, "Trips"));
        args.addAll(List.of(options));
        return Command.run(args.toArray());
    }

    private static String rows(String... options) {
        Result result = query(options);
        assertThat(result.err()).isEmpty();
        assertThat(result.code()).isZero();
        return result.out();
    }

    /** How many match, asked as a count. */
    private static void assertCount(int count, String... options) {
        List<String> all = new ArrayList<>(List.of(options));
        all.add("--count");
        assertThat(rows(all.toArray(String[]::new))).isEqualTo("{\"count\":%d}\n".formatted(count));
    }

    @Test
    void rows_are_json_objects_a_line_with_values_as_designed() {
        assertThat(rows("--eq", "carrier=AA"))
                .isEqualTo("{\"carrier\":\"AA\",\"number\":1,\"day\":\"2013-07-05\","
                        + "\"at\":\"2013-07-05T11:30:00.250Z\",\"tail\":null,\"delay\":0,"
                        + "\"note\":\"on time\",\"x\":-3.0,\"y\":-4.0,\"place\":[-3.0,-4.0]}\n");
    }

    @Test
    void json_changes_nothing_about_rows() {
        assertThat(rows("--eq", "tail=N1", "--order", "number", "--json"))
                .isEqualTo(rows("--eq", "tail=N1", "--order", "number"));
    }

    @Test
    void negative_numbers_are_values() {
        assertCount(1, "--eq", "number=-3");
        assertCount(1, "--where", "number = -3");
        assertCount(2, "--where", "tail = 'N1'", "--where", "number < 0 or number in (1, 2)");
        assertCount(1, "--where", "tail = 'N1' and delay is null");
        assertCount(1, "--eq=delay=-5");
        assertCount(1, "--range", "x=-10..-1");
        assertCount(1, "--range", "delay=-5..-5");
        assertCount(1, "--within", "place=-4,-5,-2,-3");
    }

    @Test
    void null_alone_matches_null_and_missing() {
        assertCount(1, "--eq", "tail=null");
        assertCount(1, "--eq", "delay=null");
        assertCount(0, "--eq", "note=null");
    }

    @Test
    void ranges_include_their_ends_and_either_may_be_empty() {
        assertCount(2, "--range", "at=2013-07-04T10:00:00Z..2013-07-04T11:00:00Z");
        assertCount(2, "--range", "day=2013-07-05..");
        assertCount(2, "--range", "day=..2013-07-04");
        assertCount(4, "--range", "day=..");
        assertCount(3, "--range", "delay=..");
        assertCount(2, "--range", "at=2013-07-05T00:00:00+02:00..");
        assertCount(0, "--range", "delay=5..4");
    }

    @Test
    void strict_bounds_do_not_include_their_value() {
        assertCount(1, "--above", "at=2013-07-04T10:00:00Z", "--below", "at=2013-07-04T11:00:01Z");
        assertCount(1, "--above", "delay=0");
        assertCount(1, "--below", "delay=0");
        assertCount(1, "--below", "number=-2");
        assertCount(0, "--above", "number=1", "--below", "number=2");
    }

    @Test
    void a_range_is_split_at_the_first_dots() {
        assertCount(1, "--range", "note=Early..Earlz..");
        assertCount(0, "--range", "note=Early bird..Early");
    }

    @Test
    void windows_include_their_borders() {
        assertCount(2, "--within", "place=1,1,2,2");
        assertCount(1, "--within", "place=1.5,1.5,2,2");
    }

    @Test
    void distances_include_the_circle() {
        assertCount(2, "--distance", "place=2,1,1");
        assertCount(1, "--distance", "place=2,1,1", "--within", "place=2,2,3,3");
        assertCount(0, "--distance", "place=2,1,0.999");
    }

    @Test
    void the_nearest_come_first() {
        assertThat(rows("--near", "place=2,1.9", "--limit", "9", "--select", "place"))
                .isEqualTo(
                        "{\"place\":[2.0,2.0]}\n{\"place\":[1.0,1.0]}\n{\"place\":[-3.0,-4.0]}\n{\"place\":[11.0,2.0]}\n");
        assertThat(rows("--near", "place=2,1.9", "--limit", "1", "--select", "place"))
                .isEqualTo("{\"place\":[2.0,2.0]}\n");
    }

    @Test
    void words_match_in_any_order_and_case() {
        assertCount(2, "--contains", "note=BIRD");
        assertCount(1, "--contains", "note=bird late");
        assertCount(0, "--contains", "note=bir");
    }

    @Test
    void predicates_are_anded_also_of_one_kind() {
        assertCount(1, "--eq", "tail=N1", "--eq", "carrier=UA", "--range", "number=0..");
        assertCount(1, "--range", "number=1..5", "--range", "number=2..9");
    }

    @Test
    void rows_are_selected_ordered_and_limited() {
        assertThat(rows("--select", "number,carrier", "--order", "delay:desc", "--limit", "2"))
                .isEqualTo(
                        "{\"number\":2,\"carrier\":\"UA\"}\n{\"number\":1,\"carrier\":\"AA\"}\n");
        assertThat(rows("--select", "delay", "--order", "delay"))
                .isEqualTo("{\"delay\":null}\n{\"delay\":-5}\n{\"delay\":0}\n{\"delay\":10}\n");
        assertThat(rows("--select", "number", "--order", "carrier,number:desc"))
                .isEqualTo("{\"number\":1}\n{\"number\":2}\n{\"number\":1}\n{\"number\":-3}\n");
        assertThat(rows("--limit", "0")).isEmpty();
    }

    @Test
    void groups_and_cells_have_counts() {
        assertThat(rows("--group", "tail"))
                .isEqualTo(
                        "{\"tail\":null,\"count\":1}\n{\"tail\":\"N1\",\"count\":2}\n{\"tail\":\"N2\",\"count\":1}\n");
        assertThat(rows("--group", "carrier,tail", "--order", "count:desc", "--limit", "1"))
                .isEqualTo("{\"carrier\":\"UA\",\"tail\":\"N1\",\"count\":2}\n");
        assertThat(rows("--group-cell", "place=10,10"))
                .contains("{\"cell\":[0.0,0.0,10.0,10.0],\"count\":2}\n")
                .contains("{\"cell\":[-10.0,-10.0,0.0,0.0],\"count\":1}\n");
        assertThat(rows("--group-cell", "place=1,1", "--within", "place=0.5,0.5,3,3"))
                .contains("{\"cell\":[0.5,0.5,1.5,1.5],\"count\":1}\n");
    }

    @Test
    void groups_and_all_records_have_aggregates() {
        assertThat(rows(
                        "--group",
                        "carrier",
                        "--count",
                        "--sum",
                        "delay,number",
                        "--avg",
                        "delay",
                        "--min",
                        "tail",
                        "--max",
                        "at",
                        "--count-values",
                        "tail",
                        "--count-distinct",
                        "number",
                        "--order",
                        "sum_delay:desc",
                        "--limit",
                        "1"))
                .isEqualTo(
                        "{\"carrier\":\"UA\",\"count\":3,\"count_tail\":3,\"count_distinct_number\":3,"
                                + "\"sum_delay\":5,\"sum_number\":0,\"avg_delay\":2.5,\"min_tail\":\"N1\","
                                + "\"max_at\":\"2013-07-05T10:00:00Z\"}\n");
        assertThat(rows("--var", "number", "--stddev", "number", "--eq", "carrier=AA"))
                .isEqualTo("{\"var_number\":null,\"stddev_number\":null}\n");
    }

    @Test
    void values_are_worked_out() {
        assertThat(rows(
                        "--select",
                        "number,substring(carrier, 1, 1) as c,delay + 1 as d",
                        "--order",
                        "number",
                        "--limit",
                        "2"))
                .isEqualTo(
                        "{\"number\":-3,\"c\":\"U\",\"d\":null}\n{\"number\":1,\"c\":\"A\",\"d\":1}\n");
        assertThat(rows("--sum", "number * 2 as twice,delay", "--max", "concat(carrier, ',') as c"))
                .isEqualTo("{\"twice\":2,\"sum_delay\":5,\"c\":\"UA,\"}\n");
        Result wrong = query("--select", "number + 1");
        assertThat(wrong.code()).isEqualTo(2);
        assertThat(wrong.err()).contains("needs a name");
    }

    @Test
    void rows_are_csv_if_that_is_asked_for() {
        assertThat(rows(
                        "--csv",
                        "--select",
                        "number, tail,note ,place, at as moment",
                        "--order",
                        "number",
                        "--eq",
                        "carrier=AA"))
                .isEqualTo(
                        "number,tail,note,place,moment\r\n1,,on time,\"[-3.0,-4.0]\",2013-07-05T11:30:00.250Z\r\n");
        assertThat(rows("--csv", "--group", "carrier", "--sum", "delay", "--limit", "1"))
                .isEqualTo("carrier,sum_delay\r\nAA,0\r\n");
        assertThat(rows(
                        "--csv",
                        "--select",
                        "number,concat(carrier, ', \"x\"') as c,'' as e",
                        "--eq",
                        "carrier=AA"))
                .isEqualTo("number,c,e\r\n1,\"AA, \"\"x\"\"\",\"\"\r\n");
    }

    @Test
    void an_explanation_goes_to_standard_error_with_both_row_counts() {
        Result text = query("--eq", "tail=N1", "--explain");
        assertThat(text.code()).isZero();
        assertThat(text.outLines()).hasSize(2);
        assertThat(text.err()).contains("estimated", "actual", "considered", "by_tail");

        Result json = query("--eq", "tail=N1", "--explain", "--json");
        assertThat(json.outLines()).hasSize(2);
        assertThat(json.errLines()).hasSize(1);
        var explanation = Command.parse(json.err());
        assertThat(explanation.path("dataset").asText()).isEqualTo("Trips");
        assertThat(explanation.path("access").asText()).isNotEmpty();
        assertThat(explanation.path("operators").get(0).path("actual").asLong()).isEqualTo(2);
    }

    @Test
    void a_terminal_gets_a_line_of_statistics_aside() {
        Result result = Command.runIn(
                Path.of(""), true, Interrupts.none(), "query", store, "Trips", "--limit", "1");
        assertThat(result.outLines()).hasSize(1);
        assertThat(result.err()).startsWith("1 row in ").contains("scan");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--eq|colour=red|'colour'",
                "--eq|number=one|int32",
                "--eq|number=3000000000|int32",
                "--eq|number|is not of the form f=value",
                "--eq|day=2013-02-30|date",
                "--range|number=1|'..'",
                "--range|at=yesterday..|datetime",
                "--above|number|is not of the form f=value",
                "--below|at=yesterday|datetime",
                "--above|number=null|int32",
                "--within|place=1,2,3|4",
                "--within|note=1,2,3,4|note",
                "--within|place=3,3,1,1|min at most max",
                "--contains|number=x|number",
                "--select|colour|'colour'",
                "--select|note,note|twice",
                "--group|colour|'colour'",
                "--sum|note|sum takes numbers and durations; field 'note' is of type string",
                "--max|place|max takes values that have an order",
                "--avg|colour|'colour'",
                "--group-cell|note=1,1|note",
                "--group-cell|place=0,1|above 0",
                "--order|colour|'colour'",
                "--limit|-1|-1",
                "--limit|many|many",
                "--frobnicate|x|--frobnicate"
            })
    void a_wrong_question_is_refused_with_a_reason(String option, String value, String says) {
        Result result = query(option, value);
        assertThat(result.code()).as(result.err()).isEqualTo(2);
        assertThat(result.out()).isEmpty();
        assertThat(result.errLines()).hasSizeBetween(1, 2);
        assertThat(result.err()).contains(says).doesNotContain("\tat ", "internal error");
    }

    @Test
    void an_unknown_dataset_is_named_with_those_there_are() {
        Result result = Command.run("query", store, "Trip");
        assertThat(result.code()).isEqualTo(2);
        assertThat(result.err()).contains("'Trip'", "Trips", "Numbers");
        assertThat(result.errLines()).hasSizeBetween(1, 2);
    }

    @Test
    void a_reader_that_goes_away_ends_the_query_without_a_word() {
        OutputStream gone = new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                throw new IOException("Broken pipe");
            }
        };
        Path none = directory.resolve("err.txt");
        try (PrintStream err = new PrintStream(none.toFile(), StandardCharsets.UTF_8)) {
            int code = Main.run(
                    new String[] {"query", store.toString(), "Trips"},
                    new PrintStream(gone, false, StandardCharsets.UTF_8),
                    err);
            assertThat(code).isEqualTo(1);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        assertThat(none).isEmptyFile();
    }

    @Test
    void what_may_follow_a_field_in_an_order_is_told() {
        for (String order : List.of("number:up", "number:", "number:DESC")) {
            assertThat(query("--order", order).errLines())
                    .containsExactly(
                            "turbidite: order '%s' is wrong: only :asc or :desc can follow a field"
                                    .formatted(order));
        }
        assertThat(query("--group", "tail", "--order", "count:up").err())
                .contains("only :asc or :desc can follow");
    }

    @Test
    void one_partition_is_not_several() {
        assertThat(Command.run("query", store, "Numbers", "--explain").err())
                .contains("primary index, 1 partition")
                .doesNotContain("1 partitions");
    }

    @Test
    void nothing_is_created_where_no_store_is() throws IOException {
        Path missing = directory.resolve("missing");
        Path empty = Files.createDirectories(directory.resolve("empty"));
        for (Path path : List.of(missing, empty, directory, directory.resolve("trips.csv"))) {
            for (Result result : List.of(
                    Command.run("query", path, "Trips"),
                    Command.run("get", path, "Trips", "1"),
                    Command.run("inspect", path),
                    Command.run("verify", path))) {
                assertThat(result.code()).isEqualTo(2);
                assertThat(result.out()).isEmpty();
                assertThat(result.errLines()).hasSizeBetween(1, 2);
                assertThat(result.err()).contains(path.toString());
            }
        }
        assertThat(missing).doesNotExist();
        assertThat(empty).isEmptyDirectory();
    }
}
