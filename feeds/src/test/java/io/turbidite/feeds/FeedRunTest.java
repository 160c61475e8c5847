package io.turbidite.feeds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
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
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import java.util.zip.GZIPOutputStream;

/** The loop over files and positions, against a delivery in memory that dies when it is told to. */
class FeedRunTest {
    private static final RecordType TYPE =
            RecordType.builder().field("id", "int64").field("name", "string").build();

    private final SimDisk disk = new SimDisk(1, Profile.STRICT);
    private final Memory memory = new Memory();

    /** Keeps what was delivered over runs; {@code killIn} batches from now it dies. */
    private static final class Memory implements Delivery {
        private final List<Long> ids = new ArrayList<>();
        private final StringBuilder letters = new StringBuilder();
        private final Map<String, FilePosition> positions = new HashMap<>();
        private int killIn = Integer.MAX_VALUE;
        private boolean killAfterCommit;
        private long rejected;

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
            }
            letters.append(batch.letters(slice).toUtf8());
            rejected += batch.rejectedCount();
            positions.put(
                    batch.file().name(),
                    new FilePosition(
                            batch.endOffset(),
                            batch.endLine(),
                            batch.fileEnded(),
                            batch.file().byteCount(),
                            batch.head(),
                            0,
                            0));
            if (killIn <= 0) {
                throw new IllegalStateException("killed");
            }
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
        SimClock clock = new SimClock();
        try (SimTasks tasks = new SimTasks(5, clock)) {
            CsvRecordParser parser =
                    new CsvRecordParser(TYPE, new CsvFormat(',', true, List.of()), true, List.of());
            FeedRun run = new FeedRun(
                    new FeedRun.Parts(
                            "f", FileSource.open(disk, path), parser, ',', memory, tasks, clock),
                    FeedProgress.none(),
                    stopped);
            return run.run();
        } finally {
            assertThat(disk.openHandleCount()).isZero();
        }
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
                .isEqualTo(
                        "{\"source\":\"a.csv\",\"line\":6,\"offset\":36,\"reason\":\"field 'id': "
                                + "'bad3' is not of type int64; expected an integer\",\"raw\":\"bad3,x\"}");
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
            memory.ids.clear();
            memory.letters.setLength(0);
            memory.positions.clear();
            memory.rejected = 0;
            byte[] bytes = lines(0, 6_000);
            disk.put("a.csv", random.nextBoolean() ? bytes : gzip(bytes));
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

    @Test
    void anotherFileUnderTheNameIsRefused() {
        disk.put("a.csv", lines(0, 1_000));
        assertThat(run("a.csv")).isTrue();
        disk.put("a.csv", lines(0, 500));
        assertThatThrownBy(() -> run("a.csv"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContainingAll("a.csv", "feed f", "bytes where it had");
        disk.put("a.csv", lines(7, 2_000));
        assertThatThrownBy(() -> run("a.csv")).hasMessageContaining("it begins otherwise");
    }

    @Test
    void damageInTheMiddleKeepsWhatIsBeforeIt() {
        byte[] good = gzip(lines(0, 60_000));
        byte[] cut = Arrays.copyOf(good, good.length / 2);
        disk.put("a.gz", cut);
        assertThatThrownBy(() -> run("a.gz")).isInstanceOf(CorruptionException.class);
        assertThat(memory.ids).hasSizeGreaterThan(10_000).isSorted();
        disk.put("a.gz", good);
        assertThat(run("a.gz")).isTrue();
        hasAll(60_000);
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
