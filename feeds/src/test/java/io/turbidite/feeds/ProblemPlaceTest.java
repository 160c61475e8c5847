package io.turbidite.feeds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.turbidite.feeds.DefinitionException.Problem;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Each way to get a definition wrong is told with file, line and key, whoever finds it: reader,
 * source, store or log.
 */
class ProblemPlaceTest {
    private static final String GOOD = """
            feed: people
            dataset:
              name: People
              type:
                id: int64
                name: string
                born: datetime?
                place: point?
              primaryKey: id
              filter: born
              retain: 30d
              mergePolicy: { kind: correlated-prefix }
              indexes:
                - { name: by_name, kind: btree, on: name }
            source: { kind: file, path: people.csv }
            parser: { kind: csv, header: false, columns: [id, name, lon, lat] }
            transform:
              place: point(lon, lat)
            mode: upsert
            store:
              cacheBytes: 64MiB
              directIo: false
            """;

    private static final String GOOD_LOG = """
            feed: events
            log:
              name: Events
              parser: json
              psfs:
                type: field(type)
              retain: 30d
              retainBytes: 1GiB
            source: { kind: file, path: events.json }
            """;

    @TempDir
    private Path directory;

    private static String changed(String good, String what, String by) {
        assertThat(good).contains(what);
        return good.replace(what, by == null ? "" : by.replace("\\n", "\n"));
    }

    private Path write(String yaml) throws IOException {
        Files.writeString(directory.resolve("people.csv"), "1,Ada,1,2\n");
        Files.writeString(directory.resolve("events.json"), "{\"type\":\"push\"}\n");
        Files.createDirectories(directory.resolve("empty"));
        return Files.writeString(directory.resolve("f.yaml"), yaml);
    }

    private void open(Path file) {
        if (LogFeedDefinition.isOfLog(file)) {
            LogFeed.open(LogFeedDefinition.load(file), directory.resolve("store"))
                    .close();
            return;
        }
        FeedDefinition definition = FeedDefinition.load(file);
        Feed.check(definition);
        try (Store store = Store.open(directory.resolve("store"), StoreOptions.defaults());
                Feed feed = Feed.open(definition, store)) {
            assertThat(feed.definition()).isEqualTo(definition);
        }
    }

    private DefinitionException refused(String yaml) throws IOException {
        Path file = write(yaml);
        DefinitionException e = catchThrowableOfType(DefinitionException.class, () -> open(file));
        assertThat(e).as(yaml).isNotNull();
        assertThat(directory.resolve("store")).doesNotExist();
        return e;
    }

