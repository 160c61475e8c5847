package io.turbidite.feeds.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;

import io.turbidite.feeds.command.Command.Result;
import io.turbidite.lsm.Store;
import io.turbidite.ops.Predicates;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Path;

class AdviseCommandTest {
    @TempDir
    private Path directory;

    private Path store = Path.of("");

    @BeforeEach
    void load() throws IOException {
        store = Command.load(directory);
    }

    @Test
    void each_index_gets_costs_and_reasons() {
        Result result = Command.run("advise", store);
        assertThat(result.code()).isZero();
        assertThat(result.err()).isEmpty();
        assertThat(result.out())
                .contains("dataset Trips", "writes were flushed", "index by_tail: eager")
                .contains("too few to advise on", "keep eager", "deferred       refused")
                .contains("queries by a command that opens the store itself are not counted")
                .doesNotContain("Numbers");
    }

    @Test
    void json_is_one_object_with_the_same() {
        Result result = Command.run("advise", store, "Trips", "--json");
        assertThat(result.code()).isZero();
        assertThat(result.outLines()).hasSize(1);
        JsonNode dataset = result.json().path("datasets").get(0);
        assertThat(dataset.path("dataset").asText()).isEqualTo("Trips");
        assertThat(dataset.path("reasons")).isNotEmpty();
        JsonNode index = dataset.path("indexes").get(0);
        assertThat(index.path("index").asText()).isEqualTo("by_tail");
        assertThat(index.path("maintenance").asText()).isEqualTo("eager");
        assertThat(index.path("advised").asText()).isEqualTo("eager");
        assertThat(index.path("costs").path("validation").has("querying")).isTrue();
        assertThat(index.path("refused").path("mutable-bitmap").asText()).isNotEmpty();
    }

    @Test
    void queries_of_a_process_that_writes_are_counted_those_of_commands_change_nothing() {
        for (int i = 0; i < 3; i++) {
            assertThat(Command.run("query", store, "Trips", "--eq", "tail=N1", "--count")
                            .code())
                    .isZero();
        }
        assertThat(Command.run("advise", store, "Trips").out()).contains("it was not searched");
        try (Store writing = Store.open(store)) {
            for (int i = 0; i < 3; i++) {
                try (QueryResult rows = Query.on(writing.dataset("Trips"))
                        .where(Predicates.eq("tail", "N1"))
                        .count()
                        .run()) {
                    assertThat(rows.iterator().hasNext()).isTrue();
                }
            }
        }
        // one search for each of two partitions
        assertThat(Command.run("advise", store, "Trips").out()).contains("6 searches returned");
    }

    @Test
    void a_dataset_that_is_not_there_is_a_mistake() {
        Result result = Command.run("advise", store, "Nowhere");
        assertThat(result.code()).isEqualTo(2);
        assertThat(result.out()).isEmpty();
        assertThat(result.err()).contains("Nowhere", "Trips");
    }
}
