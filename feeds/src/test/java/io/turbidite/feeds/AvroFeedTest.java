package io.turbidite.feeds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.sim.Seeds;
import io.turbidite.feeds.FeedDefinition.FormatPart;
import io.turbidite.feeds.FeedDefinition.Mode;
import io.turbidite.feeds.avro.AvroText;
import io.turbidite.lsm.Store;

import org.apache.avro.Schema;
import org.apache.avro.file.CodecFactory;
import org.apache.avro.generic.GenericData;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.IntStream;

/** Object files of Avro as what a feed reads. */
class AvroFeedTest {
    private static final String DEFINITION = """
            feed: f
            dataset: { name: D, type: { id: int64, name: string }, primaryKey: id }
            source: { kind: file, path: a.avro }
            parser: { kind: avro }
            """;

    @TempDir
    Path directory;

    private static SimulatedFeed simulated() {
        SimulatedFeed feed = new SimulatedFeed();
        feed.avro = true;
        return feed;
    }

    private static void hasAll(SimulatedFeed feed, int count) {
        assertThat(feed.memory.ids)
                .containsExactlyElementsOf(
                        IntStream.range(0, count).mapToObj(Long::valueOf).toList());
    }

    @Test
    void a_run_that_was_killed_at_any_record_is_gone_on_with() {
        byte[] file = AvroText.file(CodecFactory.deflateCodec(6), 60, 7);
        Set<Integer> killedAt = new TreeSet<>();
        for (int round = 0; round < 600; round++) {
            SimulatedFeed feed = simulated();
            feed.disk.put("a.avro", round % 4 < 2 ? SimulatedFeed.gzip(file) : file);
            int stopAfter = round / 4;
            int[] asked = {0};
            feed.memory.killIn = 1;
            feed.memory.killAfterCommit = round % 2 == 0;
            try {
                assertThat(feed.run("a.avro", () -> ++asked[0] > stopAfter)).isFalse();
            } catch (IllegalStateException e) {
                assertThat(e).hasMessage("killed");
                killedAt.add(feed.memory.ids.size());
            }
            feed.memory.killIn = Integer.MAX_VALUE;
            assertThat(feed.run("a.avro")).isTrue();
            hasAll(feed, 60);
            assertThat(feed.run("a.avro")).isTrue();
            hasAll(feed, 60);
        }
        assertThat(killedAt)
                .containsExactlyElementsOf(IntStream.rangeClosed(0, 60).boxed().toList());
    }

    @Test
    void runs_that_are_stopped_or_killed_anywhere_take_each_record_once() {
        long seed = Seeds.of("AvroFeedTest");
        SplittableRandom random = new SplittableRandom(seed);
        for (int round = 0; round < 20; round++) {
            String as = Seeds.replay("AvroFeedTest", seed) + " round " + round;
            SimulatedFeed feed = simulated();
            byte[] file = AvroText.file(
                    round % 2 == 0 ? CodecFactory.nullCodec() : CodecFactory.snappyCodec(),
                    2_000,
                    random.nextInt(1, 400));
            feed.disk.put("a.avro", file);
            int runs = 0;
            for (boolean finished = false; !finished && runs < 1_000; runs++) {
                feed.memory.killIn = random.nextInt(1, 6);
                feed.memory.killAfterCommit = random.nextBoolean();
                int stopAfter = random.nextInt(300);
                int[] asked = {0};
                try {
                    finished = feed.run("a.avro", () -> ++asked[0] > stopAfter);
                } catch (IllegalStateException e) {
                    assertThat(e).as(as).hasMessage("killed");
                }
            }
            assertThat(runs).as(as).isGreaterThan(3);
            hasAll(feed, 2_000);
            assertThat(feed.memory.letters).as(as).isEmpty();
        }
    }

    @Test
    void a_file_that_grows_is_gone_on_with_block_by_block() {
        byte[] file = AvroText.file(CodecFactory.nullCodec(), 30, 10);
        for (int cut = 1; cut < file.length; cut += 13) {
            SimulatedFeed feed = simulated();
            feed.putYoung("a.avro", Arrays.copyOf(file, cut));
            feed.whileWaiting(() -> feed.disk.touch("a.avro", feed.clock.wallMicros()));
            assertThat(feed.run("a.avro")).isTrue();
            feed.putYoung("a.avro", file);
            assertThat(feed.run("a.avro")).isTrue();
            hasAll(feed, 30);
            assertThat(feed.memory.letters).isEmpty();
        }
    }

