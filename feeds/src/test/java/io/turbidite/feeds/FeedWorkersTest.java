package io.turbidite.feeds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.log.LogOptions;
import io.turbidite.core.type.RecordType;
import io.turbidite.feeds.flow.WorkerPolicy;
import io.turbidite.feeds.parse.JsonRecordParser;
import io.turbidite.feeds.store.FeedDelivery;
import io.turbidite.feeds.store.FeedDelivery.Operation;
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

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.zip.GZIPOutputStream;

/** A feed with several parse workers, on threads. */
@Timeout(60)
class FeedWorkersTest {
    private static final int FILES = 8;
    private static final int RECORDS = 3_000;
    private static final String DEFINITION = """
            feed: many
            dataset:
              name: Many
              type: { id: int64, name: "string?", twice: "int64?" }
              primaryKey: id
            source: { kind: file, path: in }
            parser: { kind: json }
            mode: insert
            workers: 3
            """;

    @TempDir
    private Path directory;

    private Store store;

    @BeforeEach
    void openStore() throws IOException {
        Files.createDirectories(directory.resolve("in"));
        store = Store.open(
                directory.resolve("store"),
                StoreOptions.defaults()
                        .withLog(
                                512L << 20,
                                LogOptions.defaults().withDurability(Durability.PROCESS)));
    }

    @AfterEach
    void closeStore() {
        store.close();
    }

    private FeedReport run(String definition) {
        FeedDefinition parsed = FeedDefinition.parse("f.yaml", directory, definition);
        try (Feed feed = Feed.open(parsed, store)) {
            return feed.run(FeedProgress.none());
        }
    }

    /** Every 100th is malformed, and every 150th has the key of record 0 of its file. */
    private static boolean isBad(int number) {
        return number % 100 == 99 || (number > 0 && number % 150 == 0);
    }

    private static long id(int file, int number) {
        return number % 150 == 0 ? file * 1_000_000L : file * 1_000_000L + number;
    }

    private void isWhole(FeedReport report) throws IOException {
        Dataset dataset = store.dataset("Many");
        int badCount = 0;
        for (int file = 0; file < FILES; file++) {
            for (int number = 0; number < RECORDS; number++) {
                badCount += isBad(number) ? 1 : 0;
                if (!isBad(number)) {
                    assertThat(dataset.get(id(file, number)))
                            .as("record %d of file %d", number, file)
                            .containsEntry("name", "n" + number);
                }
            }
        }
        assertThat(report.records()).isEqualTo(FILES * RECORDS - badCount);
        assertThat(report.rejected()).isEqualTo(badCount);
        List<String> letters =
                Files.readAllLines(Path.of(Objects.requireNonNull(report.deadLetters())));
        assertThat(letters).hasSize(badCount).doesNotHaveDuplicates();
        Map<String, Integer> perFile = new HashMap<>();
        for (String line : letters) {
            JsonNode letter = new ObjectMapper().readTree(line); // whole, or this fails
            perFile.merge(letter.path("source").asText(), 1, Integer::sum);
        }
        assertThat(perFile).hasSize(FILES);
        assertThat(perFile.values()).containsOnly(badCount / FILES);
    }

    @Test
    void filesOfJsonAreTakenOnceByThreeWorkersAndLettersStayWhole() throws IOException {
        for (int file = 0; file < FILES; file++) {
            StringBuilder text = new StringBuilder();
            for (int number = 0; number < RECORDS; number++) {
                text.append(
                        number % 100 == 99
                                ? "{\"id\":\"x%d\"}\n".formatted(number)
                                : "{\"id\":%d,\"name\":\"n%d\"}\n"
                                        .formatted(id(file, number), number));
            }
            Files.writeString(directory.resolve("in/f%d.json".formatted(file)), text);
        }
        isWhole(run(DEFINITION));
        FeedReport again = run(DEFINITION);
        assertThat(again.records() + again.rejected()).isZero();
        assertThat(again.resumed()).isTrue();
    }

