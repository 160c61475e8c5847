package io.turbidite.feeds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.meter.Latency;
import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.feeds.manage.FeedState;
import io.turbidite.feeds.manage.FeedStatus;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;

/** What transforms ask beside the record: functions of one's own, and other datasets. */
@Timeout(60)
class FeedAidsTest {
    private static final String DEFINITION = """
            feed: calls
            dataset:
              name: Calls
              type: { id: int64, a: "string?", b: "string?", n: "int32?" }
              primaryKey: id
            source: { kind: file, path: in.json }
            parser: { kind: json }
            """;

    @TempDir
    private Path directory;

    private Store store;

    @BeforeEach
    void openStore() {
        store = Store.open(directory.resolve("store"), StoreOptions.defaults());
    }

    @AfterEach
    void closeStore() {
        TryingFunction.told = () -> {};
        store.close();
    }

    private void write(String text) throws IOException {
        Files.writeString(directory.resolve("in.json"), text);
    }

    private FeedReport run(String definition) {
        FeedDefinition parsed = FeedDefinition.parse("f.yaml", directory, definition);
        try (Feed feed = Feed.open(parsed, store)) {
            return feed.run(FeedProgress.none());
        }
    }

    private Map<String, @Nullable Object> get(long id) {
        return Objects.requireNonNull(store.dataset("Calls").get(id));
    }

    private Dataset places() {
        Dataset places = store.createDataset(DatasetSpec.named("Places")
                .field("code", "string")
                .field("number", "int32")
                .field("name", "string?")
                .primaryKey("code", "number"));
        places.upsert(Map.of("code", "x", "number", 1, "name", "one"));
        places.upsert(Map.of("code", "x", "number", 2, "name", "two"));
        places.upsert(Map.of("code", "y", "number", 1));
        return places;
    }

    @Test
    void aFunctionGetsItsArgumentsAndIsTimed() throws IOException {
        write("""
                {"id":1,"a":"v"}
                {"id":2}
                """);
        FeedReport report =
                run(DEFINITION + "transform: { b: { function: trying, of: [a, \"'2'\", id] } }\n");
        assertThat(report.records()).isEqualTo(2);
        assertThat(get(1)).containsEntry("b", "3:v");
        assertThat(get(2)).containsEntry("b", null);
        assertThat(store.meters().instruments())
                .filteredOn(one -> one.name().equals("feed.function.time"))
                .singleElement()
                .extracting(one -> ((Latency) one).summary().count())
                .isEqualTo(2L);
    }

