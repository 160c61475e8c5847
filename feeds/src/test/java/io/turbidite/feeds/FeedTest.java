package io.turbidite.feeds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.meter.Counter;
import io.turbidite.core.time.Clock;
import io.turbidite.core.type.Point;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.schedule.BackgroundOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Definitions and files on the real disk, into a real store. */
class FeedTest {
    private static final String DEFINITION = """
            feed: people
            dataset:
              name: People
              type: { id: int64, name: string, born: "date?", place: "point?" }
              primaryKey: id
              filter: born
              indexes:
                - { name: by_name, kind: btree, on: name }
            source: { kind: file, path: people.csv }
            parser: { kind: csv }
            transform: { place: "point(lon, lat)" }
            """;

    @TempDir
    private Path directory;

    private @Nullable Store store;

    private Store store() {
        Store open = store;
        if (open == null) {
            open = Store.open(directory.resolve("store"), StoreOptions.defaults());
            store = open;
        }
        return open;
    }

    @AfterEach
    void closeStore() {
        if (store != null) {
            assertThat(store.verify().errors()).isEmpty();
            store.close();
        }
    }

    private void write(String name, String text) throws IOException {
        Files.writeString(directory.resolve(name), text);
    }

    private FeedReport run(String definition) throws IOException {
        write("feed.yaml", definition);
        FeedDefinition loaded = FeedDefinition.load(directory.resolve("feed.yaml"));
        try (Feed feed = Feed.open(loaded, store())) {
            return feed.run(FeedProgress.none());
        }
    }

    private List<String> letters(FeedReport report) throws IOException {
        return Files.readAllLines(Path.of(Objects.requireNonNull(report.deadLetters())));
    }

    private Map<String, @Nullable Object> get(long id) {
        return Objects.requireNonNull(store().dataset("People").get(id));
    }

    @Test
    void aFeedFillsItsDatasetAndItsDeadLetters() throws IOException {
        write("people.csv", """
                id,name,born,lon,lat,color
                1,Ada,1815-12-10,-0.1,51.5,red
                2,"Grace
                Hopper",,,,blue
                x,Nobody,,,,
                3,Short
                4,Alan,1912-06-23,,,
                """);
        FeedReport report = run(DEFINITION);
        assertThat(report.records()).isEqualTo(3);
        assertThat(report.rejected()).isEqualTo(2);
        assertThat(report.finished()).isTrue();
        assertThat(report.resumed()).isFalse();
        assertThat(get(1))
                .containsEntry("place", new Point(-0.1, 51.5))
                .containsEntry("color", "red")
                .containsEntry("lat", "51.5");
        assertThat(get(2)).containsEntry("name", "Grace\nHopper").containsEntry("born", null);
        assertThat(letters(report))
                .containsExactly(
                        "{\"source\":\"people.csv\",\"line\":5,\"offset\":83,\"reason\":\"field 'id': 'x' is not of "
                                + "type int64; expected an integer\",\"raw\":\"x,Nobody,,,,\"}",
                        "{\"source\":\"people.csv\",\"line\":6,\"offset\":96,\"reason\":\"it has 2 fields, the "
                                + "header has 6\",\"raw\":\"3,Short\"}");
    }

    @Test
    void runningItAgainAddsWhatIsNewAndNothingElse() throws IOException {
        write("people.csv", "id,name,lon,lat\n1,Ada,,\nbad,,,\n");
        assertThat(run(DEFINITION).records()).isEqualTo(1);
        FeedReport again = run(DEFINITION);
        assertThat(again.records()).isZero();
        assertThat(again.rejected()).isZero();
        assertThat(again.resumed()).isTrue();
        assertThat(again.finished()).isTrue();
        write("people.csv", "id,name,lon,lat\n1,Ada,,\nbad,,,\n2,Bob,1,2\n");
        FeedReport more = run(DEFINITION);
        assertThat(more.records()).isEqualTo(1);
        assertThat(letters(more)).hasSize(1);
        assertThat(get(2)).containsEntry("name", "Bob");
    }

