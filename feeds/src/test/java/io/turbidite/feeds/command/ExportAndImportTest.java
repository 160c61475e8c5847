package io.turbidite.feeds.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.command.Command.Result;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Whole datasets go to files and come back. */
class ExportAndImportTest {
    private static final String FIELDS =
            "--key id --field id=int64 --field s=string --field o=string? --field b=bool?"
                    + " --field f=float? --field d=double? --field m=decimal? --field y=bytes?"
                    + " --field u=uuid? --field a=date? --field t=time? --field at=datetime?"
                    + " --field p=duration? --field xy=point? --field ll=point(lonlat)?"
                    + " --field r=rectangle? --field tags=[string]";

    private static final List<String> RECORDS = List.of(
            """
            {"id":1,"s":"","b":true,"f":0.1,"d":1.0E300,"m":12.50,"y":"AAEC","u":"123e4567-e89b-12d3-a456-426614174000",\
            "a":"2013-07-04","t":"10:15:30.25","at":"2013-07-04T10:15:30.000001Z","p":"PT1H30M","xy":[1.5,-2.0],\
            "ll":[-80.3,25.8],"r":[0.0,0.0,1.0,2.0],"tags":["a,b","\\"c\\"","ä\\n"]}""",
            "{\"id\":-9223372036854775808,\"s\":\" a;b, \\\"c\\\"\\r\\nd \",\"o\":null,\"d\":\"NaN\",\"tags\":[]}",
            "{\"id\":2,\"s\":\"null\",\"o\":\"x\",\"d\":\"-Infinity\",\"f\":-0.0,\"tags\":[\"\"]}");

    @TempDir
    private Path directory;

    private Path store = Path.of("");

    @BeforeEach
    void create() {
        store = directory.resolve("store");
        create("Every");
        create("Copy");
        for (String record : RECORDS) {
            assertThat(Command.run("put", store, "Every", record).err()).isEmpty();
        }
    }

    private void create(String dataset) {
        Object[] line =
                "dataset create %s %s %s".formatted(store, dataset, FIELDS).split(" ", -1);
        assertThat(Command.run(line).err()).isEmpty();
    }

