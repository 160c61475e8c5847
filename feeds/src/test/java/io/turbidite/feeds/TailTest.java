package io.turbidite.feeds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.type.RecordType;
import io.turbidite.feeds.parse.CsvFormat;
import io.turbidite.feeds.parse.CsvRecordParser;
import io.turbidite.feeds.parse.JsonRecordParser;
import io.turbidite.feeds.parse.RecordFrame;
import io.turbidite.feeds.parse.RecordFramer;
import io.turbidite.feeds.parse.RecordParser;
import io.turbidite.feeds.source.FeedSource;
import io.turbidite.feeds.source.tail.TailKind;
import io.turbidite.lsm.Store;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;

/** A source that follows files; {@link TailHistoryTest} has random histories. */
@Timeout(60)
class TailTest {
    private static final RecordType TYPE =
            RecordType.builder().field("id", "int64").field("name", "string").build();
    private static final long SECOND = 1_000_000_000;

    private final SimDisk disk = new SimDisk(1, Profile.STRICT);
    private final SimClock clock = new SimClock();
    private final SimulatedFeed.Memory memory = new SimulatedFeed.Memory();
    private final List<Runnable> steps = new ArrayList<>();
    private RecordParser parser = new JsonRecordParser(TYPE, true, List.of());

    private void append(String name, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        try (DiskFile file = disk.exists(name) ? disk.open(name) : disk.create(name)) {
            file.write(file.size(), MemorySegment.ofArray(bytes), 0, bytes.length);
        }
        disk.touch(name, clock.wallMicros());
    }

    private void truncate(String name) {
        try (DiskFile file = disk.open(name)) {
            file.truncate(0);
        }
    }

    /** Calls these when the parser is asked for quotes, and before each record. */
    private void watchParser(Runnable atQuotes, Runnable atRecord) {
        RecordParser watched = parser;
        parser = new RecordParser() {
            @Override
            public RecordFramer.Quotes quotes() {
                atQuotes.run();
                return watched.quotes();
            }

            @Override
            public boolean wantsHeader() {
                return watched.wantsHeader();
            }

            @Override
            public void header(RecordFrame frame) {
                watched.header(frame);
            }

            @Override
            public Slice parse(RecordFrame frame) {
                atRecord.run();
                return watched.parse(frame);
            }
        };
    }

    private static String line(long id) {
        return "{\"id\":%d,\"name\":\"n\"}\n".formatted(id);
    }

    /** Follows for so long; each half second one of the steps is done. */
    private void follow(String pattern, long nanos) {
        follow(disk, pattern, nanos);
    }

    private void follow(Disk seen, String pattern, long nanos) {
        long end = clock.monotonicNanos() + nanos;
        try (SimTasks tasks = new SimTasks(7, clock);
                FeedSource source = TailKind.follow(seen, pattern)) {
            long[] next = {clock.monotonicNanos() + SECOND / 2};
            var _ = tasks.start("writer", 10_000, () -> {
                if (!steps.isEmpty() && clock.monotonicNanos() >= next[0]) {
                    next[0] += SECOND / 2;
                    steps.removeFirst().run();
                }
                return false;
            });
            FeedRun run = new FeedRun(
                    new FeedRun.Parts(
                            "f", source, parser, ',', memory, tasks, clock, new StoreEvents()),
                    FeedProgress.none(),
                    () -> clock.monotonicNanos() >= end);
            assertThat(run.run()).isFalse();
        }
        assertThat(disk.openHandles()).isEmpty();
    }

    @Test
    void aLineIsVisibleWithinHalfASecondAndAPartOfOneWaits() {
        append("a.log", line(1) + "{\"id\":2,");
        append("b.txt", line(9));
        steps.add(() -> {
            assertThat(memory.ids).containsExactly(1L);
            append("a.log", "\"name\":\"x\"}\n");
            append("new.log", line(3));
        });
        steps.add(() -> assertThat(memory.ids).containsExactlyInAnyOrder(1L, 2L, 3L));
        follow("*.log", 2 * SECOND);
        assertThat(steps).isEmpty();
        assertThat(memory.letters).isEmpty();
        follow("*.log", SECOND);
        assertThat(memory.ids).hasSize(3);
        assertThat(memory.positions).containsOnlyKeys("a.log#1", "new.log#1");
    }