    /** Flushes may write next to nothing, so the store's memory fills and the feed stands. */
    @Test
    void aRunThatTheStoreHoldsBackEndsSoonAfterItIsStopped() throws Exception {
        StringBuilder rows = new StringBuilder("id,name,lon,lat,note\n");
        String note = "n".repeat(2_000);
        int count = 6_000;
        for (int id = 0; id < count; id++) {
            rows.append(id).append(",Ada,,,").append(note).append('\n');
        }
        writeLongAgo(rows.toString());
        store = Store.open(
                directory.resolve("store"),
                StoreOptions.defaults()
                        .withWriteMemoryBytes(4 << 20)
                        .withBackground(
                                BackgroundOptions.defaults().withIoBytesPerSecond(64 << 10)));
        write("feed.yaml", DEFINITION);
        FeedDefinition loaded = FeedDefinition.load(directory.resolve("feed.yaml"));
        FeedReport stopped;
        try (Feed feed = Feed.open(loaded, store())) {
            CompletableFuture<FeedReport> running =
                    CompletableFuture.supplyAsync(() -> feed.run(FeedProgress.none()));
            Clock clock = Clock.system();
            Counter ingested = store().meters().counter("write.bytes");
            long[] seen = {-1, 0};
            store().surroundings().tasks().await(() -> {
                long now = clock.monotonicNanos();
                if (ingested.sum() != seen[0]) {
                    seen[0] = ingested.sum();
                    seen[1] = now;
                }
                return seen[0] > 0 && now - seen[1] >= 600_000_000;
            });
            assertThat(running).isNotDone();
            feed.stopWithin(500_000);
            stopped = running.get(2, TimeUnit.SECONDS);
        }
        assertThat(stopped.finished()).isFalse();
        assertThat(stopped.records()).isPositive().isLessThan(count);
        store().close();
        store = null;
        FeedReport rest = run(DEFINITION);
        assertThat(rest.finished()).isTrue();
        assertThat(rest.records()).isEqualTo(count - stopped.records());
        assertThat(get(0)).isNotNull();
        assertThat(get(count - 1)).isNotNull();
    }

    /** So long ago that its writer is taken to be through with it. */
    private void writeLongAgo(String text) throws IOException {
        write("people.csv", text);
        Files.setLastModifiedTime(directory.resolve("people.csv"), FileTime.fromMillis(0));
    }

    @Test
    void aRecordThatGoesOnIsReplacedUnderItsKeyAndOnlyThere() throws IOException {
        writeLongAgo("id,name,lon,lat\n1,Ada,1,1");
        assertThat(run(DEFINITION).records()).isEqualTo(1);
        writeLongAgo("id,name,lon,lat\n1,Ada,1,1234\n7,Bob,1,1");
        FeedReport second = run(DEFINITION);
        assertThat(second.records()).isEqualTo(2);
        assertThat(second.continued()).hasSize(1);
        assertThat(second.continued().getFirst().outcome()).isEqualTo("replaced");
        assertThat(store().events().recent()).contains(second.continued().getFirst());
        assertThat(get(1)).containsEntry("place", new Point(1, 1234));
    }

    @Test
    void aRecordThatGoesOnInItsKeyIsADeadLetter() throws IOException {
        String byLon = DEFINITION
                .replace("primaryKey: id", "primaryKey: number")
                .replace("id: int64,", "id: int64, number: int64,");
        writeLongAgo("id,name,lon,lat,number\n1,Ada,1,1,12");
        assertThat(run(byLon).records()).isEqualTo(1);
        writeLongAgo("id,name,lon,lat,number\n1,Ada,1,1,1234\n");
        FeedReport second = run(byLon);
        assertThat(second.records()).isZero();
        assertThat(second.rejected()).isEqualTo(1);
        assertThat(get(12)).containsEntry("name", "Ada");
        assertThat(store().dataset("People").get(1234L)).isNull();
        assertThat(letters(second)).hasSize(1);
        assertThat(letters(second).getFirst())
                .contains("taken as '1,Ada,1,1,12'", "\"raw\":\"1,Ada,1,1,1234\"");
    }