    /** Text that can't be compressed much, so that damage in its middle is not at its end. */
    private static byte[] packed(int file, int count) throws IOException {
        SplittableRandom random = new SplittableRandom(file);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (GZIPOutputStream pack = new GZIPOutputStream(bytes)) {
            for (int number = 0; number < count; number++) {
                pack.write("{\"id\":%d,\"name\":\"%x\"}\n"
                        .formatted(file * 1_000_000L + number, random.nextLong())
                        .getBytes(StandardCharsets.UTF_8));
            }
        }
        return bytes.toByteArray();
    }

    @Test
    void aDamagedFileIsNamedAndCostsNoOtherFileARecord() throws IOException {
        int count = 2_000;
        Path damaged = directory.resolve("in/f2.json.gz");
        for (int file = 0; file < FILES; file++) {
            Files.write(directory.resolve("in/f%d.json.gz".formatted(file)), packed(file, count));
        }
        byte[] whole = Files.readAllBytes(damaged);
        byte[] flipped = whole.clone();
        flipped[2 * whole.length / 3] ^= 0x40;
        Files.write(damaged, flipped);
        for (int i = 0; i < 3; i++) { // each run gets at least one file further
            assertThatThrownBy(() -> run(DEFINITION))
                    .isInstanceOf(StorageException.class)
                    .hasMessageContaining("f2.json.gz");
        }
        Files.write(damaged, whole);
        assertThat(run(DEFINITION).finished()).isTrue();
        Dataset dataset = store.dataset("Many");
        for (int file = 0; file < FILES; file++) {
            for (int number = 0; number < count; number++) {
                assertThat(dataset.get(file * 1_000_000L + number))
                        .as("record %d of file %d", number, file)
                        .isNotNull();
            }
            Map<String, @Nullable Object> row = Objects.requireNonNull(
                    store.dataset("_feeds").get("many", "f%d.json.gz".formatted(file)));
            assertThat(row.get("records")).as("of file %d", file).isEqualTo((long) count);
            assertThat(row.get("rejected")).as("taken twice of file %d", file).isEqualTo(0L);
        }
    }

    @Test
    void filesOfCsvKeepTheirOwnHeaders() throws IOException {
        for (int file = 0; file < FILES; file++) {
            boolean isTurned = file % 2 == 1;
            StringBuilder text = new StringBuilder(isTurned ? "name,id\n" : "id,name\n");
            for (int number = 0; number < RECORDS; number++) {
                String id = number % 100 == 99 ? "x" + number : "" + id(file, number);
                text.append(isTurned ? "n" + number + "," + id : id + ",n" + number)
                        .append('\n');
            }
            Files.writeString(directory.resolve("in/f%d.csv".formatted(file)), text);
        }
        isWhole(run(DEFINITION.replace("kind: json", "kind: csv")));
    }

    @Test
    void followedFilesAreReadByOneThreadAtATimeAndParsedByThree() throws Exception {
        followed("json");
        followed("csv");
    }

    private void followed(String format) throws Exception {
        String definition = DEFINITION
                .replace("kind: file, path: in", "kind: tail, path: in/*." + format)
                .replace("kind: json", "kind: " + format)
                .replace("many", format)
                .replace("Many", format)
                .replace("insert", "upsert");
        for (int file = 0; file < FILES; file++) {
            append(format, file, 0, RECORDS / 2);
        }
        FeedDefinition parsed = FeedDefinition.parse("f.yaml", directory, definition);
        try (Feed feed = Feed.open(parsed, store)) {
            FeedReport[] report = new FeedReport[1];
            Thread thread =
                    Thread.ofPlatform().start(() -> report[0] = feed.run(FeedProgress.none()));
            for (int file = 0; file < FILES; file++) {
                append(format, file, RECORDS / 2, RECORDS);
            }
            Dataset dataset = store.dataset(format);
            store.environment().tasks().await(() -> {
                boolean areThere = true;
                for (int file = 0; file < FILES; file++) {
                    areThere &= dataset.get(file * 1_000_000L + RECORDS - 1) != null;
                }
                return areThere;
            });
            feed.stop();
            thread.join();
            assertThat(report[0].records()).isEqualTo(FILES * RECORDS);
            assertThat(report[0].rejected()).isZero();
        }
        for (int file = 0; file < FILES; file++) {
            for (int number = 0; number < RECORDS; number++) {
                assertThat(store.dataset(format).get(file * 1_000_000L + number))
                        .containsEntry("name", "n" + number);
            }
        }
    }

