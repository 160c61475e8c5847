package io.turbidite.feeds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.type.RecordType;
import io.turbidite.feeds.flow.Batch;
import io.turbidite.feeds.parse.CsvFormat;
import io.turbidite.feeds.parse.CsvRecordParser;
import io.turbidite.feeds.parse.JsonRecordParser;
import io.turbidite.feeds.parse.RecordParser;
import io.turbidite.feeds.source.FileSource;
import io.turbidite.feeds.store.Delivery;
import io.turbidite.feeds.store.FilePosition;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import java.util.zip.GZIPOutputStream;

/** The loop over files and positions, against a delivery in memory that dies when it is told to. */
class FeedRunTest {
    private static final RecordType TYPE =
            RecordType.builder().field("id", "int64").field("name", "string").build();

    private static final long SECOND = 1_000_000_000;

    private final SimDisk disk = new SimDisk(1, Profile.STRICT);
    private final Memory memory = new Memory();
    private final SimClock clock = new SimClock();
    private final StoreEvents events = new StoreEvents();
    private boolean json;
    private @Nullable Runnable meanwhile;

    @SuppressWarnings("NullAway.Init")
    private FeedRun run;

    /** Keeps what was delivered over runs; {@code killIn} batches from now it dies. */
    private static final class Memory implements Delivery {
        private final List<Long> ids = new ArrayList<>();
        private final List<String> names = new ArrayList<>();
        private final StringBuilder letters = new StringBuilder();
        private final Map<String, FilePosition> positions = new HashMap<>();
        private int killIn = Integer.MAX_VALUE;
        private boolean killAfterCommit;
        private long rejected;
        private boolean replacing = true;

        FilePosition require(String file) {
            return Objects.requireNonNull(positions.get(file));
        }

        void clear() {
            ids.clear();
            names.clear();
            letters.setLength(0);
            positions.clear();
            rejected = 0;
        }

        @Override
        public boolean replaces(Slice before, Slice after) {
            return replacing;
        }

        @Override
        public @Nullable FilePosition position(String file) {
            return positions.get(file);
        }

        @Override
        public void deliver(Batch batch) {
            killIn--;
            if (killIn <= 0 && !killAfterCommit) {
                throw new IllegalStateException("killed");
            }
            RecordView view = new RecordView(TYPE);
            Slice slice = new Slice();
            for (int i = 0; i < batch.recordCount(); i++) {
                ids.add(view.wrap(batch.record(i, slice)).getLong(0));
                names.add(view.getBytes(1).toUtf8());
            }
            letters.append(batch.letters(slice).toUtf8());
            rejected += batch.rejectedCount();
            String name = batch.file().name();
            FilePosition before = batch.fileBegun() ? null : positions.get(name);
            positions.put(name, FilePosition.behind(batch, before, batch.recordCount(), 0));
            if (killIn <= 0) {
                throw new IllegalStateException("killed");
            }
        }

        @Override
        public void commit() {
            // nothing waits
        }

        @Override
        public long accepted() {
            return ids.size();
        }

        @Override
        public long rejected() {
            return rejected;
        }

        @Override
        public @Nullable String deadLetters() {
            return null;
        }

        @Override
        public void close() {}
    }

    private boolean run(String path, BooleanSupplier stopped) {
        try (SimTasks tasks = new SimTasks(5, clock)) {
            if (meanwhile != null) {
                Runnable once = meanwhile;
                meanwhile = null;
                long startNanos = clock.monotonicNanos();
                boolean[] done = {false};
                var _ = tasks.start("writer", 100_000, () -> {
                    if (!done[0] && clock.monotonicNanos() - startNanos > SECOND / 2) {
                        done[0] = true;
                        once.run();
                    }
                    return false;
                });
            }
            RecordParser parser = json
                    ? new JsonRecordParser(TYPE, true, List.of())
                    : new CsvRecordParser(
                            TYPE, new CsvFormat(',', true, List.of()), true, List.of());
            run = new FeedRun(
                    new FeedRun.Parts(
                            "f",
                            FileSource.open(disk, path),
                            parser,
                            ',',
                            memory,
                            tasks,
                            clock,
                            events),
                    FeedProgress.none(),
                    stopped);
            return run.run();
        } finally {
            assertThat(disk.openHandleCount()).isZero();
        }
    }

    /** Has something happen half a second after the next run began, should it take that long. */
    private void whileWaiting(Runnable what) {
        meanwhile = what;
    }

    private boolean run(String path) {
        return run(path, () -> false);
    }

