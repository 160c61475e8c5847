package io.turbidite.feeds.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.command.Command.Result;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Records put and deleted by hand, and components merged. */
class PutCommandTest {
    @TempDir
    private Path directory;

    private Path store = Path.of("");

    @BeforeEach
    void load() throws IOException {
        store = Command.load(directory);
    }

    private String get(Object key) {
        return Command.run("get", store, "Numbers", key).out().strip();
    }

    @Test
    void records_are_put_from_arguments_and_lines() {
        Result result = Command.run(
                "put", store, "Numbers", "{\"id\":8,\"a\":1}", "{\"id\":-5,\"extra\":\"ä\"}");
        assertThat(result.err()).isEmpty();
        assertThat(result.out()).isEqualTo("2 records put into Numbers\n");
        assertThat(get(8)).isEqualTo("{\"id\":8,\"a\":1}");
        assertThat(get(-5)).isEqualTo("{\"id\":-5,\"extra\":\"ä\"}");

        StringBuilder lines = new StringBuilder("\n");
        for (int i = 100; i < 2_600; i++) {
            lines.append("{\"id\":%d}\r\n \n".formatted(i));
        }
        result = Command.runPiped(lines + "{\"id\":99}", "put", store, "Numbers", "--json");
        assertThat(result.err()).isEmpty();
        assertThat(result.json().path("put").asInt()).isEqualTo(2_501);
        assertThat(get(99)).isEqualTo("{\"id\":99}");
        assertThat(get(2_599)).isEqualTo("{\"id\":2599}");
        assertThat(Command.runPiped("", "put", store, "Numbers").out())
                .isEqualTo("0 records put into Numbers\n");
    }

    @Test
    void the_first_wrong_record_is_named_and_those_before_it_are_put() {
        Result result = Command.runPiped(
                "{\"id\":20}\n\n{\"id\":21}\n{\"id\":\"x\"}\n{\"id\":22}\n",
                "put",
                store,
                "Numbers");
        assertThat(result.code()).isEqualTo(2);
        assertThat(result.err()).contains("line 4").contains("id");
        assertThat(result.out()).isEqualTo("2 records put into Numbers\n");
        assertThat(get(21)).isEqualTo("{\"id\":21}");
        assertThat(get(22)).isEmpty();

        result = Command.runPiped("{\"id\":30}\n{\"id\":7}\n", "put", store, "Numbers", "--insert");
        assertThat(result.code()).isNotZero();
        assertThat(result.err()).contains("7");
        assertThat(result.out()).isEqualTo("1 record put into Numbers\n");
        assertThat(get(30)).isEqualTo("{\"id\":30}");

        for (String wrong : new String[] {"[1]", "{\"id\":1", "{}", "x", "{\"id\":1} {\"id\":2}"}) {
            result = Command.run("put", store, "Numbers", wrong);
            assertThat(result.code()).as(wrong).isEqualTo(2);
            assertThat(result.err()).contains("record 1").doesNotContain("internal");
        }
        assertThat(Command.run("put", store, "Nobody", "{}").err())
                .contains("there is no dataset 'Nobody'");
        assertThat(Command.run("put", store, "_feeds", "{}").err()).contains("the store's own");
        assertThat(Command.run("put", directory.resolve("none"), "Numbers", "{}")
                        .code())
                .isEqualTo(2);
    }

    @Test
    void wrong_json_is_told_in_plain_words_and_a_file_is_no_record() throws IOException {
        Result result =
                Command.runPiped("{\"id\":20}\n{\"id\":21,\"a\":x}\n", "put", store, "Numbers");
        assertThat(result.errLines())
                .containsExactly(
                        "turbidite: line 2: the text is not a JSON object at byte 13: 'x' is no value of JSON; text stands in double quotes");
        Path file = Files.writeString(directory.resolve("two words.ndjson"), "{\"id\":1}\n");
        result = Command.run("put", store, "Numbers", file);
        assertThat(result.code()).isEqualTo(2);
        assertThat(result.errLines())
                .containsExactly(
                        "turbidite: %s is a file, and put takes records: ./turbidite import %s Numbers '%s' puts those of a file"
                                .formatted(file, store, file));
    }

    @Test
    void a_line_whose_key_is_taken_in_a_unique_index_is_named() {
        Command.run("index", "create", store, "Trips", "once", "--on", "tail,number", "--unique");
        Result result = Command.runPiped(
                trip(1, "N8") + trip(2, "N2") + trip(3, "N7"), "put", store, "Trips");
        assertThat(result.code()).isEqualTo(2);
        assertThat(result.err()).contains("line 2").contains("unique");
        assertThat(result.out()).isEqualTo("1 record put into Trips\n");
        assertThat(Command.run("get", store, "Trips", "[\"BB\",1]").code()).isZero();
        assertThat(Command.run("get", store, "Trips", "[\"BB\",3]").code()).isNotZero();
    }

    private static String trip(int number, String tail) {
        return """
                {"carrier":"BB","number":%d,"day":"2013-07-04","at":"2013-07-04T10:00:00Z",\
                "tail":"%s","note":"","x":0,"y":0}
                """.formatted(number, tail);
    }

    @Test
    void records_are_deleted_by_key() {
        Result result = Command.run("delete", store, "Numbers", "-5", "7");
        assertThat(result.err()).isEmpty();
        assertThat(result.out()).isEqualTo("2 records deleted from Numbers\n");
        assertThat(get(7)).isEmpty();
        result = Command.run("delete", store, "Trips", "[\"UA\",1]", "[\"UA\",9]", "--json");
        assertThat(result.code()).isEqualTo(1);
        assertThat(result.json().path("deleted").asInt()).isEqualTo(1);
        assertThat(result.err()).contains("Trips has no record with key [\"UA\",9]");
        result = Command.run("delete", store, "Trips", "[\"UA\",2]", "UA");
        assertThat(result.code()).isEqualTo(2);
        assertThat(Command.run("get", store, "Trips", "[\"UA\",2]").code()).isZero();
        assertThat(Command.run("delete", store, "Trips").code()).isEqualTo(2);
    }

    @Test
    void a_flush_says_when_there_is_nothing_to_flush() {
        Command.run("put", store, "Numbers", "{\"id\":8}");
        Result result = Command.run("flush", store, "Numbers");
        assertThat(result.out()).startsWith("Numbers: ").endsWith(" KiB flushed\n");
        result = Command.run("flush", store, "Numbers");
        assertThat(result.out()).isEqualTo("Numbers: nothing to flush\n");
        result = Command.run("flush", store, "Numbers", "--json");
        assertThat(result.json().path("bytes").asInt(-1)).isZero();
    }

    @Test
    void components_are_merged() {
        Command.run("put", store, "Numbers", "{\"id\":8}");
        Result result = Command.run("merge", store, "Numbers", "--flush-only", "--json");
        assertThat(result.err()).isEmpty();
        assertThat(result.json().path("components").asInt()).isPositive();
        Command.run("put", store, "Numbers", "{\"id\":9}");
        result = Command.run("merge", store, "--json");
        assertThat(result.outLines()).hasSizeGreaterThanOrEqualTo(2);
        result = Command.run("merge", store, "Numbers", "--json");
        assertThat(result.json().path("components").asInt()).isEqualTo(1);
        assertThat(get(9)).isEqualTo("{\"id\":9}");
        assertThat(Command.run("verify", store).code()).isZero();
    }
}