    @Test
    void damage_is_one_dead_letter_with_its_place() {
        byte[] file = AvroText.file(CodecFactory.deflateCodec(6), 100, 10);
        String text = new String(file, StandardCharsets.ISO_8859_1);
        int marker = text.indexOf("0123456789abcdef", text.indexOf("0123456789abcdef") + 20);
        file[marker + 3] ^= 1;
        SimulatedFeed feed = simulated();
        feed.disk.put("a.avro", file);
        assertThat(feed.run("a.avro")).isTrue();
        assertThat(feed.memory.ids)
                .containsExactlyElementsOf(
                        IntStream.range(20, 100).mapToObj(Long::valueOf).toList());
        assertThat(feed.memory.letters.toString().lines())
                .singleElement()
                .asString()
                .contains("\"source\":\"a.avro\",\"line\":1,")
                .contains("\"reason\":\"the block is damaged: the sync marker is not")
                .contains("\"rawBase64\":");
    }

    @Test
    void a_header_that_is_damaged_or_cut_fails_the_file() {
        byte[] file = AvroText.file(CodecFactory.nullCodec(), 10, 10);
        SimulatedFeed feed = simulated();
        feed.disk.put("a.avro", Arrays.copyOf(file, 40));
        assertThatThrownBy(() -> feed.run("a.avro"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("a.avro: it ends within the header of an object file of Avro");
        feed.disk.put("b.avro", "{\"id\":1}".getBytes(StandardCharsets.UTF_8));
        assertThatThrownBy(() -> feed.run("b.avro"))
                .hasMessageStartingWith("b.avro: it is no object file of Avro");
        feed.disk.put("c.avro", new byte[0]);
        assertThat(feed.run("c.avro")).isTrue();
        feed.disk.put("c.avro", file);
        assertThat(feed.run("c.avro")).isTrue();
        hasAll(feed, 10);
    }

    // ---- with a store

    private FeedDefinition definition(String yaml) {
        return FeedDefinition.parse("f.yaml", directory, yaml);
    }

    private List<String> letters() throws IOException {
        return Files.readAllLines(directory.resolve("store/dead-letters/f.jsonl"));
    }

    private Map<String, @Nullable Object> only(Store store, Object key) {
        return Objects.requireNonNull(store.dataset("D").get(key));
    }

    @Test
    void every_type_becomes_what_the_table_says() throws IOException {
        Schema schema = AvroText.schema("""
                {"type":"record","name":"R","fields":[
                  {"name":"id","type":"int"},
                  {"name":"nothing","type":"null"},
                  {"name":"truth","type":"boolean"},
                  {"name":"whole","type":"long"},
                  {"name":"small","type":"float"},
                  {"name":"real","type":"double"},
                  {"name":"beyond","type":"double"},
                  {"name":"text","type":"string"},
                  {"name":"raw","type":"bytes"},
                  {"name":"fix","type":{"type":"fixed","name":"F","size":3}},
                  {"name":"suit","type":{"type":"enum","name":"E","symbols":["SPADES","HEARTS"]}},
                  {"name":"list","type":{"type":"array","items":"string"}},
                  {"name":"map","type":{"type":"map","values":"int"}},
                  {"name":"user","type":{"type":"record","name":"U","fields":[
                     {"name":"lang","type":"string"},{"name":"age","type":["null","int"]}]}},
                  {"name":"either","type":["null","string","long"]},
                  {"name":"day","type":{"type":"int","logicalType":"date"}},
                  {"name":"clock","type":{"type":"int","logicalType":"time-millis"}},
                  {"name":"finer","type":{"type":"long","logicalType":"time-micros"}},
                  {"name":"at","type":{"type":"long","logicalType":"timestamp-millis"}},
                  {"name":"atMicros","type":{"type":"long","logicalType":"timestamp-micros"}},
                  {"name":"atNanos","type":{"type":"long","logicalType":"timestamp-nanos"}},
                  {"name":"local","type":{"type":"long","logicalType":"local-timestamp-micros"}},
                  {"name":"price","type":{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}},
                  {"name":"rate","type":{"type":"fixed","name":"D","size":4,"logicalType":"decimal","precision":6,"scale":4}},
                  {"name":"key","type":{"type":"string","logicalType":"uuid"}},
                  {"name":"key16","type":{"type":"fixed","name":"K","size":16,"logicalType":"uuid"}},
                  {"name":"span","type":{"type":"fixed","name":"S","size":12,"logicalType":"duration"}}]}
                """);
        UUID uuid = UUID.fromString("123e4567-e89b-12d3-a456-426614174000");
        Files.write(
                directory.resolve("a.avro"),
                AvroText.file(schema, CodecFactory.nullCodec(), 1, 1, i -> {
                    GenericData.Record record = new GenericData.Record(schema);
                    record.put("id", -7);
                    record.put("truth", true);
                    record.put("whole", Long.MIN_VALUE);
                    record.put("small", 0.1f);
                    record.put("real", 1e300);
                    record.put("beyond", Double.NEGATIVE_INFINITY);
                    record.put("text", "Grüße \"\u0001\uD83D\uDE00");
                    record.put("raw", ByteBuffer.wrap(new byte[] {0, -1, 2}));
                    record.put(
                            "fix",
                            new GenericData.Fixed(
                                    schema.getField("fix").schema(), new byte[] {1, 2, 3}));
                    record.put(
                            "suit",
                            new GenericData.EnumSymbol(schema.getField("suit").schema(), "HEARTS"));
                    record.put("list", List.of("x", "y"));
                    record.put("map", Map.of("k", 5));
                    GenericData.Record user =
                            new GenericData.Record(schema.getField("user").schema());
                    user.put("lang", "de");
                    record.put("user", user);
                    record.put("either", 9L);
                    record.put("day", (int) LocalDate.of(1969, 12, 31).toEpochDay());
                    record.put("clock", 3_600_500);
                    record.put("finer", 1L);
                    record.put("at", -1L);
                    record.put("atMicros", 1_764_000_000_123_456L);
                    record.put("atNanos", 1_764_000_000_123_456_789L);
                    record.put("local", 1_764_000_000_000_001L);
                    record.put("price", ByteBuffer.wrap(new byte[] {-1, 56})); // -200
                    record.put(
                            "rate",
                            new GenericData.Fixed(
                                    schema.getField("rate").schema(), new byte[] {0, 0, 48, 57}));
                    record.put("key", uuid.toString());
                    record.put(
                            "key16",
                            new GenericData.Fixed(
                                    schema.getField("key16").schema(),
                                    ByteBuffer.allocate(16)
                                            .putLong(uuid.getMostSignificantBits())
                                            .putLong(uuid.getLeastSignificantBits())
                                            .array()));
                    record.put(
                            "span",
                            new GenericData.Fixed(schema.getField("span").schema(), new byte[12]));
                    return record;
                }));
        String declared = DEFINITION.replace("{ id: int64, name: string }", """
                {id: int32, truth: bool, whole: int64, small: float, real: double, beyond: double,
                  text: string, raw: bytes, fix: bytes, suit: string, list: [string],
                  user: {lang: string, age: "int32?"}, either: int64, day: date, clock: time,
                  finer: time, at: datetime, atMicros: datetime, atNanos: datetime,
                  local: datetime, price: decimal, rate: decimal, key: uuid, key16: uuid,
                  span: bytes}""");
        try (Store store = Store.open(directory.resolve("store"));
                Feed feed = Feed.open(definition(declared), store)) {
            assertThat(feed.run(FeedProgress.none()).records()).isEqualTo(1);
            Map<String, @Nullable Object> record = only(store, -7);
            assertThat(record)
                    .containsEntry("truth", true)
                    .containsEntry("whole", Long.MIN_VALUE)
                    .containsEntry("small", 0.1f)
                    .containsEntry("real", 1e300)
                    .containsEntry("beyond", Double.NEGATIVE_INFINITY)
                    .containsEntry("text", "Grüße \"\u0001\uD83D\uDE00")
                    .containsEntry("suit", "HEARTS")
                    .containsEntry("list", List.of("x", "y"))
                    .containsEntry("map", Map.of("k", 5L))
                    .containsEntry("either", 9L)
                    .containsEntry("day", LocalDate.of(1969, 12, 31))
                    .containsEntry("clock", LocalTime.of(1, 0, 0, 500_000_000))
                    .containsEntry("finer", LocalTime.of(0, 0, 0, 1_000))
                    .containsEntry("at", Instant.ofEpochMilli(-1))
                    .containsEntry("atMicros", Instant.parse("2025-11-24T16:00:00.123456Z"))
                    .containsEntry("atNanos", Instant.parse("2025-11-24T16:00:00.123456Z"))
                    .containsEntry("local", Instant.parse("2025-11-24T16:00:00.000001Z"))
                    .containsEntry("key", uuid)
                    .containsEntry("key16", uuid);
            assertThat((BigDecimal) record.get("price")).isEqualByComparingTo("-2.00");
            assertThat((BigDecimal) record.get("rate")).isEqualByComparingTo("1.2345");
            assertThat((byte[]) record.get("raw")).containsExactly(0, -1, 2);
            assertThat((byte[]) record.get("fix")).containsExactly(1, 2, 3);
            assertThat((byte[]) record.get("span")).hasSize(12);
            assertThat(record.get("nothing")).isNull();
            assertThat(record.get("user"))
                    .asInstanceOf(InstanceOfAssertFactories.MAP)
                    .containsEntry("lang", "de");
        }
    }

    /** The names of classes in a schema are text, whether there is such a class or not. */
    @Test
    void a_schema_that_names_classes_loads_none() throws IOException {
        AvroLoaded.count = 0;
        Schema schema = AvroText.schema("""
                {"type":"record","name":"AvroLoaded","namespace":"io.turbidite.feeds",
                 "java-class":"%1$s","fields":[
                  {"name":"id","type":"long","java-class":"%1$s"},
                  {"name":"name","type":{"type":"string","java-class":"%1$s","avro.java.string":"String"}},
                  {"name":"m","type":{"type":"map","values":"int","java-key-class":"%1$s"}},
                  {"name":"l","type":{"type":"array","items":"int","java-class":"%1$s","java-element-class":"%1$s"}}]}
                """.formatted(AvroLoaded.class.getName()));
        Files.write(
                directory.resolve("a.avro"),
                AvroText.file(schema, CodecFactory.nullCodec(), 3, 2, i -> {
                    GenericData.Record record = new GenericData.Record(schema);
                    record.put("id", (long) i);
                    record.put("name", "n");
                    record.put("m", Map.of("a", 1));
                    record.put("l", List.of(1));
                    return record;
                }));
        try (Store store = Store.open(directory.resolve("store"));
                Feed feed = Feed.open(definition(DEFINITION), store)) {
            assertThat(feed.run(FeedProgress.none()).records()).isEqualTo(3);
            assertThat(only(store, 2L)).containsEntry("l", List.of(1L));
        }
        assertThat(AvroLoaded.count).isZero();
    }

    @Test
    void a_record_that_does_not_fit_is_shown_as_json_and_fed_again_once() throws IOException {
        Schema schema = AvroText.schema("""
                {"type":"record","name":"R","fields":[
                  {"name":"id","type":"long"},{"name":"alias","type":"string"}]}
                """);
        Files.write(
                directory.resolve("a.avro"),
                AvroText.file(schema, CodecFactory.deflateCodec(1), 5, 2, i -> {
                    GenericData.Record record = new GenericData.Record(schema);
                    record.put("id", (long) i);
                    record.put("alias", "n" + i);
                    return record;
                }));
        try (Store store = Store.open(directory.resolve("store"))) {
            try (Feed feed = Feed.open(definition(DEFINITION), store)) {
                assertThat(feed.run(FeedProgress.none()).rejected()).isEqualTo(5);
            }
            List<String> letters = letters();
            assertThat(letters).hasSize(5);
            for (int i = 0; i < 5; i++) {
                assertThat(letters.get(i))
                        .contains("\"line\":%d,".formatted(i % 2 + 1))
                        .contains("{\\\"id\\\":%d,\\\"alias\\\":\\\"n%d\\\"}".formatted(i, i));
            }
            String mended = DEFINITION + "transform: { name: alias }\n";
            for (int expected : new int[] {5, 0}) {
                try (Feed feed = Feed.openLetters(definition(mended), store)) {
                    assertThat(feed.run(FeedProgress.none()).records()).isEqualTo(expected);
                }
            }
            assertThat(only(store, 4L)).containsEntry("name", "n4");
        }
    }

    @Test
    void bytes_that_could_not_be_decoded_are_not_fed_again() throws IOException {
        byte[] file = AvroText.file(CodecFactory.deflateCodec(1), 20, 10);
        file[file.length - 4] ^= 1;
        Files.write(directory.resolve("a.avro"), file);
        try (Store store = Store.open(directory.resolve("store"))) {
            try (Feed feed = Feed.open(definition(DEFINITION), store)) {
                FeedReport report = feed.run(FeedProgress.none());
                assertThat(report.records()).isEqualTo(10);
                assertThat(report.rejected()).isEqualTo(1);
            }
            assertThat(letters().getFirst()).contains("\"rawBase64\":");
            try (Feed feed = Feed.openLetters(definition(DEFINITION), store)) {
                assertThat(feed.run(FeedProgress.none()).rejected()).isEqualTo(1);
            }
            assertThat(letters().getLast())
                    .contains("these are bytes of an object file that could not be decoded");
        }
    }

    @Test
    void a_directory_is_imported_by_several_workers_and_arrays_explode() throws IOException {
        Path files = Files.createDirectory(directory.resolve("files"));
        for (int f = 0; f < 3; f++) {
            int from = 100 * f;
            Files.write(
                    files.resolve(f + ".avro"),
                    AvroText.file(
                            AvroText.schema(AvroText.SCHEMA),
                            CodecFactory.snappyCodec(),
                            100,
                            9,
                            i -> AvroText.record(from + i)));
        }
        String yaml = DEFINITION.replace("a.avro", "files") + "workers: 2\nwhere: id < 250\n";
        try (Store store = Store.open(directory.resolve("store"))) {
            try (Feed feed = Feed.open(definition(yaml), store)) {
                FeedReport report = feed.run(FeedProgress.none());
                assertThat(report.records()).isEqualTo(250);
                assertThat(report.dropped()).isEqualTo(50);
            }
            try (FileImport again = FileImport.open(
                    store, store.dataset("D"), files, new FormatPart.AvroFiles(), Mode.INSERT)) {
                FeedReport report = again.run(FeedProgress.none());
                assertThat(report.records()).isEqualTo(50);
                assertThat(report.rejected()).isEqualTo(250);
            }
        }
    }

    @Test
    void the_sample_runs() {
        FeedDefinition sample = FeedDefinition.load(Path.of("samples/readings.yaml"));
        try (Store store = Store.open(directory.resolve("store"));
                Feed feed = Feed.open(sample, store)) {
            FeedReport report = feed.run(FeedProgress.none());
            assertThat(report.records()).isEqualTo(300);
            assertThat(report.rejected()).isZero();
            Map<String, @Nullable Object> record = Objects.requireNonNull(store.dataset("Readings")
                    .get("ATTIC", Instant.ofEpochMilli(1_764_000_000_000L)));
            assertThat(record).containsEntry("celsius", 10.0);
            assertThat(record.get("price")).isNull();
        }
    }

    // ---- definitions

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "kind: file, path: a.avro | kind: tail, path: a.avro | parser of kind avro goes with the sources file and kafka, not with tail",
                "kind: file, path: a.avro | kind: http | parser of kind avro goes with the sources file and kafka, not with http",
                "kind: file, path: a.avro | kind: tcp | parser of kind avro goes with the sources file and kafka, not with tcp",
                "kind: file, path: a.avro | kind: kafka, bootstrap: 'h:1', topics: t, group: g | parser of kind avro has schemas with kafka",
                "kind: avro | kind: avro, schemas: { 1: a.avsc } | parser schemas go with kafka",
                "kind: avro | kind: avro, schemas: { x: a.avsc } | parser.schemas.x is wrong: the ID of a schema is a whole number",
                "kind: avro | kind: avro, schemas: { 3000000000: a.avsc } | the ID of a schema is a whole number from 0 to 2147483647",
                "kind: avro | kind: avro, schemas: {} | parser.schemas has 1 to 1000 IDs",
                "kind: avro | kind: avro, schemas: a.avsc | parser.schemas must be a mapping",
                "kind: avro | kind: avro, header: true | parser.header is an unknown key",
            })
    void a_wrong_definition_is_told_with_its_place(String what, String by, String message) {
        DefinitionException e = Objects.requireNonNull(catchThrowableOfType(
                DefinitionException.class, () -> definition(DEFINITION.replace(what, by))));
        assertThat(e).hasMessageContaining(message);
    }

    @Test
    void schemas_are_read_when_the_feed_is_opened() throws IOException {
        String kafka = DEFINITION
                .replace(
                        "kind: file, path: a.avro",
                        "kind: kafka, bootstrap: '127.0.0.1:9', topics: t, group: g")
                .replace("kind: avro", "kind: avro, schemas: { 4: four.avsc }");
        FeedDefinition definition = definition(kafka);
        assertThat(definition.format().files()).containsExactly("four.avsc");
        assertThatThrownBy(() -> Feed.check(definition))
                .isInstanceOf(DefinitionException.class)
                .hasMessageContaining("parser is wrong: there is no file or directory")
                .hasMessageContaining("four.avsc");
        Files.writeString(directory.resolve("four.avsc"), "{\"type\":\"long\"}");
        assertThatThrownBy(() -> Feed.check(definition))
                .hasMessageContaining("of ID 4: the schema is of long");
        Files.writeString(directory.resolve("four.avsc"), AvroText.SCHEMA);
        Feed.check(definition);
    }
}