    @Test
    void aFileThatWasTruncatedIsReadFromItsBeginningHoweverLongItIsByThen() {
        append("a.log", line(1) + line(2));
        follow("*.log", SECOND);
        disk.delete("a.log");
        append("other", "");
        append("a.log", line(11) + line(12) + line(13) + line(14));
        follow("*.log", SECOND);
        assertThat(memory.ids).containsExactly(1L, 2L, 11L, 12L, 13L, 14L);
        truncate("a.log");
        append("a.log", line(21) + line(22) + line(23) + line(24) + line(25));
        follow("*.log", SECOND);
        assertThat(memory.ids).hasSize(11).endsWith(21L, 22L, 23L, 24L, 25L);
    }

    /** Between the look and the read, so that the bytes that are read are those of another line. */
    @Test
    void aTruncationRightBeforeAReadIsFound() {
        append("a.log", line(1) + line(2));
        follow("*.log", SECOND);
        append("a.log", line(3));
        boolean[] done = {false};
        // a reader asks for the quotes when it has found that there is more, and then reads
        watchParser(
                () -> {
                    if (!done[0]) {
                        done[0] = true;
                        truncate("a.log");
                        append("a.log", " " + line(11) + line(12) + line(13) + line(14));
                    }
                },
                () -> {});
        follow("*.log", SECOND);
        assertThat(done[0]).isTrue();
        assertThat(memory.letters).isEmpty();
        assertThat(memory.ids).containsExactly(1L, 2L, 11L, 12L, 13L, 14L);
    }

    @Test
    void aFileWithoutANameIsReadToItsEndAndItsLastLineNeedsNone() {
        append("a.log", line(1));
        steps.add(() -> {
            DiskFile file = disk.open("a.log");
            disk.delete("a.log");
            steps.add(() -> {
                byte[] bytes =
                        (line(2) + "{\"id\":3,\"name\":\"y\"}").getBytes(StandardCharsets.UTF_8);
                file.write(file.size(), MemorySegment.ofArray(bytes), 0, bytes.length);
                file.close();
            });
        });
        follow("*.log", 6 * SECOND);
        assertThat(memory.ids).containsExactly(1L, 2L, 3L);
    }

    @Test
    void whatIsCompressedMeanwhileIsGoneOnWithWhereItWas() {
        append("a.log", line(1) + line(2));
        follow("a.log*", SECOND);
        byte[] all =
                SimulatedFeed.gzip((line(1) + line(2) + line(3)).getBytes(StandardCharsets.UTF_8));
        disk.delete("a.log");
        disk.put("a.log.1.gz", Arrays.copyOf(all, all.length - 9));
        follow("a.log*", SECOND);
        assertThat(memory.ids).as("not whole").containsExactly(1L, 2L);
        disk.put("a.log.1.gz", all);
        follow("a.log*", SECOND);
        follow("a.log*", SECOND);
        assertThat(memory.ids).containsExactly(1L, 2L, 3L);
        assertThat(memory.positions).containsOnlyKeys("a.log#1");
    }

    /** Truncated and compressed between two batches of one pass, with half a line in hand. */
    @Test
    void aFileThatIsCompressedWhileItIsReadIsGoneOnWithInTheCompressedOne() {
        StringBuilder lines = new StringBuilder();
        LongStream.range(0, 5_000).forEach(id -> lines.append(line(id)));
        append("a.log", lines.toString());
        long[] parsed = {0};
        watchParser(() -> {}, () -> {
            parsed[0]++;
            if (parsed[0] == 700) {
                disk.put("a.log.1.gz", SimulatedFeed.gzip(disk.content("a.log")));
                truncate("a.log");
                clock.advanceMicros(200_000);
            }
        });
        follow("a.log*", SECOND);
        assertThat(memory.letters).isEmpty();
        assertThat(memory.ids)
                .containsExactlyElementsOf(LongStream.range(0, 5_000).boxed().toList());
    }