    private static byte[] lines(long from, long to) {
        StringBuilder text = new StringBuilder("id,name\n");
        for (long i = from; i < to; i++) {
            text.append(i).append(i % 97 == 5 ? ",\"two\nlines\"\n" : ",name\n");
            if (i % 101 == 3) {
                text.append("bad").append(i).append(",x\n");
            }
        }
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] gzip(byte[] bytes) {
        ByteArrayOutputStream compressed = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(compressed)) {
            gzip.write(bytes);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return compressed.toByteArray();
    }

    private void hasAll(long count) {
        assertThat(memory.ids).hasSize((int) count);
        for (int i = 0; i < count; i++) {
            assertThat(memory.ids.get(i)).isEqualTo(i);
        }
        long bad = count > 3 ? (count - 4) / 101 + 1 : 0;
        assertThat(memory.letters.toString().lines().count()).isEqualTo(bad);
        assertThat(memory.letters.toString().lines().distinct().count()).isEqualTo(bad);
    }

    @Test
    void aRunDeliversEveryRecordAndLetter() {
        disk.put("a.csv", lines(0, 3_000));
        assertThat(run("a.csv")).isTrue();
        hasAll(3_000);
        assertThat(memory.letters.toString().lines().findFirst().orElseThrow())
                .isEqualTo("{\"source\":\"a.csv\",\"line\":6,\"offset\":36,\"reason\":\"field 'id':"
                        + " 'bad3' is not of type int64; expected an"
                        + " integer\",\"raw\":\"bad3,x\"}");
    }

    @Test
    void runningAFinishedFeedAgainDoesNothing() {
        disk.put("a.csv", lines(0, 1_000));
        assertThat(run("a.csv")).isTrue();
        assertThat(run("a.csv")).isTrue();
        hasAll(1_000);
    }

    @Test
    void aRunThatWasKilledAnywhereIsGoneOnWith() {
        long seed = Seeds.of("FeedRunTest");
        SplittableRandom random = new SplittableRandom(seed);
        for (int round = 0; round < 12; round++) {
            String as = Seeds.replay("FeedRunTest", seed) + " round " + round;
            memory.clear();
            byte[] bytes = lines(0, 6_000);
            disk.put(
                    "a.csv",
                    switch (random.nextInt(3)) {
                        case 0 -> bytes;
                        case 1 -> gzip(bytes);
                        default -> join(members(bytes, random.nextInt(2, 40)));
                    });
            int kills = 0;
            for (boolean finished = false; !finished && kills < 100; kills++) {
                memory.killIn = random.nextInt(1, 9);
                memory.killAfterCommit = random.nextBoolean();
                int stopAfter = random.nextInt(3_000);
                int[] asked = {0};
                try {
                    finished = run("a.csv", () -> ++asked[0] > stopAfter);
                } catch (IllegalStateException e) {
                    assertThat(e).as(as).hasMessage("killed");
                }
            }
            memory.killIn = Integer.MAX_VALUE;
            assertThat(run("a.csv")).as(as).isTrue();
            hasAll(6_000);
        }
    }

    @Test
    void stoppingKeepsWhatWasRead() {
        disk.put("a.csv", lines(0, 3_000));
        int[] asked = {0};
        assertThat(run("a.csv", () -> ++asked[0] == 700)).isFalse();
        assertThat(memory.ids).hasSizeBetween(690, 700);
        assertThat(run("a.csv")).isTrue();
        hasAll(3_000);
    }

    @Test
    void aDirectoryIsReadFileByFileAndNewFilesAreFound() {
        disk.createDirectories("in");
        disk.put("in/b.csv", lines(1_000, 2_000));
        disk.put("in/a.csv", gzip(lines(0, 1_000)));
        assertThat(run("in")).isTrue();
        assertThat(memory.ids).hasSize(2_000).isSorted();
        disk.put("in/aa.csv", lines(2_000, 2_500));
        disk.put("in/empty.csv", new byte[0]);
        assertThat(run("in")).isTrue();
        assertThat(run("in")).isTrue();
        assertThat(memory.ids).hasSize(2_500).isSorted();
    }

    @Test
    void aFileThatHasGrownIsGoneOnWith() {
        byte[] all = lines(0, 2_000);
        disk.put("a.csv", Arrays.copyOf(all, all.length - 5)); // in the middle of the last line
        assertThat(run("a.csv")).isTrue();
        int before = memory.ids.size();
        byte[] more = Arrays.copyOf(all, all.length + 9);
        System.arraycopy("\n2000,new".getBytes(StandardCharsets.UTF_8), 0, more, all.length - 5, 9);
        disk.put("a.csv", Arrays.copyOf(more, all.length + 4));
        assertThat(run("a.csv")).isTrue();
        assertThat(memory.ids).hasSize(before + 1).endsWith(2_000L);
    }

