package io.turbidite.feeds.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.command.Command.Result;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Path;

class GetCommandTest {
    @TempDir
    private static Path directory;

    private static Path store = Path.of("");

    @BeforeAll
    static void load() throws IOException {
        store = Command.load(directory);
    }

    @Test
    void a_negative_key_is_a_key_wherever_options_stand() {
        String wanted = "{\"id\":-5,\"extra\":[1,2]}\n";
        for (Object[] args : new Object[][] {
            {"get", store, "Numbers", "-5"},
            {"get", store, "Numbers", "-5", "--json"},
            {"get", "--json", store, "Numbers", "-5"},
            {"get", store, "Numbers", "--", "-5"},
        }) {
            Result result = Command.run(args);
            assertThat(result.err()).isEmpty();
            assertThat(result.out()).isEqualTo(wanted);
            assertThat(result.code()).isZero();
        }
    }

    @Test
    void a_key_of_several_fields_is_a_json_array() {
        assertThat(Command.run("get", store, "Trips", "[\"UA\",-3]")
                        .json()
                        .path("note")
                        .asText())
                .isEqualTo("no delay known");
        assertThat(Command.run("get", store, "Trips", " [\"UA\", \"2\"] ").code())
                .isZero();
    }

    @Test
    void no_record_is_a_failure_without_output() {
        Result result = Command.run("get", store, "Numbers", "8");
        assertThat(result.code()).isEqualTo(1);
        assertThat(result.out()).isEmpty();
        assertThat(result.errLines()).hasSize(1);
        assertThat(result.err()).contains("Numbers has no record with key 8");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "UA",
                "[\"UA\"]",
                "[\"UA\",1,2]",
                "[\"UA\",null]",
                "[\"UA\",\"x\"]",
                "[\"UA\",1] 2",
                "[\"UA\",1.5]",
                "{}",
                ""
            })
    void a_key_that_is_none_is_refused(String key) {
        Result result = Command.run("get", store, "Trips", key);
        assertThat(result.code()).as(result.err()).isEqualTo(2);
        assertThat(result.errLines()).hasSizeBetween(1, 2);
        assertThat(result.err()).contains("KEY").doesNotContain("internal error");
    }

    @Test
    void a_key_of_the_wrong_type_names_field_and_type() {
        assertThat(Command.run("get", store, "Numbers", "x").err()).contains("id", "'x'", "int64");
        assertThat(Command.run("get", store, "Numbers", "x").code()).isEqualTo(2);
    }

    @Test
    void an_unknown_dataset_is_refused() {
        assertThat(Command.run("get", store, "Nothing", "1").code()).isEqualTo(2);
    }
}
