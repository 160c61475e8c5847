package io.turbidite.feeds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.meter.Counter;
import io.turbidite.core.time.Clock;
import io.turbidite.core.type.Point;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.schedule.BackgroundOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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

    /** The bug: they stayed there without a word. */
    @Test
    void what_another_source_of_the_name_has_spilled_is_not_left_behind() throws IOException {
        write("people.csv", "id,name,lon,lat\n1,a,2,3\n");
        store();
        Path spilled = directory.resolve("store/feed-spill/people");
        Path segment =
                Files.createFile(Files.createDirectories(spilled).resolve("000000000001.spill"));
        assertThatThrownBy(() -> run(DEFINITION))
                .hasMessageContainingAll("feed-spill/people", "another source of feed 'people'");
        Files.delete(segment); // what is left of one that was killed when it had delivered all
        assertThat(run(DEFINITION).records()).isEqualTo(1);
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
            store().environment().tasks().await(() -> {
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
    void aParameterOfAMergePolicyThatIsLeftOutIsAsInTheStore() throws IOException {
        write("people.csv", "id,name,lon,lat\n1,Ada,,\n");
        assertThat(run(withMergePolicy("kind: tiering, sizeRatio: 1.2")).records())
                .isEqualTo(1);
        assertThat(run(withMergePolicy("kind: tiering, mergeCountMin: 2")).finished())
                .isTrue();
        assertThatThrownBy(() -> run(withMergePolicy("kind: tiering, sizeRatio: 3")))
                .isInstanceOf(DefinitionException.class)
                .hasMessageContaining("is tiering(sizeRatio=3.0, mergeCountMin=2");
    }

    private static String withMergePolicy(String policy) {
        return DEFINITION.replace(
                "primaryKey: id", "mergePolicy: { " + policy + " }\n  primaryKey: id");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "name: string | name: \"string?\" | :4: dataset.type.name is string?, but dataset People | has string: write string",
                "name: string | nom: string, name: string | :4: dataset.type.nom is 'string' | has no such field: take it out",
                "born: \"date?\", | born: date, | :4: dataset.type.born is date | has date?: write date?",
                "primaryKey: id | primaryKey: [id, name] | :5: dataset.primaryKey is [id, name] | has id: write id",
                "filter: born | filter: name | :6: dataset.filter is name | has born: write born",
                "filter: born | filter: [born, name] | :6: dataset.filter is [born, name] | has born: write born",
                "primaryKey: id | partitions: 4\\n  primaryKey: id | :5: dataset.partitions is 4 | has 1: write 1",
                "primaryKey: id | maintenance: validation\\n  primaryKey: id | :5: dataset.maintenance is validation | has eager: write eager",
                "primaryKey: id | mergePolicy: { kind: no-merge }\\n  primaryKey: id | :5: dataset.mergePolicy is no-merge | has tiering(",
                "primaryKey: id | pageBytes: 8KiB\\n  primaryKey: id | :5: dataset.pageBytes is 8192 | has 16384: write 16384",
                "primaryKey: id | compression: lz4\\n  primaryKey: id | :5: dataset.compression is lz4 | has none",
                "primaryKey: id | repair: off\\n  primaryKey: id | :5: dataset.repair is off | has merge: write merge",
                "primaryKey: id | mergePolicy: { kind: correlated-prefix }\\n  retain: 30d\\n  primaryKey: id | :6: dataset.retain is 30d | has none: take the key out",
            })
    void whatADatasetHasForLifeIsNamedWithBothWaysOut(
            String what, String by, String place, String there) throws IOException {
        write("people.csv", "id,name,lon,lat,nom\n1,Ada,,,\n");
        assertThat(run(DEFINITION).records()).isEqualTo(1);
        assertThat(DEFINITION).contains(what);
        assertThatThrownBy(() -> run(DEFINITION.replace(what, by.replace("\\n", "\n"))))
                .isInstanceOf(DefinitionException.class)
                .hasMessageContainingAll(
                        "feed.yaml" + place,
                        there,
                        "in store " + directory.resolve("store"),
                        "or load into a new dataset (new names at dataset.name and feed)");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "on: name } | on: id } | .on is id, but index by_name of dataset People in store DIR has name: write name, or ./turbidite index drop DIR People by_name and ./turbidite index create DIR People by_name --on id --maintenance eager",
                "on: name } | on: name, unique: true } | .unique is true, but index by_name of dataset People in store DIR has false: write false, or ./turbidite index drop DIR People by_name and ./turbidite index create DIR People by_name --on name --unique --maintenance eager",
                "on: name } | on: name, maintenance: validation } | .maintenance is validation, but index by_name of dataset People in store DIR has eager: write eager, or ./turbidite index drop DIR People by_name and ./turbidite index create DIR People by_name --on name --maintenance validation",
                "on: name } | on: name, pageBytes: 8KiB } | .pageBytes is 8192, but index by_name of dataset People in store DIR has 16384: write 16384, or ./turbidite index drop DIR People by_name and ./turbidite index create DIR People by_name --on name --maintenance eager --page-bytes 8192",
                "name: by_name | name: by_nom | ' is index by_nom, which dataset People in store DIR has not: ./turbidite index create DIR People by_nom --on name --maintenance eager'",
            })
    void whatAnIndexDiffersInIsNamedWithItsCommands(String what, String by, String message)
            throws IOException {
        write("people.csv", "id,name,lon,lat\n1,Ada,,\n");
        assertThat(run(DEFINITION).records()).isEqualTo(1);
        assertThat(DEFINITION).contains(what);
        assertThatThrownBy(() -> run(DEFINITION.replace(what, by)))
                .isInstanceOf(DefinitionException.class)
                .hasMessage(directory.resolve("feed.yaml")
                        + ":8: dataset.indexes[0]"
                        + message.replace("DIR", directory.resolve("store").toString()));
    }

    @Test
    void aDisabledIndexIsToldWithTheCommandThatEnablesIt() throws IOException {
        write("people.csv", "id,name,lon,lat\n1,Ada,,\n");
        assertThat(run(DEFINITION).records()).isEqualTo(1);
        store().dataset("People").disableIndex("by_name");
        assertThatThrownBy(() -> run(DEFINITION))
                .hasMessageContainingAll(
                        ":8: dataset.indexes[0] is index by_name, which is disabled",
                        "./turbidite index enable " + directory.resolve("store"));
    }

    @Test
    void allThatContradictsTheDatasetAndTheSourceIsToldAtOnce() throws IOException {
        write("people.csv", "id,name,lon,lat\n1,Ada,,\n");
        assertThat(run(DEFINITION).records()).isEqualTo(1);
        assertThatThrownBy(() -> run(DEFINITION
                        .replace("name: string", "name: \"string?\"")
                        .replace("primaryKey: id", "partitions: 4\n  primaryKey: id")
                        .replace(
                                "on: name }",
                                "on: id }\n    - { name: by_id, kind: btree, on: id }")
                        .replace("path: people.csv", "path: nobody.csv")))
                .isInstanceOfSatisfying(
                        DefinitionException.class,
                        e -> assertThat(e.problems())
                                .extracting(DefinitionException.Problem::key)
                                .containsExactly(
                                        "dataset.type.name",
                                        "dataset.partitions",
                                        "dataset.indexes[0].on",
                                        "dataset.indexes[1]",
                                        "source.path"));
    }

    @Test
    void whatDoesNoHarmIsNoContradiction() throws IOException {
        write("people.csv", "id,name,lon,lat\n1,Ada,,\n");
        String full = DEFINITION.replace(
                "filter: born",
                "filter: born\n  partitions: 2\n  compression: lz4\n  maintenance: validation\n"
                        + "  mergePolicy: { kind: correlated-prefix }\n  repair: off");
        assertThat(run(full).records()).isEqualTo(1);
        Dataset people = store().dataset("People");
        people.createIndex(IndexSpec.btree("by_born", "born"));
        people.createIndex(IndexSpec.btree("by_both", "name", "born"));
        people.disableIndex("by_both");
        write("people.csv", "id,name,lon,lat\n1,Ada,,\n2,Bob,3,4\n");
        String little = DEFINITION
                .replace("  filter: born\n", "")
                .replace("id: int64, name: string,", "name: string, id: int64,");
        assertThat(run(little).records()).isEqualTo(1);
        assertThat(get(2)).containsEntry("name", "Bob").containsEntry("place", new Point(3, 4));
        assertThat(people.filterFields()).containsExactly("born");
    }

    @Test
    void aDatasetThatForgetsIsNotFedByADefinitionThatKeepsAll() throws IOException {
        write("people.csv", "id,name,lon,lat\n1,Ada,,\n");
        String keeping = DEFINITION.replace(
                "filter: born", "filter: born\n  mergePolicy: { kind: correlated-prefix }");
        assertThat(run(keeping.replace("filter: born", "filter: born\n  retain: 30d"))
                        .records())
                .isEqualTo(1);
        assertThatThrownBy(() -> run(keeping))
                .hasMessageContainingAll(
                        "feed.yaml:2: dataset.retain is missing", "has 30d: write 'retain: 30d'");
    }

    @Test
    void aFeedWhoseDatasetWasDroppedDoesNotFillANewOneFromItsMiddle() throws IOException {
        write("people.csv", "id,name,lon,lat\n1,Ada,,\n");
        assertThat(run(DEFINITION).records()).isEqualTo(1);
        store().dropDataset("People");
        assertThatThrownBy(() -> run(DEFINITION))
                .isInstanceOf(DefinitionException.class)
                .hasMessageContainingAll(
                        "feed.yaml:1: feed 'people' has already read people.csv, but dataset People is gone",
                        "give the feed another name");
        assertThat(store().findDataset("People")).isNull();
        assertThat(run(DEFINITION.replace("feed: people", "feed: again")).records())
                .isEqualTo(1);
        // the feed of before does not know this one, and the new one goes on
        assertThatThrownBy(() -> run(DEFINITION))
                .isInstanceOf(DefinitionException.class)
                .hasMessageContaining(
                        "has already read people.csv into a dataset that is gone (People was made since): give the feed another name");
        write("people.csv", "id,name,lon,lat\n1,Ada,,\n2,Bob,,\n");
        assertThat(run(DEFINITION.replace("feed: people", "feed: again")).records())
                .isEqualTo(1);
        assertThat(get(2)).containsEntry("name", "Bob");
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