    @Test
    void anInsertThatGoesOnIsADeadLetter() throws IOException {
        String insert = DEFINITION + "mode: insert\n";
        writeLongAgo("id,name,lon,lat\n1,Ada,1,1");
        assertThat(run(insert).records()).isEqualTo(1);
        writeLongAgo("id,name,lon,lat\n1,Ada,1,1234\n");
        assertThat(run(insert).rejected()).isEqualTo(1);
        assertThat(get(1)).containsEntry("place", new Point(1, 1));
    }

    @Test
    void aFeedGoesOnInAStoreThatWasClosedBetween() throws IOException {
        write("people.csv", "id,name,lon,lat\n1,Ada,,\nbad,,,\n");
        assertThat(run(DEFINITION).records()).isEqualTo(1);
        closeStore();
        store = null;
        assertThat(run(DEFINITION).records()).isZero();
        assertThat(get(1)).containsEntry("name", "Ada");
    }

    @Test
    void insertsOfTakenKeysAreDeadLettersAndTheRestIsThere() throws IOException {
        StringBuilder text = new StringBuilder("id,name,lon,lat\n");
        for (int i = 0; i < 2_000; i++) {
            text.append(i % 3 == 0 ? i / 2 : i).append(",n").append(i).append(",,\n");
        }
        write("people.csv", text.toString());
        FeedReport report = run(DEFINITION + "mode: insert\n");
        long distinct = text.toString()
                .lines()
                .skip(1)
                .map(l -> l.substring(0, l.indexOf(',')))
                .distinct()
                .count();
        assertThat(report.records()).isEqualTo(distinct);
        assertThat(report.rejected()).isEqualTo(2_000 - distinct);
        assertThat(letters(report)).hasSize((int) (2_000 - distinct));
        assertThat(letters(report))
                .allSatisfy(letter ->
                        assertThat(letter).contains("already has a record with primary key"));
        assertThat(get(0)).as("the first one stays").containsEntry("name", "n0");
    }

    @Test
    void deletesNeedOnlyTheKey() throws IOException {
        write("people.csv", "id,name,lon,lat\n1,Ada,,\n2,Bob,,\n3,Cid,,\n");
        assertThat(run(DEFINITION).records()).isEqualTo(3);
        write("gone.csv", "id\n1\nx\n3\n99\n");
        FeedReport report = run(DEFINITION
                        .replace("feed: people", "feed: leavers")
                        .replace("people.csv", "gone.csv")
                + "mode: delete\n");
        assertThat(report.records()).isEqualTo(3);
        assertThat(report.rejected()).isEqualTo(1);
        Dataset people = store().dataset("People");
        assertThat(people.get(1L)).isNull();
        assertThat(people.get(2L)).isNotNull();
        assertThat(people.get(3L)).isNull();
    }

    @Test
    void jsonLinesAreTransformedToo() throws IOException {
        write("people.csv", """
                {"id":1,"name":"Ada","lon":-0.1,"lat":"51.5","tags":["a"]}
                {"id":"2","name":"Wrong type"}

                {"id":3,"name":"Cut
                {"id":4,"name":"Last","born":"2000-02-29"}""");
        FeedReport report = run(DEFINITION.replace("kind: csv", "kind: json"));
        assertThat(report.records()).isEqualTo(2);
        assertThat(report.rejected()).isEqualTo(2);
        assertThat(get(1))
                .containsEntry("place", new Point(-0.1, 51.5))
                .containsEntry("tags", List.of("a"));
        assertThat(get(4)).containsEntry("place", null);
        assertThat(letters(report)).last().asString().contains("\"line\":4", "\"offset\":91");
    }

