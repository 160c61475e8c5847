package io.turbidite.feeds.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.command.Command.Result;
import io.turbidite.feeds.health.Findings;
import io.turbidite.feeds.health.StoreWatch;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** What gives cause to worry is told with its figure and what to do. */
@EnabledOnOs(OS.LINUX)
@Timeout(60)
class DoctorCommandTest {
    @TempDir
    private Path directory = Path.of("");

    private Path store = Path.of("");

    @BeforeEach
    void load() throws IOException {
        store = Command.load(directory);
    }

    @Test
    void a_store_in_order_gives_no_cause_and_nothing_of_it_changes() throws IOException {
        byte[] manifest = Files.readAllBytes(store.resolve("MANIFEST"));
        Result told = Command.run("doctor", store);
        assertThat(told.code()).isZero();
        assertThat(told.out()).isEqualTo("nothing to worry about\n");
        assertThat(told.err()).isEqualTo("""
                        note: no other process holds %s: the figures are of this command's opening
                        note: %d of %d metrics are not judged: that takes a running ./turbidite serve
                        """.formatted(
                store, Findings.metricsOfServers().size(), Findings.metrics().size()));
        assertThat(store.resolve("MANIFEST")).hasBinaryContent(manifest);
        Result json = Command.run("doctor", store, "--json");
        assertThat(json.err()).isEmpty();
        assertThat(json.out())
                .startsWith("{\"store\":\"%s\",\"held\":false,\"findings\":[],\"untold\":[\""
                        .formatted(store))
                .contains("\"write.stall.time\"")
                .doesNotContain("\"trash.bytes\"");
    }

    @Test
    void what_was_put_aside_is_told_with_its_bytes_and_what_to_do() throws IOException {
        Command.run("flush", store);
        Path data = store.resolve("data");
        Path there;
        try (Stream<Path> files = Files.list(data)) {
            there = files.sorted().findFirst().orElseThrow();
        }
        Path stray = Files.copy(there, data.resolve("0000000000fe.component"));
        long bytes = Files.size(stray);
        Store.open(store).close(); // puts it into the trash

        Result told = Command.run("doctor", store);
        assertThat(told.code()).isEqualTo(1);
        assertThat(told.outLines())
                .hasSize(3)
                .startsWith("warn: files that no manifest names were put aside")
                .element(1)
                .asString()
                .startsWith("  trash.bytes is ");
        assertThat(told.outLines().get(2)).contains("./turbidite trash");

        Result json = Command.run("doctor", store, "--json");
        assertThat(json.code()).isEqualTo(1);
        assertThat(json.json().path("findings")).hasSize(1);
        assertThat(json.json().path("findings").get(0).path("metric").asText())
                .isEqualTo("trash.bytes");
        assertThat(json.json().path("findings").get(0).path("figure").asLong()).isEqualTo(bytes);
    }

    @Test
    void the_process_that_holds_a_store_tells_its_own_figures() {
        try (Store open = Store.openExisting(store, StoreOptions.defaults());
                StoreServer server = StoreServer.start(open)) {
            assertThat(server.problem()).isEmpty();
            Result well = Command.run("doctor", store);
            assertThat(well.code()).isZero();
            assertThat(well.out()).isEqualTo("nothing to worry about\n");
            assertThat(well.err())
                    .startsWith(
                            "note: another process holds %s: the figures are since its opening\n"
                                    .formatted(store))
                    .endsWith(
                            " metrics are not judged: that takes a minute of ./turbidite serve\n");
            rememberAMinute(open);
            assertThat(Command.run("doctor", store).err().lines()).hasSize(1);

            open.meters().latency("write.stall.time").record(2_000_000_000);
            open.meters().counter("sidefile.full").increment();
            Result told = Command.run("doctor", store);
            assertThat(told.code()).isEqualTo(1);
            assertThat(told.outLines())
                    .containsSequence(
                            "warn: writers stand still because write memory is full",
                            "  write.stall.time is 2,000 ms or more for one in a hundred",
                            "  give the store more write memory, or a faster disk")
                    .containsSequence(
                            "warn: merges had no memory for their side-files",
                            "  sidefile.full is 1",
                            "  give the store more write memory");
            Result json = Command.run("doctor", store, "--json");
            assertThat(json.json().path("held").asBoolean()).isTrue();
            assertThat(json.json().path("findings").findValuesAsText("unit"))
                    .containsExactly("nanos", "count");
        }
    }

    private static void rememberAMinute(Store open) {
        long now = open.environment().clock().monotonicNanos();
        StoreWatch watch = StoreWatch.of(open.meters());
        for (int i = 6; i >= 0; i--) {
            watch.sample(now - i * StoreWatch.SAMPLE_NANOS);
        }
    }

    @Test
    void a_store_that_is_not_there_is_named_and_not_made() {
        Path none = directory.resolve("none");
        Result told = Command.run("doctor", none);
        assertThat(told.code()).isEqualTo(2);
        assertThat(told.err()).contains(none.toString());
        assertThat(none).doesNotExist();
    }
}
