package io.turbidite.feeds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.feeds.FeedDefinition.FormatPart;
import io.turbidite.feeds.FeedDefinition.Mode;
import io.turbidite.lsm.component.Compression;
import io.turbidite.lsm.component.PageOptions;
import io.turbidite.lsm.schedule.BackgroundOptions;
import io.turbidite.lsm.schedule.MergeScheduler;
import io.turbidite.lsm.schema.BitmapHandover;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.schema.MergeRepair;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

class FeedDefinitionTest {
    private static final String GOOD = """
            feed: flights
            dataset:
              name: Flights
              type:
                id: int64
                at: datetime
                tailnum: string?
                on: int32
                place: point?
              primaryKey: id
              filter: at
              partitions: 2
              maintenance: eager
              mergePolicy: { kind: prefix, mergeableBytesMax: 1GiB, toleranceCount: 7 }
              indexes:
                - { name: by_tail, kind: btree, on: tailnum }
                - { name: by_two,  kind: btree, on: [tailnum, on], maintenance: eager }
            source: { kind: file, path: data/flights.csv.gz }
            parser: { kind: csv, header: true }
            transform:
              place: point(lon, lat)
            policy: { kind: basic }
            mode: upsert
            store: { durability: interval, cacheBytes: 64MiB, mergeScheduler: fair, mergeWorkers: 3, ioBytesPerSecond: 50MiB, directIo: true }
            """;

    private static FeedDefinition parse(String yaml) {
        return FeedDefinition.parse("f.yaml", Path.of("/defs"), yaml);
    }

    private static List<String> problems(String yaml) {
        DefinitionException e = catchThrowableOfType(DefinitionException.class, () -> parse(yaml));
        assertThat(e).as(yaml).isNotNull();
        return e.problems().stream().map(Object::toString).toList();
    }

    @Test
    void anIndexMayBeAnRtreeOnAPoint() {
        FeedDefinition definition = FeedDefinition.parse(
                "f.yaml", null, GOOD.replace("kind: btree, on: tailnum", "kind: rtree, on: place"));
        assertThat(definition.dataset().indexes().getFirst().kind())
                .isEqualTo(IndexDescription.Kind.RTREE);
        assertThat(definition.toDatasetSpec().indexes().getFirst().kind())
                .isEqualTo(IndexDescription.Kind.RTREE);
    }

    @Test
    void tagsAreRefusedRatherThanPassedOver() {
        assertThat(problems(GOOD.replace("name: Flights", "name: !!int Flights")))
                .singleElement()
                .asString()
                .isEqualTo(
                        "f.yaml:3: dataset.name has the tag !!int, and tags are not read: leave it out; a value in quotes is text");
        assertThat(problems(
                        GOOD.replace("policy: { kind: basic }", "policy: !spill { kind: basic }")))
                .singleElement()
                .asString()
                .contains("policy has the tag !spill, and tags are not read: leave it out");
    }

    @Test
    void aFeedIntoALogIsToldWhatRunsIt() {
        assertThat(problems("feed: f\nlog: { name: L }\nsource: { kind: file, path: a.json }\n"))
                .containsExactly(
                        "f.yaml:2: log is a hash log: a feed into one is run by ./turbidite run alone, not by a server");
    }

    @Test
    void aDeferredIndexNeedsACorrelatedPolicyAndIsToldSoWithItsLine() {
        assertThat(problems(GOOD.replace(
                        "on: [tailnum, on], maintenance: eager",
                        "on: [tailnum, on], maintenance: deferred")))
                .singleElement()
                .asString()
                .contains("f.yaml:17: dataset.indexes[1].maintenance", "correlated-prefix");
    }

