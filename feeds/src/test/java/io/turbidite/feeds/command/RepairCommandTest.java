package io.turbidite.feeds.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;

import io.turbidite.feeds.command.Command.Result;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.schema.Maintenance;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.Map;

class RepairCommandTest {
    @TempDir
    private Path directory = Path.of("");

    private Path store = Path.of("");

    @BeforeEach
    void load() {
        store = directory.resolve("store");
        try (Store open = Store.open(store, StoreOptions.defaults())) {
            Dataset blind = dataset(open, "Blind", Maintenance.VALIDATION);
            dataset(open, "Eager", Maintenance.EAGER);
            for (long id = 0; id < 20; id++) {
                blind.upsert(Map.of("id", id, "a", 1L, "b", 1L));
            }
            blind.flush();
            // these stay in the log: the command flushes
            for (long id = 0; id < 5; id++) {
                blind.upsert(Map.of("id", id, "a", 2L, "b", 2L));
            }
        }
    }

    private static Dataset dataset(Store open, String name, Maintenance maintenance) {
        return open.createDataset(DatasetSpec.named(name)
                .field("id", "int64")
                .field("a", "int64")
                .field("b", "int64")
                .primaryKey("id")
                .maintenance(maintenance)
                .index(IndexSpec.btree("by_a", "a"))
                .index(IndexSpec.btree("by_b", "b")));
    }

    private static void assertRefused(Result result, String... words) {
        assertThat(result.code()).isEqualTo(2);
        assertThat(result.out()).isEmpty();
        assertThat(result.errLines()).hasSizeBetween(1, 2);
        assertThat(result.err()).contains(words);
    }

    private long dead(String index) {
        JsonNode described = Command.run("inspect", store, "--json").json();
        long dead = 0;
        for (JsonNode one :
                described.path("datasets").get(0).path("partitions").get(0).path("indexes")) {
            if (one.path("name").asText().equals(index)) {
                for (JsonNode component : one.path("components")) {
                    dead += component.path("deadEntries").asLong();
                }
            }
        }
        return dead;
    }

    @Test
    void one_index_is_repaired_then_all_of_a_store_and_inspect_shows_it() {
        Result one = Command.run("repair", store, "Blind", "by_a", "--json");
        assertThat(one.err()).isEmpty();
        assertThat(one.code()).isZero();
        assertThat(one.json().path("index").asText()).isEqualTo("by_a");
        assertThat(one.json().path("marked").asLong()).isEqualTo(5);
        assertThat(one.json().path("checked").asLong()).isEqualTo(20);
        assertThat(dead("by_a")).isEqualTo(5);
        assertThat(dead("by_b")).isZero();
        Result all = Command.run("repair", store);
        assertThat(all.code()).isZero();
        assertThat(all.outLines()).hasSize(2);
        assertThat(all.out())
                .contains("Blind: 5 of 20 checked entries are obsolete, in 1 component, ")
                .contains("Eager: no index can have obsolete entries");
        assertThat(dead("by_b")).isEqualTo(5);
        Result inspected = Command.run("inspect", store);
        assertThat(inspected.out()).contains("20 entries, 0 anti-matter, 5 invalid, repaired to ");
        assertThat(Command.run("verify", store).code()).isZero();
        Result again = Command.run("repair", store, "Blind", "--json");
        assertThat(again.json().path("components").asLong()).isZero();
        assertThat(Command.run("repair", store, "Blind").out())
                .startsWith("Blind: no component has entries to check, ");
    }

    /** The bug: a merge of two left the first one's timestamp, and it was shown. */
    @Test
    void nothing_is_told_of_repairs_of_an_eager_index() {
        for (int id = 1; id <= 2; id++) {
            Command.run("put", store, "Eager", "{\"id\":%d,\"a\":1,\"b\":1}".formatted(id));
            Command.run("flush", store, "Eager");
        }
        assertThat(Command.run("merge", store, "Eager").code()).isZero();
        Result inspected = Command.run("inspect", store);
        assertThat(inspected.out()).contains("2 entries, 0 anti-matter").doesNotContain("repaired");
    }

    @Test
    void wrong_requests_exit_2() {
        assertRefused(Command.run("repair", store, "Nothing"), "Nothing", "Blind");
        assertRefused(Command.run("repair", store, "Blind", "by_c"), "by_c");
        assertRefused(Command.run("repair", store, "Eager"), "all are eager");
        assertRefused(Command.run("repair", store, "Eager", "by_a"), "by_a", "is eager");
        assertRefused(Command.run("repair", directory.resolve("none")), "none");
        assertRefused(Command.run("repair"), "STORE");
    }
}