    /** A file that was written just now. */
    private void putYoung(String name, String text) {
        disk.put(name, text.getBytes(StandardCharsets.UTF_8));
        disk.touch(name, clock.wallMicros());
    }

    @Test
    void theUnfinishedLineOfAFileThatIsWrittenWaits() {
        putYoung("a.csv", "id,name\n11,a\n12");
        whileWaiting(() -> putYoung("a.csv", "id,name\n11,a\n1234"));
        assertThat(run("a.csv")).isTrue();
        assertThat(memory.ids).containsExactly(11L);
        assertThat(memory.letters).isEmpty();
        assertThat(run.waiting()).isEqualTo(1);
        assertThat(memory.require("a.csv").offset()).isEqualTo(13);
        putYoung("a.csv", "id,name\n11,a\n1234,b\n");
        assertThat(run("a.csv")).isTrue();
        assertThat(memory.ids).containsExactly(11L, 1234L);
        assertThat(memory.letters).isEmpty();
        assertThat(run.waiting()).isZero();
    }

    @Test
    void theLastLineOfAFileThatRestsNeedsNoEnd() {
        disk.put("a.csv", "id,name\n11,a\n12,b".getBytes(StandardCharsets.UTF_8));
        long before = clock.monotonicNanos();
        assertThat(run("a.csv")).isTrue();
        assertThat(memory.ids).containsExactly(11L, 12L);
        assertThat(clock.monotonicNanos() - before).as("it waits for nothing").isLessThan(SECOND);
        // a young one, that nobody touches while it is looked at
        putYoung("b.csv", "id,name\n13,a\n14,b");
        assertThat(run("b.csv")).isTrue();
        assertThat(memory.ids).containsExactly(11L, 12L, 13L, 14L);
        assertThat(clock.monotonicNanos() - before).isBetween(2 * SECOND, 3 * SECOND);
    }

    @Test
    void aTouchedFileIsStillWritten() {
        putYoung("a.csv", "id,name\n11,a\n12,b");
        whileWaiting(() -> disk.touch("a.csv", clock.wallMicros()));
        assertThat(run("a.csv")).isTrue();
        assertThat(memory.ids).containsExactly(11L);
        assertThat(run.waiting()).isEqualTo(1);
    }

    @Test
    void aFileFromTheFutureIsStillWrittenUntilItRests() {
        putYoung("a.csv", "id,name\n11,a\n12,b");
        disk.touch("a.csv", clock.wallMicros() + 3_600_000_000L);
        assertThat(run("a.csv")).isTrue();
        assertThat(memory.ids).containsExactly(11L, 12L);
        assertThat(clock.monotonicNanos()).isGreaterThan(2 * SECOND);
    }

    @Test
    void compressedContentHasAnEnd() {
        disk.put("a.gz", gzip("id,name\n11,a\n12,b".getBytes(StandardCharsets.UTF_8)));
        disk.touch("a.gz", clock.wallMicros());
        assertThat(run("a.gz")).isTrue();
        assertThat(memory.ids).containsExactly(11L, 12L);
        assertThat(clock.monotonicNanos()).isLessThan(SECOND);
    }

    @Test
    void jsonIsWholeAtItsClosingBracket() {
        json = true;
        String whole = "{\"id\":1,\"name\":\"}{\"}\n{\"id\":2,\"name\":\"\\\"}\"}";
        putYoung("a.json", whole);
        assertThat(run("a.json")).isTrue();
        assertThat(memory.ids).containsExactly(1L, 2L);
        assertThat(clock.monotonicNanos()).isLessThan(SECOND);
        putYoung("a.json", whole + " \r\n{\"id\":3,\"name\":\"{}");
        whileWaiting(() -> disk.touch("a.json", clock.wallMicros()));
        assertThat(run("a.json")).isTrue();
        assertThat(memory.ids).containsExactly(1L, 2L);
        assertThat(memory.letters).isEmpty();
        assertThat(events.recent()).isEmpty();
        assertThat(run.waiting()).isEqualTo(1);
    }

    @Test
    void anUnfinishedHeaderWaits() {
        putYoung("a.csv", "id,na");
        whileWaiting(() -> putYoung("a.csv", "id,name\n1"));
        assertThat(run("a.csv")).isTrue();
        assertThat(memory.positions).isEmpty();
        assertThat(run.waiting()).isEqualTo(1);
        putYoung("a.csv", "id,name\n1,a\n");
        assertThat(run("a.csv")).isTrue();
        assertThat(memory.ids).containsExactly(1L);
    }