    @Test
    void marksAreHandedOverByEitherMethodWhereThereAreAny() {
        assertThat(parse(GOOD).dataset().options().bitmapHandover())
                .isEqualTo(BitmapHandover.SIDE_FILE);
        String lock = GOOD.replace(
                        "maintenance: eager\n",
                        "maintenance: mutable-bitmap\n  bitmapHandover: lock\n")
                .replace("kind: prefix", "kind: correlated-prefix")
                .replace(", maintenance: eager }", " }");
        assertThat(parse(lock).dataset().options().bitmapHandover()).isEqualTo(BitmapHandover.LOCK);
        assertThat(parse(lock).toDatasetSpec().bitmapHandover()).isEqualTo(BitmapHandover.LOCK);
        assertThat(problems(lock.replace("bitmapHandover: lock", "bitmapHandover: none")))
                .singleElement()
                .asString()
                .contains("dataset.bitmapHandover", "none", "side-file", "lock");
        assertThat(problems(lock.replace("mutable-bitmap", "validation")))
                .singleElement()
                .asString()
                .contains("dataset.bitmapHandover", "mutable-bitmap", "validation");
    }

    @Test
    void mergesRepairUnlessTheyAreToldNotTo() {
        assertThat(parse(GOOD).dataset().options().repair()).isEqualTo(MergeRepair.MERGE);
        String off =
                GOOD.replace("maintenance: eager\n", "maintenance: validation\n  repair: off\n");
        assertThat(parse(off).dataset().options().repair()).isEqualTo(MergeRepair.OFF);
        assertThat(parse(off).toDatasetSpec().repair()).isEqualTo(MergeRepair.OFF);
        assertThat(problems(off.replace("maintenance: validation", "maintenance: auto")))
                .anySatisfy(problem -> assertThat(problem)
                        .contains("dataset.repair", "maintenance auto", "repair off"));
        assertThat(problems(off.replace("repair: off", "repair: never")))
                .singleElement()
                .asString()
                .contains("dataset.repair", "never", "merge", "off");
    }

    @Test
    void aWholeDefinitionIsReadKeyByKey() {
        FeedDefinition definition = parse(GOOD);
        assertThat(definition.feed()).isEqualTo("flights");
        assertThat(definition.dataset().name()).isEqualTo("Flights");
        assertThat(definition.dataset().type())
                .hasToString(
                        "{id: int64, at: datetime, tailnum: string?, on: int32, place: point?}");
        assertThat(definition.dataset().primaryKey()).containsExactly("id");
        assertThat(definition.dataset().filters()).containsExactly("at");
        assertThat(definition.dataset().partitions()).isEqualTo(2);
        assertThat(definition.dataset().options().mergePolicy())
                .hasToString("prefix(mergeableBytesMax=1GiB, toleranceCount=7)");
        assertThat(definition.dataset().indexes())
                .containsExactly(
                        new FeedDefinition.IndexPart(
                                "by_tail",
                                IndexDescription.Kind.BTREE,
                                List.of("tailnum"),
                                false,
                                Maintenance.EAGER,
                                PageOptions.standard(),
                                Map.of()),
                        new FeedDefinition.IndexPart(
                                "by_two",
                                IndexDescription.Kind.BTREE,
                                List.of("tailnum", "on"),
                                false,
                                Maintenance.EAGER,
                                PageOptions.standard(),
                                Map.of()));
        assertThat(definition.source().resolved()).isEqualTo(Path.of("/defs/data/flights.csv.gz"));
        assertThat(definition.format()).isInstanceOf(FormatPart.Csv.class);
        assertThat(definition.transforms()).hasSize(1);
        assertThat(definition.mode()).isEqualTo(Mode.UPSERT);
        assertThat(definition.storeOptions().log().durability()).isEqualTo(Durability.INTERVAL);
        assertThat(definition.storeOptions().cacheBytes()).isEqualTo(64 << 20);
        assertThat(definition.storeOptions().background())
                .isEqualTo(BackgroundOptions.defaults()
                        .withMergeScheduler(MergeScheduler.FAIR)
                        .withMergeWorkers(3)
                        .withIoBytesPerSecond(50 << 20));
        assertThat(definition.origin().line("dataset.indexes[1].on")).isEqualTo(17);
        assertThat(definition.origin().line("dataset.filter.deeper")).isEqualTo(11);
    }

