package io.turbidite.feeds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.feeds.parse.ShapingParser;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;

/** What {@code where} leaves out, and what {@code explode} makes of a record. */
class ShapeTest {
    private static final String DEFINITION = """
            feed: tags
            dataset:
              name: Tags
              type: { id: int64, tag: string, size: "int32?", at: "datetime?" }
              primaryKey: [id, tag]
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

    private @Nullable Map<String, @Nullable Object> get(long id, String tag) {
        return store.dataset("Tags").get(id, tag);
    }

    private static String letters(FeedReport report) throws IOException {
        return Files.readString(Path.of(Objects.requireNonNull(report.deadLetters())));
    }

    @Test
    void eachElementMakesARecordAndWhatIsWrongMakesNone() throws IOException {
        write("""
                {"id":1,"tag":["a","b"],"size":7,"more":{"x":1}}
                {"id":2,"tag":[]}
                {"id":3}
                {"id":4,"tag":null}
                {"id":5,"tag":"a"}
                {"id":6,"tag":["a",7]}
                {"id":7,"tag":["c"]}
                """);
        FeedReport report =
                run(DEFINITION + "explode: tag\ntransform: { tag: \"concat(tag, '!')\" }\n");
        assertThat(report.records()).isEqualTo(5);
        assertThat(report.dropped()).isEqualTo(3);
        assertThat(report.rejected()).isEqualTo(1);
        assertThat(get(1, "a!")).containsEntry("size", 7).containsEntry("more", Map.of("x", 1L));
        assertThat(get(1, "b!")).isNotNull();
        assertThat(get(6, "7!")).isNotNull();
        assertThat(letters(report))
                .contains("\"line\":5", "explode: 'tag' is no array, but STRING");
        FeedReport again = run(DEFINITION + "explode: tag\n");
        assertThat(again.records() + again.dropped() + again.rejected()).isZero();
    }

    @Test
    void aRecordOfWhichOneElementIsWrongIsOneDeadLetter() throws IOException {
        write("""
                {"id":1,"tag":["a","b",{"c":1}]}
                {"id":2,"tag":["a"]}
                """);
        FeedReport report = run(DEFINITION + "explode: tag\n");
        assertThat(report.records()).isEqualTo(1);
        assertThat(report.rejected()).isEqualTo(1);
        assertThat(get(1, "a")).isNull();
        assertThat(get(2, "a")).isNotNull();
    }

    @Test
    void oneRecordMakesSoManyAndNoMore() throws IOException {
        int most = ShapingParser.RECORDS_MAX;
        write("""
                {"id":1,"tag":[%s]}
                {"id":2,"tag":[%s]}
                """.formatted(numbers(most), numbers(most + 1)));
        FeedReport report = run(DEFINITION + "explode: tag\n");
        assertThat(report.records()).isEqualTo(most);
        assertThat(report.rejected()).isEqualTo(1);
        assertThat(letters(report)).contains("it becomes more than 4096 records");
        assertThat(get(1, "t" + (most - 1))).isNotNull();
    }

    private static String numbers(int count) {
        StringBuilder list = new StringBuilder();
        for (int i = 0; i < count; i++) {
            list.append(i == 0 ? "" : ",").append("\"t").append(i).append('"');
        }
        return list.toString();
    }

    @Test
    void ofTheRecordsThatOneBecomesTheStoreRefusesThoseAlone() throws IOException {
        write("""
                {"id":1,"tag":["a","b","a","b","c"]}
                """);
        FeedReport report = run(DEFINITION + "explode: tag\nmode: insert\n");
        assertThat(report.records()).isEqualTo(3);
        assertThat(report.rejected()).isEqualTo(2);
        assertThat(letters(report).lines())
                .hasSize(2)
                .allSatisfy(letter -> assertThat(letter).contains("[\\\"a\\\",\\\"b\\\""));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "size > 5 and tag != 'd'|2",
                "size is null|1",
                "not (size > 5)|1",
                "tag in ('a', 'e')|2",
                "at >= '2026-01-01T00:00:00Z'|1",
                "length(tag) == 1|5",
            })
    void aConditionLeavesOut(String condition, int records) throws IOException {
        write("""
                {"id":1,"tag":"a","size":9}
                {"id":1,"tag":"b","size":6,"at":"2026-05-01T00:00:00Z"}
                {"id":1,"tag":"c","size":5,"at":"2025-05-01T00:00:00Z"}
                {"id":1,"tag":"d","size":8}
                {"id":1,"tag":"e"}
                """);
        FeedReport report = run(DEFINITION + "where: \"" + condition + "\"\n");
        assertThat(report.records()).isEqualTo(records);
        assertThat(report.dropped()).isEqualTo(5 - records);
        assertThat(report.rejected()).isZero();
    }

    @Test
    void whatIsAllLeftOutIsNotReadAgain() throws IOException {
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < 5_000; i++) {
            lines.append("{\"id\":").append(i).append(",\"tag\":\"a\"}\n");
        }
        write(lines.toString());
        FeedReport report = run(DEFINITION + "where: id < 0\n");
        assertThat(report.dropped()).isEqualTo(5_000);
        assertThat(report.records()).isZero();
        assertThat(run(DEFINITION + "where: id < 0\n").dropped()).isZero();
    }

    @Test
    void aConditionReadsColumnsOfCsvAsTheyAreStored() throws IOException {
        write("id,tag,size\n1,a,10\n2,b,9\n3,c,\n");
        FeedReport report = run(DEFINITION.replace("kind: json", "kind: csv")
                + "where: size > 9\ntransform: { size: \"int32(size)\" }\n");
        assertThat(report.records()).isEqualTo(1);
        assertThat(report.dropped()).isEqualTo(2);
        assertThat(get(1, "a")).containsEntry("size", 10);
    }

    @Test
    void aLastLineThatGoesOnIsTakenAnewWhereItWasLeftOut() throws IOException {
        write("{\"id\":1,\"tag\":\"a\",\"size\":1}");
        assertThat(run(DEFINITION + "where: size > 0\n").records()).isEqualTo(1);
        write("{\"id\":1,\"tag\":\"a\",\"size\":1}\n{\"id\":2,\"tag\":\"a\",\"size\":1}\n");
        FeedReport more = run(DEFINITION + "where: size > 0\n");
        assertThat(more.records()).isEqualTo(1);
        assertThat(more.continued()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "explode: none|f.yaml:8: explode is wrong: 'none' is no declared field",
                "where: size >|f.yaml:8: where is wrong: ",
                "where: other > 3|f.yaml:8: where is wrong: ",
            })
    void whatMakesNoSenseIsRefusedByName(String line, String message) throws IOException {
        write("");
        assertThatThrownBy(() -> run(DEFINITION + line + "\n"))
                .isInstanceOf(DefinitionException.class)
                .hasMessageContaining(message);
        assertThatThrownBy(
                        () -> run(DEFINITION.replace("kind: json", "kind: csv") + "explode: tag\n"))
                .hasMessageContaining("a record of CSV has no arrays");
        assertThatThrownBy(() -> run(DEFINITION.replace("tag: string", "tag: string, l: '[string]'")
                        + "explode: l\n"))
                .hasMessageContaining("declare it as what one element is");
        assertThatThrownBy(() -> run(DEFINITION + "mode: delete\nwhere: size > 3\n"))
                .hasMessageContaining("where is wrong: ");
    }
}