    @Test
    void keysThatAreTooLongAreDeadLetters() throws IOException {
        String name = "n".repeat(1_100);
        write("people.csv", "id,name,lon,lat\n1,%s,,\n2,Bob,,\n".formatted(name));
        FeedReport report = run(DEFINITION);
        assertThat(report.records()).isEqualTo(1);
        assertThat(letters(report)).singleElement().asString().contains("1024", "\"line\":2");
    }

    @Test
    void aDefinitionThatDiffersFromTheDatasetIsRefusedByKey() throws IOException {
        write("people.csv", "id,name,lon,lat\n1,Ada,,\n");
        assertThat(run(DEFINITION).records()).isEqualTo(1);
        Map<String, String> changes = Map.of(
                "name: string", "type",
                "filter: born", "filter",
                "on: name", "indexes",
                "primaryKey: id", "primaryKey");
        Map<String, String> replacements = Map.of(
                "name: string", "name: \"string?\"",
                "filter: born", "filter: name",
                "on: name", "on: id",
                "primaryKey: id", "primaryKey: [id, name]");
        changes.forEach((what, key) -> assertThatThrownBy(() -> run(
                        DEFINITION.replace(what, Objects.requireNonNull(replacements.get(what)))))
                .isInstanceOf(DefinitionException.class)
                .hasMessageContainingAll(
                        "feed.yaml:", "dataset." + key + " differs from dataset People"));
        assertThatThrownBy(() -> run(
                        DEFINITION.replace("primaryKey: id", "partitions: 4\n  primaryKey: id")))
                .hasMessageContaining(
                        "dataset.partitions differs from dataset People in the store: it says 4, there it is 1");
        assertThatThrownBy(() -> run(DEFINITION.replace(
                        "primaryKey: id", "mergePolicy: { kind: no-merge }\n  primaryKey: id")))
                .hasMessageContaining("dataset.mergePolicy differs");
    }

    @Test
    void aSourceThatDoesNotFitIsRefusedBeforeAnythingIsMade() throws IOException {
        write("feed.yaml", DEFINITION);
        FeedDefinition definition = FeedDefinition.load(directory.resolve("feed.yaml"));
        assertThatThrownBy(() -> Feed.check(definition))
                .isInstanceOf(DefinitionException.class)
                .hasMessageContainingAll("feed.yaml:9: source.path", "people.csv");
        write("people.csv", "id,name\n");
        assertThatThrownBy(() -> Feed.check(definition))
                .hasMessageContainingAll(
                        "feed.yaml:9: source.path", "'lon'", "columns are id, name");
        write("people.csv", "id,lon,lat\n");
        assertThatThrownBy(() -> Feed.open(definition, store()))
                .hasMessageContaining("required field 'name'");
        assertThat(store().datasets()).isEmpty();
        write("people.csv", "id,name,lon,lat\n");
        Feed.check(definition);
    }

    @Test
    void progressIsToldAndAStoppedFeedGoesOnLater() throws IOException {
        StringBuilder text = new StringBuilder("id,name,lon,lat\n");
        for (int i = 0; i < 50_000; i++) {
            text.append(i).append(",name,,\n");
        }
        write("people.csv", text.toString());
        write("feed.yaml", DEFINITION);
        FeedDefinition definition = FeedDefinition.load(directory.resolve("feed.yaml"));
        List<Long> totals = new ArrayList<>();
        long first;
        try (Feed feed = Feed.open(definition, store())) {
            FeedReport report = feed.run((records, rejected, bytes, total) -> {
                totals.add(total);
                feed.stopWithin(500_000);
            });
            first = report.records();
        }
        FeedReport rest = run(DEFINITION);
        assertThat(totals).containsOnly((long) text.length());
        assertThat(first + rest.records()).isEqualTo(50_000);
        assertThat(rest.finished()).isTrue();
        assertThat(get(49_999)).containsEntry("name", "name");
    }
}