    private static String retaining(String filter, String policy, String retain) {
        return """
                feed: f
                dataset:
                  name: D
                  type: { id: int64, at: datetime, day: date, n: int32 }
                  primaryKey: id
                  %s
                  mergePolicy: { kind: %s }
                  retain: %s
                source: { kind: file, path: /abs/dir }
                parser: { kind: json }
                """.formatted(filter, policy, retain);
    }

    @Test
    void aDatasetWhoseScansTheCacheCannotHoldIsRefusedWhereTheCacheIsGiven() {
        String small = GOOD.replace("cacheBytes: 64MiB", "cacheBytes: 1MiB");
        String many = small.replace("toleranceCount: 7", "toleranceCount: 100");
        String why = "is wrong: dataset Flights: merge policy"
                + " prefix(mergeableBytesMax=1GiB, toleranceCount=100) keeps up to 100 components,"
                + " and a scan reads a page of 16384 bytes of each at once: that is 1638400 bytes,"
                + " the buffer cache has 1048576; raise cacheBytes, or make pages smaller";
        assertThat(parse(small).dataset().name()).isEqualTo("Flights");
        assertThat(problems(many)).containsExactly("f.yaml:24: store.cacheBytes " + why);
        // where the cache is not given, the policy is what was
        String lines = "mergePolicy: { kind: constant, componentCountMax: 100000 }";
        String standard =
                GOOD.replace("cacheBytes: 64MiB, ", "").replaceAll("mergePolicy: .*", lines);
        assertThat(problems(standard))
                .singleElement()
                .asString()
                .startsWith(
                        "f.yaml:14: dataset.mergePolicy is wrong: dataset Flights: merge"
                                + " policy constant(componentCountMax=100000) keeps up to 100000 components");
    }

    @Test
    void aRetentionWithoutItsUnitIsToldWithAnExample() {
        assertThat(problems(retaining("filter: at", "correlated-prefix", "30")))
                .singleElement()
                .asString()
                .endsWith(
                        "dataset.retain must be a number with d, h, m or s such as 30d, not the number 30");
    }

    @Test
    void recordsAreKeptAsLongAsTheDefinitionSays() {
        for (String field : List.of("at", "day")) {
            FeedDefinition definition =
                    parse(retaining("filter: " + field, "correlated-prefix", "30d"));
            assertThat(definition.dataset().options().retention()).hasToString("30d");
            assertThat(definition.toDatasetSpec().retention()).hasToString("30d");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "filter: at | correlated-prefix | 30 days | must be a number with d, h, m or s",
                "filter: n | correlated-prefix | 30d | 'n' is no datetime or date",
                "partitions: 1 | correlated-prefix | 30d | needs a filter field",
                "filter: at | prefix | 30d | needs a merge policy that is correlated",
                "filter: at | correlated-leveling | 30d | needs a merge policy that is correlated",
            })
    void whatRetentionNeedsIsNamedWithItsLine(
            String filter, String policy, String retain, String wanted) {
        assertThatThrownBy(() -> parse(retaining(filter, policy, retain)))
                .isInstanceOf(DefinitionException.class)
                .hasMessageContaining("dataset.retain")
                .hasMessageContaining(":8")
                .hasMessageContaining(wanted);
    }

    @Test
    void anIndexKeepsItsPagesAsItsDatasetUnlessItSaysOtherwise() {
        FeedDefinition definition = parse("""
                feed: f
                dataset:
                  name: D
                  type: { id: int64, a: string, b: string }
                  primaryKey: [id]
                  compression: zstd
                  pageBytes: 64KiB
                  indexes:
                    - { name: by_a, kind: btree, on: a }
                    - { name: by_b, kind: btree, on: b, compression: lz4, pageBytes: 4KiB }
                source: { kind: file, path: /abs/dir }
                parser: { kind: json }
                """);
        PageOptions zstd = new PageOptions(64 << 10, Compression.ZSTD);
        assertThat(definition.dataset().options().components().pages()).isEqualTo(zstd);
        assertThat(definition.dataset().indexes())
                .extracting(FeedDefinition.IndexPart::pages)
                .containsExactly(zstd, new PageOptions(4 << 10, Compression.LZ4));
    }