    @Test
    void anExceptionIsADeadLetterAndTheFeedGoesOn() throws IOException {
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < 40; i++) { // never ten in a row
            lines.append("{\"id\":%d,\"a\":\"%s\"}\n".formatted(i, i % 10 == 9 ? "ok" : "fail"));
        }
        write(lines.toString());
        FeedReport report = run(DEFINITION + "transform: { b: { function: trying, of: a } }\n");
        assertThat(report.records()).isEqualTo(4);
        assertThat(report.rejected()).isEqualTo(36);
        assertThat(Files.readString(Path.of(Objects.requireNonNull(report.deadLetters()))))
                .contains("function 'trying' failed: java.lang.IllegalStateException: as it was");
    }

    @Test
    void tenFailuresInARowEndTheRunBehindThem() throws IOException {
        writeTenFailures();
        String definition = DEFINITION + "transform: { b: { function: trying, of: a } }\n";
        assertThatThrownBy(() -> run(definition))
                .isInstanceOf(FunctionPauseException.class)
                .hasMessageContaining("function 'trying' failed 10 times in a row");
        assertThat(get(0)).containsEntry("b", "1:ok");
        assertThat(store.dataset("Calls").get(11L)).isNull();
        FeedReport again = run(definition);
        assertThat(again.records()).isEqualTo(1);
        assertThat(again.rejected()).isZero();
    }

    private void writeTenFailures() throws IOException {
        StringBuilder lines = new StringBuilder("{\"id\":0,\"a\":\"ok\"}\n");
        for (int i = 1; i <= 10; i++) {
            lines.append("{\"id\":%d,\"a\":\"fail\"}\n".formatted(i));
        }
        write(lines.append("{\"id\":11,\"a\":\"ok\"}\n").toString());
    }

    @Test
    void aManagedFeedIsPausedByThemAndGoesOnWhenItIsResumed() throws IOException {
        writeTenFailures();
        try (FeedManager feeds = FeedManager.open(store)) {
            feeds.start(DEFINITION + "transform: { b: { function: trying, of: a } }\n", directory);
            store.environment()
                    .tasks()
                    .await(() -> feeds.status("calls").state() == FeedState.PAUSED);
            FeedStatus paused = feeds.status("calls");
            assertThat(paused.cause()).contains("failed 10 times in a row");
            assertThat(paused.records()).isEqualTo(1);
            assertThat(paused.rejected()).isEqualTo(10);
            feeds.resume("calls");
            store.environment()
                    .tasks()
                    .await(() -> feeds.status("calls").state() == FeedState.ENDED);
            assertThat(feeds.status("calls").records()).isEqualTo(2);
        }
    }

    @Test
    void aRecordGetsWhatAnotherDatasetHas() throws IOException {
        places();
        write("""
                {"id":1,"a":"x","n":1}
                {"id":2,"a":"x","n":2}
                {"id":3,"a":"y","n":1}
                {"id":4,"a":"z","n":1}
                {"id":5,"n":1}
                {"id":6,"a":"x","n":"much"}
                """);
        FeedReport report = run(
                DEFINITION + "transform: { b: { lookup: Places, key: [a, n], field: name } }\n");
        assertThat(report.records()).isEqualTo(5);
        assertThat(report.rejected()).isEqualTo(1);
        assertThat(get(1)).containsEntry("b", "one");
        assertThat(get(2)).containsEntry("b", "two");
        assertThat(get(3)).containsEntry("b", null);
        assertThat(get(4)).containsEntry("b", null);
        assertThat(get(5)).containsEntry("b", null);
    }

    @Test
    void aBatchSeesOneMomentAndTheNextAnother() throws IOException {
        Dataset places = places();
        TryingFunction.told = () -> places.upsert(Map.of("code", "x", "number", 2, "name", "new"));
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < 600; i++) { // a batch has 512
            lines.append("{\"id\":%d,\"a\":\"%s\",\"n\":%d}\n"
                    .formatted(i, i == 1 ? "run" : "x", i == 0 ? 1 : 2));
        }
        write(lines.toString());
        FeedReport report = run(DEFINITION + """
                transform:
                  a: { function: trying, of: a }
                  b: { lookup: Places, key: ["'x'", n], field: name }
                """);
        assertThat(report.records()).isEqualTo(600);
        assertThat(get(0)).containsEntry("b", "one");
        assertThat(get(2)).containsEntry("b", "two");
        assertThat(get(511)).containsEntry("b", "two");
        assertThat(get(512)).containsEntry("b", "new");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{ function: none, of: a }|'none' is none that this process has: [trying]",
                "{ lookup: None, key: a, field: b }|looks up in dataset None, which is not there",
                "{ lookup: Places, key: [a, n], field: z }|'z', which dataset Places does not",
                "{ lookup: Places, key: a, field: name }|has a key of 1 parts; that of dataset",
                "{ lookup: Places, field: name }|key is missing",
                "{ lookup: Places, key: [a, n] }|field is missing",
                "{ lookup: Places, key: [a, n], field: name, more: 1 }|is an unknown key",
                "{ lookup: Places, key: 'left(', field: name }|at position",
            })
    void whatCantBeAskedIsRefusedByName(String transform, String message) throws IOException {
        places();
        write("");
        assertThatThrownBy(() -> run(DEFINITION + "transform: { b: " + transform + " }\n"))
                .isInstanceOf(DefinitionException.class)
                .hasMessageContaining("transform.b")
                .hasMessageContaining(message);
    }
}
