package io.turbidite.feeds;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.type.RecordType;
import io.turbidite.feeds.avro.AvroRecordParser;
import io.turbidite.feeds.flow.Batch;
import io.turbidite.feeds.parse.CsvFormat;
import io.turbidite.feeds.parse.CsvRecordParser;
import io.turbidite.feeds.parse.JsonRecordParser;
import io.turbidite.feeds.parse.RecordFrame;
import io.turbidite.feeds.parse.RecordFramer;
import io.turbidite.feeds.parse.RecordParser;
import io.turbidite.feeds.source.PartitionState;
import io.turbidite.feeds.source.file.FilePosition;
import io.turbidite.feeds.source.file.FileSource;
import io.turbidite.feeds.store.Delivery;

import org.jspecify.annotations.Nullable;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.zip.GZIPOutputStream;

/** A run over files of a simulated disk, into a delivery in memory that dies when it is told to. */
final class SimulatedFeed {
    private static final RecordType TYPE =
            RecordType.builder().field("id", "int64").field("name", "string").build();

    static final long SECOND = 1_000_000_000;

    final SimDisk disk = new SimDisk(1, Profile.STRICT);
    final Memory memory = new Memory();
    final SimClock clock = new SimClock();
    final StoreEvents events = new StoreEvents();
    boolean json;

    /** Object files. */
    boolean avro;

    /** The parser fails as a disk does at that record of the next run; 0: at none. */
    int failAt;

    private @Nullable Runnable meanwhile;

    @SuppressWarnings("NullAway.Init")
    FeedRun run;

    /** Keeps what was delivered over runs; {@code killIn} batches from now it dies. */
    static final class Memory implements Delivery {
        final List<Long> ids = new ArrayList<>();
        final List<String> names = new ArrayList<>();
        final StringBuilder letters = new StringBuilder();
        final Map<String, PartitionState> positions = new HashMap<>();
        int killIn = Integer.MAX_VALUE;
        boolean killAfterCommit;
        long rejected;
        long dropped;
        boolean replacing = true;

        /** What happens when it dies. */
        Runnable whenKilled = () -> {};

        FilePosition require(String file) {
            PartitionState taken = Objects.requireNonNull(positions.get(file));
            return Objects.requireNonNull(FilePosition.of(taken.position()));
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
        public @Nullable PartitionState taken(String partition) {
            return positions.get(partition);
        }

        @Override
        public Map<String, PartitionState> taken() {
            return positions;
        }

        @Override
        public void whenDurable(DurableListener listener) {
            // nobody waits for it
        }

        @Override
        public Lane newLane() {
            return this::deliver;
        }

        private Delivered deliver(Batch batch) {
            killIn--;
            if (killIn <= 0 && !killAfterCommit) {
                throw killed();
            }
            RecordView view = new RecordView(TYPE);
            Slice slice = new Slice();
            for (int i = 0; i < batch.recordCount(); i++) {
                ids.add(view.wrap(batch.record(i, slice)).getLong(0));
                names.add(view.getBytes(1).toUtf8());
            }
            letters.append(batch.letters(slice).toUtf8());
            rejected += batch.rejectedCount();
            dropped += batch.droppedCount();
            String name = batch.partition();
            PartitionState before = positions.get(name);
            assertThat(batch.follows()).isEqualTo(before == null ? null : before.position());
            positions.put(name, batch.stateBehind(before, batch.recordCount(), 0));
            if (killIn <= 0) {
                throw killed();
            }
            return new Delivered(batch.recordCount(), 0);
        }

        private IllegalStateException killed() {
            whenKilled.run();
            return new IllegalStateException("killed");
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

    /** A look-up that meets a bad sector, say. */
    private static final class FailingParser implements RecordParser {
        private final RecordParser parser;
        private int left;

        FailingParser(RecordParser parser, int failAt) {
            this.parser = parser;
            this.left = failAt;
        }

        @Override
        public Slice parse(RecordFrame frame) {
            if (--left == 0) {
                throw new StorageIoException(
                        StorageIoException.Kind.IO, "read", "x", "bad sector", null);
            }
            return parser.parse(frame);
        }

        @Override
        public RecordFramer.Quotes quotes() {
            return parser.quotes();
        }

        @Override
        public boolean wantsHeader() {
            return parser.wantsHeader();
        }

        @Override
        public void header(RecordFrame frame) {
            parser.header(frame);
        }
    }

    boolean run(String path, BooleanSupplier stopped) {
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
            RecordParser parser = json || avro
                    ? new JsonRecordParser(TYPE, true, List.of())
                    : new CsvRecordParser(
                            TYPE, new CsvFormat(',', true, List.of()), true, List.of());
            if (avro) {
                parser = AvroRecordParser.ofFiles(parser);
            }
            run = new FeedRun(
                    new FeedRun.Parts(
                            "f",
                            FileSource.open(disk, path),
                            failAt == 0 ? parser : new FailingParser(parser, failAt),
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
    void whileWaiting(Runnable what) {
        meanwhile = what;
    }

    boolean run(String path) {
        return run(path, () -> false);
    }

    static byte[] lines(long from, long to) {
        StringBuilder text = new StringBuilder("id,name\n");
        for (long i = from; i < to; i++) {
            text.append(i).append(i % 97 == 5 ? ",\"two\nlines\"\n" : ",name\n");
            if (i % 101 == 3) {
                text.append("bad").append(i).append(",x\n");
            }
        }
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    static byte[] gzip(byte[] bytes) {
        ByteArrayOutputStream compressed = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(compressed)) {
            gzip.write(bytes);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return compressed.toByteArray();
    }

    void hasAll(long count) {
        assertThat(memory.ids).hasSize((int) count);
        for (int i = 0; i < count; i++) {
            assertThat(memory.ids.get(i)).isEqualTo(i);
        }
        long bad = count > 3 ? (count - 4) / 101 + 1 : 0;
        assertThat(memory.letters.toString().lines().count()).isEqualTo(bad);
        assertThat(memory.letters.toString().lines().distinct().count()).isEqualTo(bad);
    }

    /** A file that was written just now. */
    void putYoung(String name, String text) {
        putYoung(name, text.getBytes(StandardCharsets.UTF_8));
    }

    void putYoung(String name, byte[] content) {
        disk.put(name, content);
        disk.touch(name, clock.wallMicros());
    }

    static byte[] join(byte[]... parts) {
        ByteArrayOutputStream joined = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            joined.writeBytes(part);
        }
        return joined.toByteArray();
    }

    /** Members of gzip that are one file of lines; most of them end within a line. */
    static List<byte[]> members(byte[] content, int count) {
        List<byte[]> members = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int from = (int) ((long) content.length * i / count);
            int to = (int) ((long) content.length * (i + 1) / count);
            members.add(gzip(Arrays.copyOfRange(content, from, to)));
        }
        return members;
    }

    static byte[] join(List<byte[]> parts) {
        return join(parts.toArray(new byte[0][]));
    }
}
