package io.turbidite.feeds.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;

import io.turbidite.core.log.Durability;
import io.turbidite.feeds.command.Command.Result;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

class InspectAndVerifyTest {
    @TempDir
    private Path directory;

    private Path store = Path.of("");

    @BeforeEach
    void load() throws IOException {
        store = Command.load(directory);
    }

    @Test
    void inspect_is_one_object_down_to_the_components() {
        Result result = Command.run("inspect", store, "--json");
        assertThat(result.code()).isZero();
        assertThat(result.outLines()).hasSize(1);
        JsonNode object = result.json();
        assertThat(object.path("store").asText()).isEqualTo(store.toString());
        assertThat(object.path("logBytes").isNumber()).isTrue();
        JsonNode trips = dataset(object, "Trips");
        assertThat(trips.path("primaryKey").toString()).isEqualTo("[\"carrier\",\"number\"]");
        assertThat(trips.path("type").path("tail").asText()).isEqualTo("string?");
        assertThat(trips.path("filter").toString()).isEqualTo("[\"at\"]");
        assertThat(trips.path("maintenance").asText()).isEqualTo("eager");
        assertThat(trips.path("partitions")).hasSize(2);
        long entries = 0;
        for (JsonNode partition : trips.path("partitions")) {
            assertThat(partition.path("indexes")).hasSize(2);
            assertThat(partition.path("indexes").get(0).path("name").asText()).isEqualTo("primary");
            assertThat(partition.path("indexes").get(1).path("name").asText()).isEqualTo("by_tail");
            assertThat(partition.path("indexes").get(1).path("on").toString())
                    .isEqualTo("[\"tail\"]");
            for (JsonNode component : partition.path("indexes").get(0).path("components")) {
                entries += component.path("entries").asLong();
                assertThat(component.path("minTs").asLong())
                        .isLessThanOrEqualTo(component.path("maxTs").asLong());
                assertThat(component.path("bytes").asLong()).isPositive();
                assertThat(component.has("repairedTs")).isTrue();
                assertThat(component.path("deadEntries").asLong()).isZero();
                if (component.path("entries").asLong() > 0) {
                    JsonNode filter = component.path("filters").get(0);
                    assertThat(filter.path("field").asText()).isEqualTo("at");
                    assertThat(filter.path("min").asText())
                            .startsWith("2013-07-0")
                            .endsWith("Z");
                }
            }
        }
        assertThat(entries).isEqualTo(4);
    }

    private static JsonNode dataset(JsonNode store, String name) {
        for (JsonNode dataset : store.path("datasets")) {
            if (dataset.path("name").asText().equals(name)) {
                return dataset;
            }
        }
        throw new AssertionError(name + " is not in " + store);
    }

    @Test
    void inspect_reads_well_too() {
        Result result = Command.run("inspect", store);
        assertThat(result.code()).isZero();
        assertThat(result.err()).isEmpty();
        assertThat(result.out())
                .contains(
                        "dataset Trips",
                        "primary key carrier, number",
                        "index by_tail on tail",
                        "entries");
    }

    @Test
    void a_sound_store_verifies() {
        Result json = Command.run("verify", store, "--json");
        assertThat(json.code()).isZero();
        assertThat(json.json().fieldNames())
                .toIterable()
                .containsExactly("ok", "datasets", "components", "errors");
        assertThat(json.json().path("ok").asBoolean()).isTrue();
        assertThat(json.json().path("datasets").asInt()).isEqualTo(3);
        assertThat(json.json().path("components").asInt()).isPositive();
        assertThat(json.json().path("errors")).isEmpty();

        Result text = Command.run("verify", store);
        assertThat(text.code()).isZero();
        assertThat(text.outLines()).hasSize(1);
        assertThat(text.out()).startsWith("ok: 3 datasets");
    }

    @Test
    void a_flipped_byte_is_listed_with_its_file() throws IOException {
        Path component = files("data").getLast();
        flip(component);
        Result json = Command.run("verify", store, "--json");
        assertThat(json.code()).isEqualTo(1);
        assertThat(json.outLines()).hasSize(1);
        assertThat(json.json().path("ok").asBoolean()).isFalse();
        assertThat(json.json().path("errors").get(0).asText())
                .contains(String.valueOf(component.getFileName()), "offset");
        Result text = Command.run("verify", store);
        assertThat(text.code()).isEqualTo(1);
        assertThat(text.out()).contains(String.valueOf(component.getFileName()));
        assertThat(text.errLines())
                .containsExactly(
                        "turbidite: 1 error in " + store,
                        "  a damaged index is built anew: ./turbidite index rebuild %s DATASET NAME; damaged records (index primary) come from a backup: ./turbidite quarantine %s FILE --restore BACKUP; else restore the whole store from a backup, or load it anew"
                                .formatted(store, store));
    }