    private String all(String dataset) {
        return Command.run("query", store, dataset, "--order", "id").out();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "e.ndjson",
                "e.jsonl",
                "e.csv",
                "e.txt --format csv --separator ;",
                "e --format ndjson"
            })
    void what_is_exported_is_imported_as_it_was(String line) throws IOException {
        String[] words = line.split(" ", -1);
        Path file = directory.resolve(words[0]);
        String options = line.substring(words[0].length());
        Result result = Command.run(
                (Object[]) ("export " + store + " Every " + file + options).split(" ", -1));
        assertThat(result.err()).isEmpty();
        assertThat(result.out()).isEqualTo("3 records of Every written to " + file + "\n");
        result = Command.run(
                (Object[]) ("import " + store + " Copy " + file + options).split(" ", -1));
        assertThat(result.err()).isEmpty();
        assertThat(result.out()).startsWith("3 records imported into Copy in ");
        // a field that is null and one that is missing are the same empty column
        String missing = all("Every").replace("\"o\":null,", "");
        assertThat(all("Copy").replaceAll("\"[a-z]+\":null,", "")).isEqualTo(missing);
        assertThat(directory.resolve(words[0] + ".partial")).doesNotExist();
        // what the import noted of its way is forgotten
        assertThat(Command.run("query", store, "_feeds", "--count").out())
                .isEqualTo("{\"count\":0}\n");
    }

    @Test
    void nothing_is_written_over() throws IOException {
        Path file = directory.resolve("e.csv");
        Files.writeString(file, "mine");
        Result result = Command.run("export", store, "Every", file);
        assertThat(result.code()).isEqualTo(2);
        assertThat(result.err()).contains("e.csv", "is there already", "nothing is written over");
        assertThat(file).hasContent("mine");
        Files.delete(file);
        Files.writeString(directory.resolve("e.csv.partial"), "");
        assertThat(Command.run("export", store, "Every", file).err())
                .contains("e.csv.partial", "another export");
        for (String target : List.of("no/e.csv", "e.txt", "e.csv/", ".")) {
            result = Command.run("export", store, "Every", directory.resolve(target));
            assertThat(result.code()).as(target).isEqualTo(2);
            assertThat(result.err()).doesNotContain("internal");
        }
        result = Command.run("export", store, "Every", store + "/e.csv");
        assertThat(result.code()).isEqualTo(2);
        assertThat(result.err()).contains("e.csv lies inside the store in", "export elsewhere");
        result = Command.run("export", store, "Nobody", directory.resolve("n.csv"));
        assertThat(result.err()).contains("there is no dataset 'Nobody'");
        assertThat(directory.resolve("n.csv")).doesNotExist();
    }

    @Test
    void a_json_array_is_imported() throws IOException {
        Path file = directory.resolve("array.json");
        Files.writeString(
                file,
                "[\n {\"id\": 51, \"s\": \"a\", \"tags\": []},\n {\"id\": 52,\n  \"s\": \"b\", \"tags\": [\"}\"]}\n]\n");
        Result result = Command.run("import", store, "Copy", file, "--json");
        assertThat(result.err()).isEmpty();
        assertThat(result.json().path("records").asInt()).isEqualTo(2);
        assertThat(result.json().path("rejected").asInt()).isZero();
    }

    @Test
    void object_files_of_avro_are_imported() {
        Path samples = Path.of("samples").toAbsolutePath();
        Result result =
                Command.run("dataset", "create", store, "--from", samples.resolve("readings.yaml"));
        assertThat(result.err()).isEmpty();
        Path file = samples.resolve("readings.avro");
        result = Command.run("import", store, "Readings", file, "--json");
        assertThat(result.err()).isEmpty();
        assertThat(result.out()).contains("\"records\":300");
        result = Command.run("import", store, "Readings", file, "--format", "avro", "--insert");
        assertThat(result.code()).isEqualTo(1);
        assertThat(Command.run("export", store, "Readings", "x", "--format", "avro")
                        .err())
                .contains("'avro' is unknown; choices are ndjson, csv");
    }

    @Test
    void some_fields_of_some_records_go_to_standard_output() {
        Result result = Command.run(
                "export",
                store,
                "Every",
                "-",
                "--format",
                "csv",
                "--select",
                "id,s",
                "--where",
                "id > 0");
        assertThat(result.err()).isEmpty();
        assertThat(result.outLines()).contains("id,s", "1,\"\"", "2,null").hasSize(3);
        Command.run("put", store, "Every", "{\"id\":3,\"s\":\"\",\"tags\":[],\"more\":1}");
        result = Command.run("export", store, "Every", "-", "--format", "csv");
        assertThat(result.err())
                .contains("note: some records have fields that Every does not declare");
        result = Command.run("export", store, "Every", "-", "--format", "csv", "--separator", "ab");
        assertThat(result.code()).isEqualTo(2);
        result = Command.run("export", store, "Every", "x.json", "--separator", ";");
        assertThat(result.err()).contains("csv alone");
    }

    @Test
    void what_can_t_be_taken_becomes_a_dead_letter() throws IOException {
        Path file = directory.resolve("some.csv");
        Files.writeString(file, "7,x,[]\n8,y\nq,z,[]\n");
        Result result = Command.run(
                "import", store, "Copy", file, "--columns", "id,s,tags", "--insert", "--json");
        assertThat(result.code()).isZero();
        assertThat(result.json().path("records").asInt()).isEqualTo(1);
        assertThat(result.json().path("rejected").asInt()).isEqualTo(2);
        Path letters = Path.of(result.json().path("deadLetters").asText());
        assertThat(letters).content().contains("it has 2 fields", "\"line\":3");
        // once more it is a duplicate, and nothing is taken
        result = Command.run("import", store, "Copy", file, "--columns", "id,s,tags", "--insert");
        assertThat(result.code()).isEqualTo(1);
        assertThat(result.err()).contains("all 3 were rejected", "dead-letters/import-Copy-");
    }

    @Test
    void a_wrong_import_says_what_is_wrong() throws IOException {
        Path file = directory.resolve("some.csv");
        Files.writeString(file, "id,name\n1,x\n");
        Result result = Command.run("import", store, "Copy", file);
        assertThat(result.code()).isEqualTo(2);
        assertThat(result.err())
                .contains("some.csv", "required field 's' is neither a column nor a transform");
        assertThat(Command.run("import", store, "Copy", directory.resolve("no.csv"))
                        .err())
                .contains("there is no file or directory");
        assertThat(Command.run("import", store, "Nobody", file).err())
                .contains("there is no dataset 'Nobody'");
        assertThat(Command.run("import", store, "_feeds", file).err()).contains("the store's own");
        assertThat(Command.run("import", store, "Copy", file, "--format", "xml").err())
                .contains("choices are ndjson, csv");
        assertThat(Command.run("import", store, "Copy", "x.json", "--columns", "a")
                        .err())
                .contains("--columns goes with csv alone");
    }
}
