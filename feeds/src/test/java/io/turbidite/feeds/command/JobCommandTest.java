package io.turbidite.feeds.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.command.Command.Result;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

class JobCommandTest {
    static final String JOB = """
            {"format": "turbidite-job", "version": 1,
             "operators": [
              {"name": "trips", "kind": "scan", "dataset": "Trips", "partitions": 2},
              {"name": "tails", "kind": "group", "by": ["tail"], "partitions": 2,
               "aggregates": ["count", "sum(delay) as delay"]},
              {"name": "out", "kind": "result"}],
             "connectors": [
              {"kind": "hash", "from": "trips", "to": "tails", "fields": ["tail"]},
              {"kind": "merging", "from": "tails", "to": "out", "fields": ["tail"]}]}
            """;

    /** Those of one tail get another. */
    private static final String CHANGE = """
            {"format": "turbidite-job", "version": 1,
             "operators": [
              {"name": "trips", "kind": "scan", "dataset": "Trips", "where": "tail = 'N1'"},
              {"name": "other", "kind": "project", "fields": ["carrier", "number", "day", "at", "'seen' as tail", "delay", "note", "x", "y", "place"]},
              {"name": "mark", "kind": "upsert", "dataset": "Trips"},
              {"name": "out", "kind": "result"}],
             "connectors": [
              {"kind": "one-to-one", "from": "trips", "to": "other"},
              {"kind": "one-to-one", "from": "other", "to": "mark"},
              {"kind": "one-to-one", "from": "mark", "to": "out"}]}
            """;

    @TempDir
    private static Path directory;

    private static Path store = Path.of("");
    private static Path job = Path.of("");

    @BeforeAll
    static void load() throws IOException {
        store = Command.load(directory);
        job = Files.writeString(directory.resolve("tails.json"), JOB);
    }

    @Test
    void rows_are_json_lines() {
        Result result = Command.run("job", store, job);
        assertThat(result.err()).isEmpty();
        assertThat(result.out()).isEqualTo("""
                        {"tail":null,"count":1,"delay":0}
                        {"tail":"N1","count":2,"delay":-5}
                        {"tail":"N2","count":1,"delay":10}
                        """);
        assertThat(result.code()).isZero();
        assertThat(store.resolve("spill")).doesNotExist();
    }

    @Test
    void explain_draws_it_and_json_shows_it_as_it_is_read() {
        assertThat(Command.run("job", store, job, "--explain").out()).isEqualTo("""
                        stage 1 on 2 partitions
                          trips: scan Trips
                          → hash by tail to tails
                        stage 2 on 2 partitions
                          reads trips, hash by tail
                          tails takes all of input 0
                        stage 3 on 2 partitions
                          tails: group count, sum(delay) as delay by tail
                          → merging by tail to out
                        stage 4 on 1 partition
                          reads tails, merging by tail
                          out: result
                        """);
        assertThat(Command.run("job", store, job, "--explain", "--json").out())
                .startsWith("{\n  \"format\": \"turbidite-job\",\n  \"version\": 1,");
    }

    @Test
    void a_job_changes_a_dataset_and_counts() throws IOException {
        Path changed = Command.load(Files.createDirectory(directory.resolve("changed")));
        Path marked = Files.writeString(directory.resolve("mark.json"), CHANGE);
        assertThat(Command.run("job", changed, marked, "--explain").out())
                .contains("mark: upsert Trips");
        assertThat(Command.run("job", changed, job).out()).contains("\"tail\":\"N1\",\"count\":2");
        Result result = Command.run("job", changed, marked);
        assertThat(result.err()).isEmpty();
        assertThat(result.out()).isEqualTo("{\"changed\":2}\n");
        assertThat(Command.run("job", changed, job).out())
                .contains("{\"tail\":\"seen\",\"count\":2,");
        Path wrong = Files.writeString(
                directory.resolve("twice.json"),
                CHANGE.replace("upsert", "insert").replace("'N1'", "'seen'"));
        Result refused = Command.run("job", changed, wrong);
        assertThat(refused.code()).isNotZero();
        assertThat(refused.err()).contains("already has a record with primary key");
    }

    @Test
    void what_is_wrong_is_told_in_a_line() throws IOException {
        Result missing = Command.run("job", store, directory.resolve("nothing.json"));
        assertThat(missing.code()).isEqualTo(2);
        assertThat(missing.err()).contains("nothing.json can't be read");
        Path wrong = Files.writeString(
                directory.resolve("wrong.json"), JOB.replace("\"Trips\"", "\"Trip\""));
        Result refused = Command.run("job", store, wrong);
        assertThat(refused.code()).isEqualTo(2);
        assertThat(refused.err())
                .contains("operator 'trips': there is no dataset 'Trip'; is 'Trips' meant?");
        assertThat(refused.out()).isEmpty();
    }

    @Test
    void the_samples_run() {
        Path here = directory.resolve("samples");
        assertThat(Command.run(
                                "dataset",
                                "create",
                                here,
                                "Flights",
                                "--field",
                                "id=int64",
                                "--field",
                                "dest=string",
                                "--field",
                                "dest_name=string",
                                "--field",
                                "arr_delay_min=int32?",
                                "--key",
                                "id")
                        .err())
                .isEmpty();
        Map<Integer, String> flights = Map.of(
                1, "\"BOS\",\"dest_name\":\"Boston\",\"arr_delay_min\":90",
                2, "\"MIA\",\"dest_name\":\"Miami\",\"arr_delay_min\":61",
                3, "\"BOS\",\"dest_name\":\"Boston\",\"arr_delay_min\":70",
                4, "\"BOS\",\"dest_name\":\"Boston\",\"arr_delay_min\":10");
        flights.forEach((id, rest) -> assertThat(Command.run(
                                "put",
                                here,
                                "Flights",
                                "{\"id\":%d,\"dest\":%s}".formatted(id, rest))
                        .code())
                .isZero());
        Path sample = Path.of("samples/jobs/late-by-destination.json").toAbsolutePath();
        assertThat(Command.run("job", here, sample).out()).isEqualTo("""
                        {"dest":"BOS","dest_name":"Boston","flights":2,"late":80.0}
                        {"dest":"MIA","dest_name":"Miami","flights":1,"late":61.0}
                        """);
        Path sink = Path.of("samples/jobs/forget-early.json").toAbsolutePath();
        assertThat(Command.run("job", here, sink).out()).isEqualTo("{\"deleted\":1}\n");
        assertThat(Command.run("job", here, sink).out()).isEqualTo("{\"deleted\":0}\n");
    }
}