    @Test
    void aCopyThatGoesOnWhenItsOriginalIsLongGoneIsFollowed() {
        append("a.log", line(1));
        steps.add(() -> disk.put("b.log", disk.content("a.log")));
        steps.add(() -> disk.delete("a.log"));
        for (int i = 0; i < 6; i++) {
            steps.add(() -> {});
        }
        steps.add(() -> append("b.log", line(2)));
        follow("*.log", 7 * SECOND);
        assertThat(steps).isEmpty();
        assertThat(memory.ids).containsExactly(1L, 2L);
        follow("*.log", SECOND);
        assertThat(memory.ids).containsExactly(1L, 2L);
    }

    @Test
    void aFileThatIsTruncatedBetweenALookAndItsFirstReadLeavesItsCopyToBeRead() {
        append("a.log", line(1) + line(2));
        append("a.log.1", line(1) + line(2));
        boolean[] isDone = {false};
        watchParser(
                () -> {
                    if (!isDone[0]) {
                        isDone[0] = true;
                        truncate("a.log");
                        append("a.log", line(3));
                    }
                },
                () -> {});
        steps.add(() -> {
            append("a.log", line(4));
            append("a.log.2", line(3) + line(4));
        });
        follow("a.log*", 2 * SECOND);
        assertThat(memory.ids).containsExactlyInAnyOrder(1L, 2L, 3L, 4L);
    }

    /** All of it between two looks, as may be while the store is behind. */
    @Test
    void aFileThatIsCopiedTruncatedAndDeletedIsGoneOnWithInItsCopy() {
        append("a.log", line(1) + line(2));
        steps.add(() -> {
            assertThat(memory.ids).containsExactly(1L, 2L);
            append("a.log.2", line(1) + line(2) + line(3));
            truncate("a.log");
            append("a.log", line(4));
            byte[] packed = SimulatedFeed.gzip(disk.content("a.log"));
            disk.put("a.log.1.gz", packed);
            disk.delete("a.log");
        });
        follow("a.log*", 4 * SECOND);
        assertThat(memory.ids).containsExactlyInAnyOrder(1L, 2L, 3L, 4L);
        assertThat(memory.positions).containsOnlyKeys("a.log#1", "a.log.1.gz#1");
    }

    @Test
    void aFileThatComesBackUnderItsNameIsGoneOnWith() {
        append("a.log", line(1));
        steps.add(() -> disk.rename("a.log", "elsewhere"));
        for (int i = 0; i < 6; i++) {
            steps.add(() -> {});
        }
        steps.add(() -> disk.rename("elsewhere", "a.log"));
        steps.add(() -> append("a.log", line(2)));
        follow("*.log", 7 * SECOND);
        assertThat(steps).isEmpty();
        assertThat(memory.ids).containsExactly(1L, 2L);
    }

    /** Between the list of the directory and a look into the file. */
    @Test
    void aFileThatIsDeletedWhileItIsLookedAtIsReadToItsEnd() {
        append("a.log", line(1));
        boolean[] armed = {false};
        Disk looked = (Disk) Proxy.newProxyInstance(
                Disk.class.getClassLoader(), new Class<?>[] {Disk.class}, (proxy, method, args) -> {
                    if (armed[0] && method.getName().equals("openReadOnly")) {
                        armed[0] = false;
                        disk.delete("a.log");
                    }
                    try {
                        return method.invoke(disk, args);
                    } catch (InvocationTargetException e) {
                        throw Objects.requireNonNull(e.getCause());
                    }
                });
        steps.add(() -> {
            assertThat(memory.ids).containsExactly(1L);
            append("a.log", line(2));
            armed[0] = true;
        });
        follow(looked, "*.log", 4 * SECOND);
        assertThat(armed[0]).isFalse();
        assertThat(memory.ids).containsExactly(1L, 2L);
    }

    @Test
    void aCompressedFileThatGrowsByMembersIsReadOn() {
        disk.put("a.gz", SimulatedFeed.gzip(line(1).getBytes(StandardCharsets.UTF_8)));
        byte[] more = SimulatedFeed.gzip(line(2).getBytes(StandardCharsets.UTF_8));
        steps.add(() -> {
            try (DiskFile file = disk.open("a.gz")) {
                file.write(file.size(), MemorySegment.ofArray(more), 0, more.length);
            }
            disk.touch("a.gz", clock.wallMicros());
        });
        follow("*.gz", 2 * SECOND);
        assertThat(memory.ids).containsExactly(1L, 2L);
    }