    @Test
    void mostKeysHaveDefaults() {
        FeedDefinition definition = parse("""
                feed: f
                dataset: { name: D, type: { id: int64 }, primaryKey: [id] }
                source: { kind: file, path: /abs/dir }
                parser: { kind: json }
                """);
        assertThat(definition.mode()).isEqualTo(Mode.UPSERT);
        assertThat(definition.dataset().filters()).isEmpty();
        assertThat(definition.dataset().options().mergePolicy().kind()).isEqualTo("tiering");
        assertThat(definition.source().resolved()).isEqualTo(Path.of("/abs/dir"));
        assertThat(definition.format()).isInstanceOf(FormatPart.Json.class);
        assertThat(definition.transforms()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                // what is replaced | by what | the line and key | a part of the message
                "feed: flights | feeed: flights | f.yaml:1: feeed | is an unknown key; keys here are feed, dataset",
                "name: Flights | compression: gzip | f.yaml:3: dataset.compression | none, lz4, zstd",
                "name: Flights | pageBytes: 1KiB | f.yaml:3: dataset.pageBytes | 4096 to 131072 are possible",
                "feed: flights | feed: 12 | f.yaml:1: feed | must be text, not the number 12",
                "feed: flights | feed: | f.yaml:1: feed | has no value",
                "feed: flights | feed: a/b | f.yaml:1: feed | must be 1 to 64 letters",
                "name: Flights | nam: Flights | f.yaml:2: dataset.name | is missing",
                "name: Flights | name: _feeds | f.yaml:3: dataset.name | the store's own",
                "id: int64 | id: int65 | f.yaml:5: dataset.type.id | unknown type 'int65'",
                "id: int64 | id: [int64, int8] | f.yaml:5: dataset.type.id | must name one simple type",
                "id: int64 | id: int64? | f.yaml:10: dataset.primaryKey | optional",
                "primaryKey: id | primaryKey: ib | f.yaml:10: dataset.primaryKey | 'ib', which is not declared",
                "primaryKey: id | primaryKey: [] | f.yaml:10: dataset.primaryKey | is an empty list",
                "primaryKey: id | primaryKey: [id, id] | f.yaml:10: dataset.primaryKey | twice",
                "filter: at | filter: { a: b } | f.yaml:11: dataset.filter | must be a text or a list of texts such as [a, b], not a mapping",
                "filter: at | filter: [at, nix] | f.yaml:11: dataset.filter | 'nix', which is not declared",
                "partitions: 2 | partitions: 0 | f.yaml:12: dataset.partitions | from 1 to 256",
                "partitions: 2 | partitions: two | f.yaml:12: dataset.partitions | from 1 to 256, not 'two'",
                "partitions: 2 | partitions: 2.5 | f.yaml:12: dataset.partitions | whole number",
                "maintenance: eager | maintenance: lazy | f.yaml:13: dataset.maintenance | 'lazy' is unknown",
                "maintenance: eager | maintenance: mutable-bitmap | f.yaml:13: dataset.maintenance | needs a correlated merge policy",
                "on], maintenance: eager | on], maintenance: validation, unique: true | f.yaml:17: dataset.indexes[1].maintenance | is unique and needs maintenance eager",
                "on], maintenance: eager | on], maintenance: auto, unique: true | f.yaml:17: dataset.indexes[1].maintenance | is unique and needs maintenance eager",
                "on], maintenance: eager | on], maintenance: mutable-bitmap | f.yaml:17: dataset.indexes[1].maintenance | is for a dataset, not for index by_two",
                "on], maintenance: eager | on], maintenance: lazy | f.yaml:17: dataset.indexes[1].maintenance | unknown maintenance 'lazy'; indexes have eager, validation, deleted-key, deferred, auto",
                "kind: prefix | kind: steady | f.yaml:14: dataset.mergePolicy.kind | there is no merge policy 'steady'",
                "toleranceCount: 7 | tolerance: 7 | f.yaml:14: dataset.mergePolicy.tolerance | no such parameter",
                "toleranceCount: 7 | toleranceCount: x | f.yaml:14: dataset.mergePolicy.toleranceCount | not a whole number",
                "1GiB | 1GB | f.yaml:14: dataset.mergePolicy.mergeableBytesMax | 1GB",
                "kind: btree, on: tailnum | kind: rtree, on: tailnum | f.yaml:16: dataset.indexes[0].on | an rtree is on a point or a rectangle; tailnum is of type string",
                "kind: btree, on: tailnum | kind: rtree, on: [place, at] | f.yaml:16: dataset.indexes[0].on | an rtree is on one field, not on [place, at]",
                "kind: btree, on: tailnum | kind: rtree, on: nix | f.yaml:16: dataset.indexes[0].on | 'nix', which is not declared",
                "kind: btree, on: tailnum | kind: rtree, on: place, unique: true | f.yaml:16: dataset.indexes[0].unique | goes with a btree alone, not with kind rtree",
                "kind: btree, on: tailnum | kind: inverted, on: tailnum, tokenizer: ngram(0) | f.yaml:16: dataset.indexes[0].tokenizer | there is no tokenizer 'ngram(0)'; there are word, keyword, ngram(n), n from 1 to 16, and analyzer(name)",
                "kind: btree, on: tailnum | kind: inverted, on: id | f.yaml:16: dataset.indexes[0].on | an inverted index is on a string, and 'id' is of type",
                "kind: btree, on: tailnum | kind: inverted, on: [tailnum, id] | f.yaml:16: dataset.indexes[0].on | an inverted index is on one field, not on [tailnum, id]",
                "kind: btree, on: tailnum | kind: inverted, on: tailnum, unique: true | f.yaml:16: dataset.indexes[0].unique | goes with a btree alone, not with kind inverted",
                "kind: btree, on: tailnum | kind: pm, on: tailnum, mode: file, pageBytes: 1000 | f.yaml:16: dataset.indexes[0].pageBytes | must be a multiple of 256 from 256 to 32768, not 1000",
                "kind: btree, on: tailnum | kind: pm, on: tailnum, pageBytes: many | f.yaml:16: dataset.indexes[0].pageBytes | number of bytes",
                "kind: btree, on: tailnum | kind: pm, on: tailnum, bytes: 1KiB, mode: file | f.yaml:16: dataset.indexes[0].bytes | must be from 262144 to 274877906944, not 1024",
                "kind: btree, on: tailnum | kind: pm, on: tailnum, bytes: [1] | f.yaml:16: dataset.indexes[0].bytes | must be a single value",
                "kind: btree, on: tailnum | kind: pm, on: tailnum, mode: fast | f.yaml:16: dataset.indexes[0].mode | unknown mode 'fast'; there are auto, dax, file and volatile",
                "kind: btree, on: tailnum | kind: pm, on: tailnum, mode: file, path: here | f.yaml:16: dataset.indexes[0].path | must be absolute",
                "kind: btree, on: tailnum | kind: pm, on: tailnum, path: /no/such/place | f.yaml:16: dataset.indexes[0].path | /no/such/place does not exist",
                "kind: btree, on: tailnum | kind: pm, on: tailnum, path: /dev/null | f.yaml:16: dataset.indexes[0].path | /dev/null is not a directory",
                "kind: btree, on: tailnum | kind: pm, on: tailnum, path: /proc | f.yaml:16: dataset.indexes[0].path | /proc takes no files",
                "kind: btree, on: tailnum | kind: pm, on: tailnum, unique: true | f.yaml:16: dataset.indexes[0].unique | goes with a btree alone, not with kind pm",
                "kind: btree, on: tailnum | kind: pm, on: tailnum, maintenance: eager | f.yaml:16: dataset.indexes[0].maintenance | an index of kind pm is maintained by validation",
                "kind: btree, on: tailnum | kind: pm, on: tailnum, compression: lz4 | f.yaml:16: dataset.indexes[0].compression | is an unknown key",
                "kind: btree, on: tailnum | on: tailnum | f.yaml:16: dataset.indexes[0].kind | is missing",
                "name: by_two | name: by_tail | f.yaml:17: dataset.indexes[1].name | names an earlier index",
                "on: tailnum | on: nix | f.yaml:16: dataset.indexes[0].on | 'nix', which is not declared",
                "kind: file | kind: tweets | f.yaml:18: source.kind | 'tweets' is not available in this release",
                "kind: file | kind: fiel | f.yaml:18: source.kind | 'fiel' is unknown; choices are file",
                "path: data | pfad: data | f.yaml:18: source.path | is missing",
                "kind: csv | kind: xml | f.yaml:19: parser.kind | 'xml' is unknown; choices are csv, json",
                "header: true | header: yes | f.yaml:19: parser.header | must be true or false, not 'yes'",
                "header: true | header: false | f.yaml:19: parser.header | columns must be given",
                "header: true | columns: [id] | f.yaml:19: parser.columns | can't be given",
                "header: true | separator: x | f.yaml:19: parser.separator | ASCII character",
                "header: true | separator: ab | f.yaml:19: parser.separator | one character",
                "kind: csv, header | kind: json, header | f.yaml:19: parser.header | unknown key",
                "point(lon, lat) | point(lon) | f.yaml:21: transform.place | takes 2 arguments",
                "point(lon, lat) | int32(lon) | f.yaml:21: transform.place | gives int32, but field 'place' is declared as point",
                "place: point(lon | plaze: point(lon | f.yaml:21: transform.plaze | not declared",
                "kind: basic | kind: elastic | f.yaml:22: policy.workersMax | is missing",
                "kind: basic | kind: elastic, workersMax: 1 | f.yaml:22: policy.workersMax | must be a whole number from 2 to 64",
                "kind: basic | kind: elastic, workersMax: 65 | f.yaml:22: policy.workersMax | must be a whole number from 2 to 64",
                "kind: basic | kind: elastic, workersMin: 0, workersMax: 2 | f.yaml:22: policy.workersMin | must be a whole number from 1 to 64",
                "kind: basic | kind: elastic, workersMin: 4, workersMax: 3 | f.yaml:22: policy.workersMin | must be less than workersMax, which is 3",
                "kind: basic | kind: elastic, workersMin: 3, workersMax: 3 | f.yaml:22: policy.workersMin | for so many at any time take policy basic and the key workers",
                "kind: basic } | kind: elastic, workersMax: 3 }\\nworkers: 1 | f.yaml:23: workers | does not go with policy elastic",
                "kind: basic | kind: basic, workersMax: 3 | f.yaml:22: policy.workersMax | unknown key",
                "mode: upsert | mode: append | f.yaml:23: mode | 'append' is unknown; choices are upsert, insert, delete",
                "durability: interval | durability: never | f.yaml:24: store.durability | 'never' is unknown",
                "64MiB | 1KiB | f.yaml:24: store.cacheBytes | at least 1 MiB",
                "Scheduler: fair | Scheduler: lazy | f.yaml:24: store.mergeScheduler | 'lazy' is unknown",
                "mergeWorkers: 3 | mergeWorkers: 0 | f.yaml:24: store.mergeWorkers | 1 to 32",
                "50MiB | 1KiB | f.yaml:24: store.ioBytesPerSecond | at least 64 KiB",
                "64MiB | lots | f.yaml:24: store.cacheBytes | number of bytes",
                "store: { | stoer: { | f.yaml:24: stoer | is an unknown key",
                "source: { kind: file, path: data/flights.csv.gz } | source: [1] | f.yaml:18: source | must be a mapping of keys to values, not a list",
            })
    void eachProblemNamesFileLineAndKey(String what, String by, String place, String message) {
        assertThat(GOOD).contains(what);
        int at = GOOD.indexOf(what);
        String instead = by == null ? "" : by.replace("\\n", "\n");
        String yaml = GOOD.substring(0, at) + instead + GOOD.substring(at + what.length());
        assertThat(problems(yaml)).anySatisfy(problem -> {
            assertThat(problem).startsWith(place + " ");
            assertThat(problem).contains(message);
        });
    }