    @Test
    void theGoodOnesAreGood() throws IOException {
        open(write(GOOD));
        open(write(GOOD_LOG));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "columns: [id, name, lon, lat] | columns: [id, lon, lat] | 16: parser.columns | required field 'name' is neither a column nor a transform",
                "columns: [id, name, lon, lat] | columns: [id, name, lon] | 16: parser.columns | reads 'lat', which is neither a column nor",
                "columns: [id, name, lon, lat] | columns: [id, id] | 16: parser.columns | 'id' is there twice",
                "columns: [id, name, lon, lat] | columns: [id, ''] | 16: parser.columns | ''",
                "header: false, columns: [id, name, lon, lat] | header: true | 15: source.path | people.csv, which does not fit",
                "people.csv | nobody.csv | 15: source.path | nobody.csv",
                "people.csv | empty | 15: source.path | holds no file",
                "people.csv | 'a\\0b' | 15: source.path | ''",
                "retain: 30d | retain: 9999999d | 11: dataset.retain | 1,000 years",
                "retain: 30d | retain: 99999999999999999999d | 11: dataset.retain | ''",
                "retain: 30d | retain: 0s | 11: dataset.retain | such as 30d",
                "name: string | name: strin | 6: dataset.type.name | unknown type",
                "name: string | '\"\": string' | 6: dataset.type. | 1 to 255 characters",
                "primaryKey: id | primaryKey: | 9: dataset.primaryKey | has no value",
                "on: name | on: [name, name] | 14: dataset.indexes[0].on | twice",
                "on: name | on: [] | 14: dataset.indexes[0].on | is an empty list",
                "by_name | by name | 14: dataset.indexes[0].name | 1 to 64",
                "by_name | primary | 14: dataset.indexes[0].name | the primary's",
                "filter: born | filter: [born, born] | 10: dataset.filter | twice",
                "kind: correlated-prefix | kind: 7 | 12: dataset.mergePolicy.kind | must be text",
                "kind: correlated-prefix | kind: correlated-prefix, sizeRatio: [1] | 12: dataset.mergePolicy.sizeRatio | must be a single value",
                "{ kind: correlated-prefix } | { toleranceCount: 3 } | 12: dataset.mergePolicy.kind | is missing",
                "kind: correlated-prefix | kind: correlated-prefix, toleranceCount: -1 | 12: dataset.mergePolicy.toleranceCount | ''",
                "kind: correlated-prefix | kind: 'prefix(toleranceCount' | 12: dataset.mergePolicy.kind | ''",
                "name: People | name: 12 | 3: dataset.name | must be text",
                "mode: upsert | mode: 1 | 19: mode | must be text",
                "cacheBytes: 64MiB | cacheBytes: 99999999999TiB | 21: store.cacheBytes | ''",
                "cacheBytes: 64MiB | writeMemoryBytes: 1 | 21: store.writeMemoryBytes | at least",
                "cacheBytes: 64MiB | logBytesMax: 1 | 21: store.logBytesMax | ''",
                "cacheBytes: 64MiB | syncBytes: 1 | 21: store.syncBytes | ''",
                "cacheBytes: 64MiB | backlogComponentsMax: 3 | 21: store.backlogComponentsMax | from 4",
                "cacheBytes: 64MiB | mergeWorkers: 1e400000000 | 21: store.mergeWorkers | whole number",
                "directIo: false | directIo: maybe | 22: store.directIo | true or false",
                "point(lon, lat) | point(lon, lat | 18: transform.place | ''",
                "point(lon, lat) | 7 | 18: transform.place | must be text",
            })
    void ofAFeed(String what, String by, String place, String message) throws IOException {
        assertTold(changed(GOOD, what, by), place, message);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "events.json | nobody.json | 9: source.path | nobody.json",
                "events.json | empty | 9: source.path | holds no file",
                "kind: file | kind: tweets | 9: source.kind | not available",
                "name: Events | name: a/b | 3: log.name | 1 to 64",
                "name: Events | nam: Events | 2: log.name | is missing",
                "parser: json | parser: binary(8) | 4: log.parser | ''",
                "parser: json | parser: [json] | 4: log.parser | must be text",
                "type: field(type) | type: fild(type) | 6: log.psfs.type | ''",
                "type: field(type) | type: 7 | 6: log.psfs.type | must be text",
                "retain: 30d | retain: 30 | 7: log.retain | such as 30d",
                "retain: 30d | retain: 99999999999999999999d | 7: log.retain | ''",
                "retainBytes: 1GiB | retainBytes: 0 | 8: log.retainBytes | above 0",
                "retainBytes: 1GiB | retainBytes: lots | 8: log.retainBytes | number of bytes",
                "feed: events | feed: a b | 1: feed | 1 to 64",
            })
    void ofAFeedIntoALog(String what, String by, String place, String message) throws IOException {
        assertTold(changed(GOOD_LOG, what, by), place, message);
    }

    private void assertTold(String yaml, String place, String message) throws IOException {
        DefinitionException e = refused(yaml);
        assertThat(e.problems())
                .anySatisfy(problem -> assertThat(problem.toString())
                        .startsWith(directory.resolve("f.yaml") + ":" + place + " ")
                        .contains(message));
        assertThat(e.problems())
                .doesNotHaveDuplicates()
                .allSatisfy(problem -> assertThat(problem.message())
                        .doesNotContain("Exception")
                        .doesNotContain("null"));
    }

    @Test
    void whatALogHasOtherwiseIsToldAtOnceWithItsPlace() throws IOException {
        open(write(GOOD_LOG));
        Path other = write(GOOD_LOG.replace("parser: json", "parser: csv(\",\", type)")
                .replace("field(type)", "field(kind)"));
        assertThatThrownBy(() -> open(other))
                .isInstanceOfSatisfying(
                        DefinitionException.class,
                        e -> assertThat(e.problems())
                                .extracting(problem -> problem.line() + ": " + problem.key())
                                .containsExactly("4: log.parser", "6: log.psfs.type"))
                .hasMessageContainingAll("json", "field(type)", "field(kind)", "log psf");
        open(write(GOOD_LOG));
    }

    /** A wrong kind hid what else was wrong beside it until the next run. */
    @Test
    void aWrongKindHidesNothingBesideIt() throws IOException {
        DefinitionException e = refused(GOOD.replace("kind: file, path", "kind: fiel, pth")
                .replace("kind: csv, header: false", "kind: xml, header: 3"));
        assertThat(e.problems())
                .extracting(Problem::key)
                .containsExactlyInAnyOrder(
                        "source.kind", "source.path", "source.pth", "parser.kind");
    }
}