    @Test
    void damage_that_keeps_a_store_shut_is_told_by_verify_and_fails_the_others()
            throws IOException {
        flip(store.resolve("MANIFEST"));
        assertThat(Command.run("verify", store).errLines().getLast())
                .isEqualTo("  restore the store from a backup, or load it anew");
        Result verify = Command.run("verify", store, "--json");
        assertThat(verify.code()).isEqualTo(1);
        assertThat(verify.json().path("errors").get(0).asText()).contains("MANIFEST");
        Result inspect = Command.run("inspect", store);
        assertThat(inspect.code()).isEqualTo(1);
        assertThat(inspect.errLines()).hasSizeBetween(1, 2);
        assertThat(inspect.err()).contains("MANIFEST", "verify");
    }

    @Test
    void a_file_that_is_missing_is_not_called_damaged() throws IOException {
        Files.delete(store.resolve("MANIFEST"));
        assertThat(Command.run("inspect", store).err())
                .startsWith(
                        "turbidite: MANIFEST is missing: %s still holds files of a store (data: "
                                .formatted(store))
                .contains("put it back", "restore a backup")
                .doesNotContain("damaged:");
    }

    @Test
    void the_directory_of_a_hash_log_is_told_from_that_of_a_store() throws IOException {
        Path log = directory.resolve("log");
        Files.writeString(directory.resolve("events.json"), "{\"id\":1}\n");
        Path events = directory.resolve("events.json");
        assertThat(Command.run("log", "ingest", log, events).code()).isZero();
        String isLog = "turbidite: %s is a hash log, not a store: ./turbidite log inspect LOGDIR"
                .formatted(log);
        for (Result result : List.of(
                Command.run("inspect", log),
                Command.run("verify", log),
                Command.run("query", log, "Trips"),
                Command.run("get", log, "Trips", "1"),
                Command.run("drop", log, "Trips", "--yes"),
                Command.run("run", directory.resolve("numbers.yaml"), "--store", log))) {
            assertThat(result.errLines()).containsExactly(isLog);
            assertThat(result.code()).isEqualTo(2);
        }
        String isStore = "turbidite: %s is a store, not a hash log: ./turbidite inspect STORE"
                .formatted(store);
        for (Result result : List.of(
                Command.run("log", "inspect", store),
                Command.run("log", "query", store),
                Command.run("log", "psf", "list", store),
                Command.run("log", "salvage", store, directory.resolve("new")),
                Command.run("log", "ingest", store, events))) {
            assertThat(result.errLines()).containsExactly(isStore);
            assertThat(result.code()).isEqualTo(2);
        }
        assertThat(Command.run("verify", store).code()).isZero();
        // one that has lost its registry is still no store
        Files.delete(log.resolve("log/HASHLOG"));
        assertThat(Command.run("inspect", log).errLines()).containsExactly(isLog);
    }

    private List<Path> files(String name) throws IOException {
        try (Stream<Path> paths = Files.list(store.resolve(name))) {
            return paths.sorted().toList();
        }
    }

    private static void flip(Path file) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        bytes[bytes.length / 2] ^= 0x10;
        Files.write(file, bytes);
    }

    @Test
    void statistics_are_told_of_what_has_a_sample(@TempDir Path elsewhere) {
        Path made = elsewhere.resolve("sampled");
        try (Store opened =
                Store.open(made, StoreOptions.defaults().withDurability(Durability.BUFFERED))) {
            Dataset dataset = opened.createDataset(DatasetSpec.named("T")
                    .field("id", "int64")
                    .field("kind", "string?")
                    .primaryKey("id"));
            for (long i = 0; i < 4_000; i++) {
                Map<String, @Nullable Object> record = new HashMap<>();
                record.put("id", i);
                record.put("kind", i % 4 == 0 ? null : "usual");
                record.put("filler", Long.toString(i).repeat(200));
                dataset.upsert(record);
            }
            dataset.flush();
        }
        Result told = Command.run("inspect", made, "--statistics");
        assertThat(told.err()).isEmpty();
        assertThat(told.out())
                .matches("(?s)T: about \\d,\\d+ records, a sample of [\\d,]+\\R.*")
                .containsPattern("  id: about [\\d,]+ values, \\d+ to \\d+")
                .containsPattern("  kind: about 1 value, 2\\d\\.\\d % absent, usual to usual");
        JsonNode json =
                dataset(Command.run("inspect", made, "--statistics", "--json").json(), "T");
        assertThat(json.path("records").asLong()).isBetween(3_500L, 4_500L);
        assertThat(json.path("sampled").asLong()).isPositive();
        JsonNode kind = json.path("fields").get(1);
        assertThat(kind.path("field").asText()).isEqualTo("kind");
        assertThat(kind.path("absent").asDouble()).isBetween(0.2, 0.3);
        assertThat(kind.path("distinct").asLong()).isEqualTo(1);
        assertThat(kind.path("frequent").get(0).path("value").asText()).isEqualTo("usual");
        assertThat(Command.run("inspect", store, "--statistics").out())
                .contains("Numbers: about 2 records", "Trips: about 4 records", "33.3 % absent");
    }
}