    @Test
    void eachFileHasItsOwnHeader() {
        parser = new CsvRecordParser(TYPE, new CsvFormat(',', true, List.of()), true, List.of());
        append("a.csv", "id,name\n1,one\n");
        append("b.csv", "name,id\ntwo,2\n");
        append("c.csv", "id,na");
        steps.add(() -> {
            append("a.csv", "3,three\n");
            append("b.csv", "four,4\n");
            append("c.csv", "me\n5,five\n");
        });
        follow("*.csv", 2 * SECOND);
        append("b.csv", "six,6\n");
        append("a.csv", "7,\"sev\n");
        follow("*.csv", 3 * SECOND);
        append("a.csv", "en\"\n");
        follow("*.csv", SECOND);
        assertThat(memory.ids).containsExactlyInAnyOrder(1L, 2L, 3L, 4L, 5L, 6L, 7L);
        assertThat(memory.names).contains("four", "six", "sev\nen");
        assertThat(memory.letters).isEmpty();
    }

    @Test
    void aDefinitionFollowsRealFilesIntoAStore(@TempDir Path directory) throws IOException {
        Path logs = Files.createDirectories(directory.resolve("logs"));
        Path log = logs.resolve("app.log");
        Files.writeString(log, line(0));
        FeedDefinition definition = FeedDefinition.parse("f.yaml", directory, """
                feed: f
                dataset:
                  name: D
                  type: { id: int64, name: string }
                  primaryKey: id
                source: { kind: tail, path: "logs/*.log*" }
                parser: { kind: json }
                mode: insert
                """);
        try (Store store = Store.open(directory.resolve("store"));
                Tasks tasks = ThreadTasks.create("tail-test")) {
            for (long round = 0; round < 2; round++) {
                long id = 2 * round;
                try (Feed feed = Feed.open(definition, store)) {
                    assertThat(feed.isEndless()).isTrue();
                    CompletableFuture<FeedReport> report =
                            CompletableFuture.supplyAsync(() -> feed.run(FeedProgress.none()));
                    tasks.await(() -> store.dataset("D").get(id) != null || report.isDone());
                    Files.move(log, logs.resolve("app.log." + (9 - round)));
                    Files.writeString(
                            log, line(id + 1) + line(id + 2), StandardOpenOption.CREATE_NEW);
                    tasks.await(() -> store.dataset("D").get(id + 2) != null || report.isDone());
                    feed.stop();
                    FeedReport ended = report.join();
                    assertThat(ended.finished()).isFalse();
                    assertThat(ended.rejected()).isZero();
                }
            }
            for (long id = 0; id <= 4; id++) {
                assertThat(store.dataset("D").get(id)).as("%d", id).isNotNull();
            }
            assertThat(store.dataset("_feeds").get("f", "app.log#3")).isNotNull();
        }
    }

    @Test
    void whatCanNotBeFollowedIsToldWithItsKey(@TempDir Path directory) throws IOException {
        String text = """
                feed: f
                log: { name: L }
                source: { kind: tail, path: "nowhere/*.log" }
                """;
        String dataset = text.replace(
                "log: { name: L }",
                "dataset: { name: D, type: { id: int64 }, primaryKey: id }\nparser: { kind: json }");
        assertThatThrownBy(() -> Feed.check(FeedDefinition.parse("f.yaml", directory, dataset)))
                .isInstanceOf(DefinitionException.class)
                .hasMessageContaining("source.path")
                .hasMessageContaining("there is no such directory");
        Path file = Files.writeString(directory.resolve("l.yaml"), text);
        LogFeedDefinition log = LogFeedDefinition.load(file);
        assertThatThrownBy(() -> LogFeed.open(log, directory.resolve("store")).close())
                .isInstanceOf(DefinitionException.class)
                .hasMessageContaining("l.yaml:3: source.kind is tail");
        assertThat(directory.resolve("store")).doesNotExist();
        assertThatThrownBy(() -> TailKind.follow(disk, "[a")).hasMessageContaining("is no pattern");
    }
}