    @Test
    void allProblemsAreToldAtOnceInTheOrderOfTheirLines() {
        List<String> problems = problems(GOOD.replace("int64", "int65")
                .replace("kind: btree", "kind: tree")
                .replace("mode: upsert", "mode: insret"));
        assertThat(problems).hasSize(4);
        assertThat(problems.getFirst()).startsWith("f.yaml:5: dataset.type.id");
        assertThat(problems.getLast()).startsWith("f.yaml:23: mode");
    }

    @Test
    void ofAWrongMergePolicyNothingFollows() {
        String deferred = GOOD.replace("on], maintenance: eager", "on], maintenance: deferred");
        assertThat(deferred).isNotEqualTo(GOOD);
        for (String wrong : List.of("kind: steady", "kind: [prefix]", "kid: prefix")) {
            assertThat(problems(deferred.replace("kind: prefix", wrong)))
                    .as(wrong)
                    .isNotEmpty()
                    .allSatisfy(problem -> assertThat(problem).contains("dataset.mergePolicy"));
        }
    }

    @Test
    void theMessageIsEveryProblemOnALineOfItsOwn() {
        DefinitionException e = catchThrowableOfType(
                DefinitionException.class, () -> parse(GOOD.replace("int64", "x")));
        assertThat(e)
                .hasMessageStartingWith("f.yaml:5: dataset.type.id is wrong: unknown type 'x'");
        DefinitionException two = catchThrowableOfType(
                DefinitionException.class,
                () -> parse(GOOD.replace("int64", "x").replace("upsert", "y")));
        assertThat(two.problems()).hasSize(2);
        assertThat(two)
                .hasMessage(two.problems().getFirst() + "\n" + two.problems().getLast());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "feed: a\\nfeed: b | f.yaml:2: feed is already given in line 1",
                "feed: [a | f.yaml:1: is not YAML",
                "feed: a\\n  b: c | is not YAML",
                "\\tfeed: a | f.yaml:1: is not YAML",
                "'' | f.yaml:1: is empty",
                "# only a comment | f.yaml:1: is empty",
                "feed: a\\n---\\nfeed: b | a second document",
                "a: {b: int?} | put a value that holds '?' in quotes",
                "- feed | f.yaml:1: must be a mapping",
                "a: &x 1\\nb: *x | f.yaml:2: b is an alias",
                "a: [[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]] | nested deeper than 16",
            })
    void whatIsNoDefinitionIsTold(String yaml, String message) {
        assertThat(problems(yaml.replace("\\n", "\n").replace("\\t", "\t")))
                .anySatisfy(problem -> assertThat(problem).contains(message));
    }

    @Test
    void ofALongTextWhereAMappingBelongsTheBeginningIsShown() {
        assertThat(problems("id,name\n" + "1,Ada\n".repeat(1_000)))
                .singleElement()
                .asString()
                .hasSizeLessThan(150)
                .startsWith("f.yaml:1: must be a mapping of keys to values, not 'id,name 1,Ada")
                .endsWith("…'");
    }

    @Test
    void aMissingFileIsToldByName() {
        InvalidRequestException e = catchThrowableOfType(
                InvalidRequestException.class, () -> FeedDefinition.load(Path.of("no/such.yaml")));
        assertThat(e)
                .hasMessage(
                        "the feed definition can't be read: there is no file or directory no/such.yaml");
    }
}