    private void append(String format, int file, int from, int to) throws IOException {
        Path path = directory.resolve("in/t%d.%s".formatted(file, format));
        StringBuilder text =
                new StringBuilder(from == 0 && format.equals("csv") ? "id,name\n" : "");
        for (int number = from; number < to; number++) {
            long id = file * 1_000_000L + number;
            text.append(
                    format.equals("csv")
                            ? "%d,n%d\n".formatted(id, number)
                            : "{\"id\":%d,\"name\":\"n%d\"}\n".formatted(id, number));
        }
        Files.writeString(path, text, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    /** What a deal with a fault would do: the row of the partition lets one of the two go on. */
    @Test
    void aPartitionWithTwoWorkersIsFoundOutAndTakenOnce() {
        RecordType type = RecordType.builder()
                .field("id", "int64")
                .field("name", "string")
                .build();
        Dataset dataset = store.createDataset(DatasetSpec.named("D")
                .field("id", "int64")
                .field("name", "string")
                .primaryKey("id"));
        int foundOut = 0;
        for (int round = 0; round < 20; round++) {
            int of = round;
            WorkedSource source = new WorkedSource(
                    1,
                    RECORDS,
                    number -> "{\"id\":%d,\"name\":\"a\"}".formatted(of * 100_000 + number),
                    new SplittableRandom(round));
            source.readsApart = true;
            source.doubled.add("p0");
            try (FeedDelivery delivery =
                    FeedDelivery.into(store, dataset, "f" + round, Operation.INSERT)) {
                FeedRun run = new FeedRun(
                        new FeedRun.Parts(
                                "f" + round,
                                source,
                                () -> ParseTools.of(new JsonRecordParser(type, true, List.of())),
                                WorkerPolicy.fixed(2),
                                ',',
                                delivery,
                                store.environment().tasks(),
                                store.environment().clock(),
                                store.events(),
                                null),
                        FeedProgress.none(),
                        () -> false);
                try {
                    var _ = run.run();
                } catch (InvalidRequestException overtaken) {
                    foundOut++;
                    assertThat(overtaken).hasMessageContaining("another run of the feed");
                }
                assertThat(delivery.deadLetters()).isNull();
            }
        }
        assertThat(foundOut).isPositive();
    }

    @Test
    void tenFailuresInARowOverAllWorkersEndTheRun() throws IOException {
        for (int file = 0; file < FILES; file++) {
            StringBuilder text = new StringBuilder();
            for (int number = 0; number < 50; number++) {
                text.append("{\"id\":%d,\"a\":\"fail\"}\n".formatted(file * 100 + number));
            }
            Files.writeString(directory.resolve("in/f%d.json".formatted(file)), text);
        }
        String definition = DEFINITION + "transform: { name: { function: trying, of: a } }\n";
        assertThatThrownBy(() -> run(definition)).isInstanceOf(FunctionPauseException.class);
        // each of the three may have one under way when the tenth is counted
        long letters = Files.readAllLines(directory.resolve("store/dead-letters/many.jsonl"))
                .size();
        assertThat(letters).isBetween(10L, 12L);
    }

    @Test
    void theNumberOfWorkersIsBounded() {
        assertThat(FeedDefinition.parse("f.yaml", directory, DEFINITION).workers())
                .isEqualTo(3);
        assertThat(FeedDefinition.parse("f.yaml", directory, DEFINITION.replace("workers: 3\n", ""))
                        .workers())
                .isEqualTo(1);
        assertThatThrownBy(() -> FeedDefinition.parse(
                        "f.yaml", directory, DEFINITION + "policy: { kind: spill }\n"))
                .isInstanceOf(DefinitionException.class)
                .hasMessageContaining("workers more than 1 do not go with policy spill");
        for (String wrong : List.of("0", "65", "two")) {
            assertThatThrownBy(() -> FeedDefinition.parse(
                            "f.yaml",
                            directory,
                            DEFINITION.replace("workers: 3", "workers: " + wrong)))
                    .isInstanceOf(DefinitionException.class)
                    .hasMessageContaining("workers must be a whole number from 1 to 64");
        }
    }
}
