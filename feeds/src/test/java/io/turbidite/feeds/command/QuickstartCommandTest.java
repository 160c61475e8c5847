package io.turbidite.feeds.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;

import io.turbidite.feeds.command.Command.Result;
import io.turbidite.feeds.command.common.Interrupts;
import io.turbidite.feeds.command.feed.QuickstartCommand;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

/** The quickstart on the first flights of the real data, by the real definition. */
class QuickstartCommandTest {
    private static final int FLIGHTS = 5_000;
    private static final Path SAMPLES = Path.of("samples");

    @TempDir
    private Path home;

    @BeforeEach
    void copySamples() throws IOException {
        Path samples = Files.createDirectories(home.resolve(QuickstartCommand.SAMPLES));
        Files.copy(SAMPLES.resolve("flights.yaml"), samples.resolve("flights.yaml"));
        String rows;
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(
                new GZIPInputStream(Files.newInputStream(SAMPLES.resolve("flights-2013.csv.gz"))),
                StandardCharsets.UTF_8))) {
            rows = reader.lines().limit(FLIGHTS + 1).collect(Collectors.joining("\n", "", "\n"));
        }
        try (OutputStream out = new GZIPOutputStream(
                Files.newOutputStream(samples.resolve("flights-2013.csv.gz")))) {
            out.write(rows.getBytes(StandardCharsets.UTF_8));
        }
    }

    private Result quickstart(Object... more) {
        Object[] args = new Object[more.length + 3];
        args[0] = "quickstart";
        args[1] = "--store";
        args[2] = home.resolve("store");
        System.arraycopy(more, 0, args, 3, more.length);
        return Command.runIn(home, false, Interrupts.none(), args);
    }

    @Test
    void it_loads_asks_and_says_what_next() {
        Result result = quickstart();
        assertThat(result.err()).isEmpty();
        assertThat(result.code()).isZero();
        assertThat(result.out())
                .contains("5,000 records", "index by_tail, then fetch", "get by primary key")
                .contains("Try next", "./turbidite inspect " + home.resolve("store"));
        assertThat(result.out().stripTrailing().lines().toList().getLast())
                .contains("./turbidite serve " + home.resolve("store"));
        assertThat(Command.run("doctor", home.resolve("store")).out())
                .isEqualTo("nothing to worry about\n");
    }

    @Test
    void machines_get_five_queries_a_picture_and_the_summary() {
        Result result = quickstart("--json");
        assertThat(result.code()).isZero();
        List<JsonNode> lines = result.outLines().stream().map(Command::parse).toList();
        assertThat(lines).hasSize(7);
        for (JsonNode query : lines.subList(0, 5)) {
            assertThat(query.fieldNames())
                    .toIterable()
                    .containsExactly("step", "name", "rows", "millis", "access");
            assertThat(query.path("step").asText()).isEqualTo("query");
            assertThat(query.path("millis").isNumber()).isTrue();
        }
        assertThat(lines.get(3).path("name").asText()).isEqualTo("count-by-destination");
        assertThat(lines.get(4).path("name").asText()).isEqualTo("delayed-by-cell");
        assertThat(lines.get(5).path("step").asText()).isEqualTo("picture");
        assertThat(Path.of(lines.get(5).path("file").asText())).isNotEmptyFile();
        assertThat(lines.get(6).path("step").asText()).isEqualTo("summary");
        assertThat(lines.get(6).path("records").asInt()).isEqualTo(FLIGHTS);
        assertThat(lines.get(6).path("dataset").asText()).isEqualTo("Flights");
    }

    @Test
    void running_it_twice_is_harmless() {
        quickstart();
        Result again = quickstart();
        assertThat(again.code()).isZero();
        assertThat(again.out()).contains("nothing new", "Try next");
        assertThat(Command.run("query", home.resolve("store"), "Flights", "--count")
                        .out())
                .isEqualTo("{\"count\":5000}\n");
        assertThat(Command.run("verify", home.resolve("store")).code()).isZero();
    }

    @Test
    void it_takes_an_index_that_was_created_meanwhile_and_names_one_that_was_dropped() {
        quickstart();
        Path store = home.resolve("store");
        assertThat(Command.run("index", "create", store, "Flights", "by_dest", "--on", "dest")
                        .code())
                .isZero();
        assertThat(quickstart().err()).isEmpty();
        Command.run("index", "drop", store, "Flights", "by_tail");
        Result refused = quickstart();
        assertThat(refused.code()).isEqualTo(2);
        String way = "./turbidite index create %s Flights by_tail --on tailnum --maintenance eager"
                .formatted(store);
        assertThat(refused.err()).contains("flights.yaml:37: dataset.indexes[0]", way);
        Object[] told = way.substring("./turbidite ".length()).split(" ");
        assertThat(Command.run(told).code()).isZero();
        assertThat(quickstart().code()).isZero();
    }

    @Test
    void the_commands_it_shows_give_the_rows_it_shows() {
        Result result = quickstart();
        List<String> lines = result.outLines();
        int shown = 0;
        for (int i = 0; i < lines.size() - 1; i++) {
            String line = lines.get(i).strip();
            if (line.startsWith("$ ./turbidite query ")) {
                Object[] args = line.substring("$ ./turbidite ".length()).split(" ");
                Result asked = Command.run(args);
                assertThat(asked.code()).as(line).isZero();
                if (lines.get(i + 1).strip().startsWith("{")) {
                    assertThat(asked.outLines()).contains(lines.get(i + 1).strip());
                    shown++;
                }
            } else if (line.startsWith("./turbidite query ")) {
                assertThat(Command.run((Object[])
                                        line.substring("./turbidite ".length()).split(" "))
                                .code())
                        .as(line)
                        .isZero();
            }
        }
        assertThat(shown).isGreaterThanOrEqualTo(2);
    }

    @Test
    void a_stopped_one_goes_on_later() {
        Interrupts early = stop -> {
            stop.run();
            return Interrupts.none().watch(stop);
        };
        Result stopped = Command.runIn(
                home, false, early, "quickstart", "--store", home.resolve("store"), "--json");
        assertThat(stopped.code()).isEqualTo(130);
        assertThat(stopped.outLines()).hasSize(1);
        assertThat(stopped.json().path("step").asText()).isEqualTo("summary");
        assertThat(quickstart().code()).isZero();
        assertThat(Command.run("query", home.resolve("store"), "Flights", "--count")
                        .out())
                .isEqualTo("{\"count\":5000}\n");
    }

    @Test
    void without_the_samples_it_says_where_it_looked() {
        Result result = Command.runIn(
                home.resolve("elsewhere"), false, Interrupts.none(), "quickstart", "--store", home);
        assertThat(result.code()).isEqualTo(2);
        assertThat(result.err()).contains("feeds/samples", "elsewhere");
    }
}