    @Test
    void anOpenQuoteOfAFileThatIsWrittenWaitsWithItsLines() {
        putYoung("a.csv", "id,name\n1,a\n2,\"b\nb\n");
        whileWaiting(() -> disk.touch("a.csv", clock.wallMicros()));
        assertThat(run("a.csv")).isTrue();
        assertThat(memory.ids).containsExactly(1L);
        putYoung("a.csv", "id,name\n1,a\n2,\"b\nb\n\"\n");
        assertThat(run("a.csv")).isTrue();
        assertThat(memory.ids).containsExactly(1L, 2L);
        assertThat(memory.letters).isEmpty();
    }

    /** A file that nobody has touched for long. */
    private void putRested(String text) {
        disk.put("a.csv", text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void aQuotedFieldThatGrowsOverThreeRunsWaitsThoughTheFileRests() {
        StringBuilder text = new StringBuilder("id,name\n1,a\n2,\"b");
        for (String more : List.of("\nDear Sir,\n", "yours\n\n", "3,", "\"\"x\"\"\nend")) {
            text.append(more);
            putRested(text.toString());
            assertThat(run("a.csv")).isTrue();
            assertThat(memory.ids).containsExactly(1L);
            assertThat(memory.letters).isEmpty();
            assertThat(run.waiting()).isEqualTo(1);
            assertThat(memory.require("a.csv").offset()).isEqualTo(12);
            assertThat(memory.require("a.csv").ended()).isFalse();
        }
        putRested(text + "\"\n4,d\n");
        assertThat(run("a.csv")).isTrue();
        assertThat(memory.ids).containsExactly(1L, 2L, 4L);
        assertThat(memory.names).containsExactly("a", "b\nDear Sir,\nyours\n\n3,\"x\"\nend", "d");
        assertThat(memory.letters).isEmpty();
        assertThat(events.recent()).isEmpty();
        assertThat(run.waiting()).isZero();
    }

    @Test
    void anOpenQuoteIsWaitedForFromItsRecordAndNotFromTheStartOfTheFile() {
        StringBuilder text = new StringBuilder("id,name\n");
        for (int i = 0; i < 200_000; i++) {
            text.append(i).append(",name\n");
        }
        text.append("-1,\"two\n");
        putRested(text.toString());
        assertThat(run("a.csv")).isTrue();
        assertThat(memory.ids).hasSize(200_000);
        long[] steps = {0};
        disk.onOperation(operation -> steps[0]++);
        putRested(text.append("lines\n").toString());
        assertThat(run("a.csv")).isTrue();
        assertThat(steps[0]).as("calls to the disk").isLessThan(20);
        putRested(text.append("\"\n").toString());
        assertThat(run("a.csv")).isTrue();
        assertThat(memory.names).hasSize(200_001).endsWith("two\nlines\n");
    }

    @Test
    void killsWhileAQuotedFieldGrowsLoseAndRepeatNothing() {
        long seed = Seeds.of("FeedRunTest.quoted");
        SplittableRandom random = new SplittableRandom(seed);
        byte[] all = lines(0, 300);
        List<Integer> ends = new ArrayList<>(); // of lines, within quotes or not
        for (int i = 8; i < all.length; i++) {
            if (all[i - 1] == '\n') {
                ends.add(i);
            }
        }
        for (int round = 0; round < 40; round++) {
            String as = Seeds.replay("FeedRunTest.quoted", seed) + " round " + round;
            memory.clear();
            for (int at = 0; at < ends.size(); at += 1 + random.nextInt(40)) {
                putRested(new String(all, 0, ends.get(at), StandardCharsets.UTF_8));
                memory.killIn = random.nextInt(1, 4);
                memory.killAfterCommit = random.nextBoolean();
                try {
                    run("a.csv");
                } catch (IllegalStateException e) {
                    assertThat(e).as(as).hasMessage("killed");
                }
            }
            memory.killIn = Integer.MAX_VALUE;
            putRested(new String(all, StandardCharsets.UTF_8));
            assertThat(run("a.csv")).as(as).isTrue();
            hasAll(300);
            assertThat(events.recent()).as(as).isEmpty();
        }
    }

    @Test
    void aQuoteThatIsNeverClosedWaitsForAsLongAsARecordMayBe() {
        String line = "no record at all, this,\n";
        StringBuilder text = new StringBuilder("id,name\n1,\"a\n");
        text.append(line.repeat(Limits.RECORD_BYTES_MAX / line.length() - 1));
        putRested(text.toString());
        assertThat(run("a.csv")).isTrue();
        assertThat(memory.letters).isEmpty();
        assertThat(run.waiting()).isEqualTo(1);
        putRested(text.append(line).append(line).append("2,b\n").toString());
        assertThat(run("a.csv")).isTrue();
        assertThat(memory.ids).containsExactly(2L);
        assertThat(run.waiting()).isZero();
        assertThat(memory.letters.toString().lines().findFirst().orElseThrow())
                .isEqualTo(
                        "{\"source\":\"a.csv\",\"line\":2,\"offset\":8,\"reason\":\"a quoted field is"
                                + " not closed, and a record can't be longer than 16777216 bytes\","
                                + "\"raw\":\"1,\\\"a\"}");
    }

    @Test
    void anOpenQuoteWithRecordsBehindItIsBrokenAndHoldsNothingBack() {
        putRested("id,name\n1,\"a\n2,b\nbad\n3,c\n4,\"d\n");
        assertThat(run("a.csv")).isTrue();
        assertThat(memory.letters.toString().lines()).hasSize(2);
        assertThat(memory.ids).containsExactly(2L, 3L);
        assertThat(run.waiting()).as("the last one may still be closed").isEqualTo(1);
        putRested("id,name\n1,\"a\n2,b\nbad\n3,c\n4,\"d\ne\"\n");
        assertThat(run("a.csv")).isTrue();
        assertThat(memory.names).containsExactly("b", "c", "d\ne");
        assertThat(memory.letters.toString().lines()).hasSize(2);
    }

    @Test
    void oneLineThatLooksLikeARecordMayBeTextOfAnOpenField() {
        putRested("id,name\n1,\"a\n2,b\n");
        assertThat(run("a.csv")).isTrue();
        assertThat(memory.ids).isEmpty();
        assertThat(run.waiting()).isEqualTo(1);
        putRested("id,name\n1,\"a\n2,b\n\"\n");
        assertThat(run("a.csv")).isTrue();
        assertThat(memory.names).containsExactly("a\n2,b\n");
    }

    @Test
    void anOpenQuoteAtTheEndOfCompressedContentIsADeadLetter() {
        disk.put("a.csv", gzip("id,name\n1,a\n2,\"b\nb\n".getBytes(StandardCharsets.UTF_8)));
        assertThat(run("a.csv")).isTrue();
        assertThat(memory.ids).containsExactly(1L);
        assertThat(memory.letters.toString().lines()).hasSize(2);
        assertThat(memory.require("a.csv").ended()).isTrue();
    }

    @Test
    void anOpenQuoteInTheHeaderWaitsThoughTheFileRests() {
        putRested("id,\"na");
        assertThat(run("a.csv")).isTrue();
        assertThat(run.waiting()).isEqualTo(1);
        putRested("id,\"name\"\n1,a\n");
        assertThat(run("a.csv")).isTrue();
        assertThat(memory.ids).containsExactly(1L);
    }

    @Test
    void aLineOverTheLimitWaitsForItsEndToo() {
        json = true;
        String tooLong = "{\"id\":1,\"name\":\"" + "x".repeat(Limits.RECORD_BYTES_MAX);
        putYoung("a.json", tooLong);
        whileWaiting(() -> disk.touch("a.json", clock.wallMicros()));
        assertThat(run("a.json")).isTrue();
        assertThat(memory.letters).isEmpty();
        assertThat(run.waiting()).isEqualTo(1);
        putYoung("a.json", tooLong + "\"}\n{\"id\":2,\"name\":\"b\"}\n");
        assertThat(run("a.json")).isTrue();
        assertThat(memory.letters.toString().lines()).hasSize(1);
        assertThat(memory.letters.toString())
                .contains("\"rawBytes\":%d,".formatted(tooLong.length() + 2));
        assertThat(memory.ids).containsExactly(2L);
    }

    @Test
    void aStoppedRunWaitsForNoFile() {
        putYoung("a.csv", "id,name\n11,a\n12,b");
        boolean[] stop = {false};
        whileWaiting(() -> stop[0] = true);
        assertThat(run("a.csv", () -> stop[0])).isFalse();
        assertThat(memory.ids).containsExactly(11L);
        assertThat(clock.monotonicNanos()).isLessThan(SECOND);
    }

    /** The file rests in the middle of a line for more than two seconds, and then goes on. */
    private void goesOn(String taken, String now) {
        String head = "id,name\n11,a\n";
        disk.put("a.csv", (head + taken).getBytes(StandardCharsets.UTF_8));
        assertThat(run("a.csv")).isTrue();
        disk.put("a.csv", (head + now).getBytes(StandardCharsets.UTF_8));
        assertThat(run("a.csv")).isTrue();
        assertThat(run("a.csv")).as("and that is all").isTrue();
    }

    private StoreEvent.SourceContinued onlyEvent() {
        assertThat(events.recent()).hasSize(1);
        return (StoreEvent.SourceContinued) events.recent().getFirst();
    }

    @Test
    void aTakenRecordThatGoesOnIsReplaced() {
        goesOn("12,b", "12,bcd\n13,e\n");
        assertThat(memory.ids).containsExactly(11L, 12L, 12L, 13L);
        assertThat(memory.names).containsExactly("a", "b", "bcd", "e");
        assertThat(memory.letters).isEmpty();
        StoreEvent.SourceContinued event = onlyEvent();
        assertThat(event.before()).isEqualTo("12,b");
        assertThat(event.after()).isEqualTo("12,bcd");
        assertThat(event.file()).isEqualTo("a.csv");
        assertThat(event.line()).isEqualTo(3);
        assertThat(event.offset()).isEqualTo(13);
        assertThat(event.outcome()).isEqualTo("replaced");
    }

    @Test
    void aTakenRecordThatGoesOnUnderAnotherKeyLeavesADeadLetter() {
        memory.replacing = false;
        goesOn("12,b", "12,bcd\n13,e\n");
        assertThat(memory.ids).containsExactly(11L, 12L, 13L);
        assertThat(memory.letters.toString().lines()).hasSize(1);
        assertThat(memory.letters.toString())
                .contains("\"line\":3,\"offset\":13", "12,bcd", "went on", "'12,b'");
        assertThat(onlyEvent().outcome()).isEqualTo("rejected");
    }

    @Test
    void whatWasADeadLetterIsTakenWhenItGoesOn() {
        goesOn("12", "1234,b\n13,e\n");
        assertThat(memory.ids).containsExactly(11L, 1234L, 13L);
        assertThat(memory.letters.toString().lines()).hasSize(1);
        assertThat(onlyEvent().outcome()).isEqualTo("taken");
    }

    @Test
    void aLineEndAloneIsNoNews() {
        goesOn("12,b", "12,b\r\n13,e\n");
        assertThat(memory.ids).containsExactly(11L, 12L, 13L);
        assertThat(memory.letters).isEmpty();
        assertThat(events.recent()).isEmpty();
        assertThat(memory.require("a.csv").line()).isEqualTo(5);
    }

    @Test
    void aTakenRecordOfSeveralLinesThatGoesOnIsFoundFromItsStart() {
        goesOn("12,\"b\nc\"", "12,\"b\nc\"\"d\"\n13,e\n");
        assertThat(memory.names).containsExactly("a", "b\nc", "b\nc\"d", "e");
        assertThat(onlyEvent().line()).isEqualTo(3);
    }

    @Test
    void aTakenRecordThatGoesOnAndIsStillUnfinishedWaits() {
        disk.put("a.csv", "id,name\n11,a\n12,b".getBytes(StandardCharsets.UTF_8));
        assertThat(run("a.csv")).isTrue();
        putYoung("a.csv", "id,name\n11,a\n12,bc");
        whileWaiting(() -> disk.touch("a.csv", clock.wallMicros()));
        assertThat(run("a.csv")).isTrue();
        assertThat(run.waiting()).isEqualTo(1);
        assertThat(memory.names).containsExactly("a", "b");
        assertThat(events.recent()).isEmpty();
        putYoung("a.csv", "id,name\n11,a\n12,bcd\n");
        assertThat(run("a.csv")).isTrue();
        assertThat(memory.names).containsExactly("a", "b", "bcd");
        assertThat(onlyEvent().before()).isEqualTo("12,b");
    }

    @Test
    void aFileThatGrowsAnywhereBetweenRunsGivesEachRecordOnce() {
        long seed = Seeds.of("FeedRunTest.grows");
        SplittableRandom random = new SplittableRandom(seed);
        for (int round = 0; round < 40; round++) {
            String as = Seeds.replay("FeedRunTest.grows", seed) + " round " + round;
            memory.clear();
            byte[] all = lines(0, 300);
            int length = 0;
            while (length < all.length) {
                length = Math.min(all.length, length + 1 + random.nextInt(900));
                disk.put("a.csv", Arrays.copyOf(all, length));
                disk.touch("a.csv", clock.wallMicros());
                whileWaiting(() -> disk.touch("a.csv", clock.wallMicros()));
                assertThat(run("a.csv")).as(as).isTrue();
            }
            hasAll(300);
            assertThat(events.recent()).isEmpty();
        }
    }

    @Test
    void anotherFileUnderTheNameIsRefused() {
        disk.put("a.csv", lines(0, 1_000));
        assertThat(run("a.csv")).isTrue();
        disk.put("a.csv", lines(0, 500));
        assertThatThrownBy(() -> run("a.csv"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage(
                        "a.csv is not the file that feed f has read up to line 1023: it has only 4483 bytes of the 9063 that were read; put that one back, or load this one by a feed of another name");
        disk.put("a.csv", lines(7, 2_000));
        assertThatThrownBy(() -> run("a.csv")).hasMessageContaining("it begins otherwise");
    }

    private static byte[] join(byte[]... parts) {
        ByteArrayOutputStream joined = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            joined.writeBytes(part);
        }
        return joined.toByteArray();
    }

    /** Members of gzip that are one file of lines; most of them end within a line. */
    private static List<byte[]> members(byte[] content, int count) {
        List<byte[]> members = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int from = (int) ((long) content.length * i / count);
            int to = (int) ((long) content.length * (i + 1) / count);
            members.add(gzip(Arrays.copyOfRange(content, from, to)));
        }
        return members;
    }

    private static byte[] join(List<byte[]> parts) {
        return join(parts.toArray(new byte[0][]));
    }

    /** Runs into the damage; false if the flipped bit says nothing. */
    private boolean meetsDamage() {
        try {
            assertThat(run("a.gz")).isTrue();
            return false;
        } catch (CorruptionException e) {
            assertThat(e).hasMessageContaining("a.gz");
            return true;
        }
    }

    @Test
    void nothingOfADamagedMemberIsDeliveredAndTheMendedFileGoesOn() {
        long seed = Seeds.of("FeedRunTest");
        SplittableRandom random = new SplittableRandom(seed);
        byte[] content = lines(0, 6_000);
        byte[] good = gzip(content);
        for (int round = 0; round < 40; round++) {
            String as = Seeds.replay("FeedRunTest", seed) + " round " + round;
            memory.clear();
            byte[] bad = good.clone();
            int at = round < 20 ? random.nextInt(4_096) : random.nextInt(bad.length);
            bad[at] ^= (byte) (1 << random.nextInt(8));
            disk.put("a.gz", round % 7 == 3 ? Arrays.copyOf(good, at + 1) : bad);
            if (meetsDamage()) {
                assertThat(memory.ids).as(as).isEmpty();
                assertThat(memory.letters).as(as).isEmpty();
                assertThat(memory.positions).as(as).isEmpty();
                disk.put("a.gz", good);
                assertThat(run("a.gz")).as(as).isTrue();
            }
            hasAll(6_000);
        }
    }

    @Test
    void membersBeforeADamagedOneAreDeliveredAndTheMendedFileGoesOnBehindThem() {
        long seed = Seeds.of("FeedRunTest");
        SplittableRandom random = new SplittableRandom(seed);
        byte[] content = lines(0, 8_000);
        for (int round = 0; round < 25; round++) {
            String as = Seeds.replay("FeedRunTest", seed) + " round " + round;
            memory.clear();
            List<byte[]> members = members(content, random.nextInt(2, 9));
            int damaged = random.nextInt(members.size());
            List<byte[]> bad = new ArrayList<>(members);
            byte[] one = members.get(damaged).clone();
            one[random.nextInt(one.length)] ^= (byte) (1 << random.nextInt(8));
            bad.set(damaged, one);
            disk.put("a.gz", join(bad));
            if (meetsDamage()) {
                int proven = content.length * damaged / members.size();
                String before = new String(content, 0, proven, StandardCharsets.UTF_8);
                assertThat(memory.ids.size() + memory.rejected)
                        .as(as)
                        .isLessThanOrEqualTo(before.lines().count());
                assertThat(memory.positions.containsKey("a.gz")).as(as).isEqualTo(damaged > 0);
                if (damaged > 0) {
                    // all lines that end before the damaged member but one, which quotes may hold
                    // open
                    assertThat(memory.require("a.gz").offset())
                            .as(as)
                            .isBetween(proven - 40L, (long) proven);
                }
                disk.put("a.gz", join(members));
                assertThat(run("a.gz")).as(as).isTrue();
            }
            hasAll(8_000);
        }
    }

    @Test
    void aMendedFileIsTheSameFileThoughTheDamageWasNearItsBeginning() {
        byte[] head = gzip(lines(0, 3));
        byte[] rest = gzip("3,name\n4,name\n".getBytes(StandardCharsets.UTF_8));
        byte[] bad = rest.clone();
        bad[bad.length - 6] ^= 1;
        disk.put("a.gz", join(head, bad, new byte[100]));
        assertThatThrownBy(() -> run("a.gz")).isInstanceOf(CorruptionException.class);
        assertThat(memory.ids).containsExactly(0L, 1L, 2L);
        disk.put("a.gz", join(head, rest)); // shorter than the damaged one
        assertThat(run("a.gz")).isTrue();
        assertThat(memory.ids).containsExactly(0L, 1L, 2L, 3L, 4L);
        disk.put("a.gz", join(gzip(lines(0, 4)), rest));
        assertThatThrownBy(() -> run("a.gz")).hasMessageContaining("it begins otherwise");
    }

    @Test
    void aFileOfWhichNoRecordWasTakenMayBeReplaced() {
        json = true;
        byte[] good = gzip("{\"id\":0,\"name\":\"a\"}\n".getBytes(StandardCharsets.UTF_8));
        byte[] bad = good.clone();
        bad[0] ^= 1; // no gzip any more, by its name neither
        disk.put("a.json", join(bad, new byte[1_000]));
        disk.touch("a.json", 0);
        assertThat(run("a.json")).isTrue();
        assertThat(memory.ids).isEmpty();
        assertThat(memory.rejected).isPositive();
        disk.put("a.json", good);
        assertThat(run("a.json")).isTrue();
        assertThat(memory.ids).containsExactly(0L);
        assertThat(memory.require("a.json").records()).isEqualTo(1);
        disk.put("a.json", bad);
        assertThatThrownBy(() -> run("a.json")).hasMessageContaining("it begins otherwise");
    }

    @Test
    void sizesOfAFileAndOfItsContentAreNotMixed() {
        byte[] content = lines(0, 20_000); // more than is looked at to know a file again
        byte[] first = gzip(content);
        byte[] second = gzip("20000,name\n".getBytes(StandardCharsets.UTF_8));
        byte[] bad = second.clone();
        bad[bad.length - 6] ^= 1;
        disk.put("a.gz", join(first, second, bad));
        assertThatThrownBy(() -> run("a.gz")).isInstanceOf(CorruptionException.class);
        FilePosition position = memory.require("a.gz");
        disk.put("a.gz", gzip("id,name\n".getBytes(StandardCharsets.UTF_8)));
        assertThatThrownBy(() -> run("a.gz"))
                .hasMessageContaining("it has only %d bytes of the %d that were read"
                        .formatted(
                                gzip("id,name\n".getBytes(StandardCharsets.UTF_8)).length,
                                first.length + second.length));
        byte[] filler = gzip(new byte[0]);
        disk.put("a.gz", join(first, filler, filler, filler, filler));
        assertThatThrownBy(() -> run("a.gz"))
                .hasMessageContaining("uncompressed it has only %d bytes of the %d that were read"
                        .formatted(content.length, position.offset()));
    }

    @Test
    void aCheckOfAMemberThatIsStoppedDeliversNothingAndIsDoneAgain() {
        disk.put("a.gz", gzip(lines(0, 100_000)));
        int[] asked = {0};
        assertThat(run("a.gz", () -> ++asked[0] > 3)).isFalse();
        assertThat(asked[0]).isLessThan(10);
        assertThat(memory.ids).isEmpty();
        assertThat(run("a.gz")).isTrue();
        hasAll(100_000);
        // passing over what is delivered may take as long
        disk.put("a.gz", join(gzip(lines(0, 100_000)), gzip(new byte[] {'x', '\n'})));
        asked[0] = 0;
        assertThat(run("a.gz", () -> ++asked[0] > 3)).isFalse();
        assertThat(asked[0]).isLessThan(10);
    }

    @Test
    void aLaterMemberWithoutItsHeaderEndsTheFeedThereAndNotSilently() {
        byte[] one = gzip(lines(0, 100));
        disk.put("a.gz", join(one, Arrays.copyOf(one, 5)));
        assertThatThrownBy(() -> run("a.gz")).isInstanceOf(CorruptionException.class);
        hasAll(100);
        assertThat(memory.require("a.gz").ended()).isFalse();
    }

    @Test
    void aHeaderThatDoesNotFitEndsTheRunWithTheFilesName() {
        disk.put("a.csv", "id,nome\n1,x\n".getBytes(StandardCharsets.UTF_8));
        assertThatThrownBy(() -> run("a.csv"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContainingAll("a.csv", "required field 'name'", "id, nome");
        assertThat(memory.positions).isEmpty();
    }

    @Test
    void aBrokenQuoteCostsOneLine() {
        disk.put(
                "a.csv",
                "id,name\n0,a\n1,\"b\n2,c\n3,\"d\"e\n4,f\n".getBytes(StandardCharsets.UTF_8));
        assertThat(run("a.csv")).isTrue();
        assertThat(memory.ids).containsExactly(0L, 2L, 4L);
        assertThat(memory.letters.toString().lines()).hasSize(2);
    }
}
