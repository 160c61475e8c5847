package io.turbidite.hashlog.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.FormatVersionException;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.Tier;
import io.turbidite.hashlog.IngestSession;
import io.turbidite.hashlog.LogBench;
import io.turbidite.hashlog.LogCursor;
import io.turbidite.hashlog.LogQuery;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Pages that hold anything: a log opened over damaged files, and a reader of damaged pages whose
 * checksums are right, answer with records that were written or with a typed error; they never
 * hang, never read past a page, and never take memory for what a damaged length says.
 */
class PageFuzzTest {
    private static final long SEED = Seeds.of("PageFuzzTest");
    private static final int ROUND_COUNT = Tier.count(50, 400, 20_000);
    private static final String SEGMENT = "log/00000000.pages";

    private static SimDisk written(boolean closed) {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        SimDisk copy = null;
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options())) {
            bench.register("id");
            bench.register("text");
            try (IngestSession session = bench.log.openSession("s")) {
                for (int i = 0; i < 150; i++) {
                    MemorySegment record = LogBench.segment(text(i));
                    session.append(record, 0, (int) record.byteSize());
                }
                session.awaitDurable();
                if (!closed) {
                    copy = disk.copy();
                }
            }
        }
        return copy == null ? disk : copy;
    }

    private static String text(int i) {
        return "{\"id\":%d,\"text\":\"\\u0041%s\"}".formatted(i, "y".repeat(i * 37 % 700));
    }

    /** What the log shows by both ways, or null if it said that it is damaged. */
    private static @Nullable List<String> read(SimDisk disk, String what) {
        List<String> found = new ArrayList<>();
        try (LogBench bench = LogBench.reopened(SEED, disk, LogBench.options())) {
            try (LogCursor cursor = bench.log.find(LogQuery.all())) {
                while (cursor.next()) {
                    found.addFirst(new String(
                            cursor.segment()
                                    .asSlice(cursor.offset(), cursor.length())
                                    .toArray(Bytes.U8),
                            StandardCharsets.UTF_8));
                }
            }
            for (int i = 0; i < 150; i += 30) {
                LogQuery query = LogQuery.property("id", Integer.toString(i));
                try (LogCursor cursor = bench.log.find(query)) {
                    assertThat(cursor.next()).as(what).isEqualTo(found.contains(text(i)));
                }
            }
        } catch (CorruptionException | FormatVersionException told) {
            return null;
        }
        return found;
    }

    @Test
    void damaged_segments_are_told_or_read_as_a_prefix() {
        SplittableRandom random = new SplittableRandom(SEED);
        List<SimDisk> disks = List.of(written(true), written(false));
        List<String> all = new ArrayList<>();
        for (int i = 0; i < 150; i++) {
            all.add(text(i));
        }
        assertThat(disks)
                .allSatisfy(disk -> assertThat(read(disk.copy(), "whole")).isEqualTo(all));
        int told = 0;
        for (int round = 0; round < ROUND_COUNT; round++) {
            SimDisk damaged = disks.get(round % 2).copy();
            String what = "round %d, %s".formatted(round, Seeds.replay("PageFuzzTest", SEED));
            byte[] bytes = damaged.content(SEGMENT);
            damaged.put(SEGMENT, mutated(bytes, random));
            List<String> found = read(damaged, what);
            if (found == null) {
                told++;
            } else {
                assertThat(found).as(what).isEqualTo(all.subList(0, found.size()));
            }
        }
        assertThat(told).isGreaterThan(ROUND_COUNT / 3);
    }

    private static byte[] mutated(byte[] bytes, SplittableRandom random) {
        int at = random.nextInt(bytes.length);
        int length = Math.min(bytes.length - at, 1 + random.nextInt(1 << random.nextInt(14)));
        switch (random.nextInt(6)) {
            case 0 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
            case 1 -> Arrays.fill(bytes, at, at + length, (byte) random.nextInt());
            case 2 -> {
                for (int i = at; i < at + length; i++) {
                    bytes[i] = (byte) random.nextInt();
                }
            }
            case 3 -> {
                // a piece of the file in a place that is not its own: checksums of blocks fit
                int from = random.nextInt(bytes.length) & -LogShape.BLOCK_BYTES;
                int to = random.nextInt(bytes.length) & -LogShape.BLOCK_BYTES;
                int most = Math.min(bytes.length - from, bytes.length - to);
                System.arraycopy(bytes, from, bytes, to, Math.min(most, LogShape.BLOCK_BYTES));
            }
            case 4 -> {
                return Arrays.copyOf(bytes, at);
            }
            default -> {
                // lengths that are larger than anything
                int word = at & -8;
                Arrays.fill(bytes, word, Math.min(bytes.length, word + 8), (byte) 0xFF);
            }
        }
        return bytes;
    }

    /**
     * Words of record headers and key pointers become anything while the block's checksum is right:
     * what a bug, not a disk, would leave. Scans stop at what can't be.
     */
    @Test
    void headers_that_say_anything_stop_a_scan_with_their_address() {
        SplittableRandom random = new SplittableRandom(SEED);
        int stopped = 0;
        for (int round = 0; round < ROUND_COUNT; round++) {
            try (LogBench bench = LogBench.simulated(SEED, null, LogBench.options())) {
                bench.register("id");
                try (IngestSession session = bench.log.openSession("s")) {
                    for (int i = 0; i < 40; i++) {
                        MemorySegment record = LogBench.segment(text(i));
                        session.append(record, 0, (int) record.byteSize());
                    }
                }
                HybridLog log = bench.log.log();
                List<Long> addresses = addresses(bench);
                long victim = addresses.get(random.nextInt(addresses.size()));
                log.memory().set(RecordHeader.WORD, log.place(victim), anyHeader(random));
                try {
                    assertThat(addresses(bench).size()).isLessThan(20_000);
                } catch (CorruptionException told) {
                    stopped++;
                }
                walk(bench);
            }
        }
        assertThat(stopped).isGreaterThan(ROUND_COUNT / 3);
    }

    /**
     * Words within records become anything while every checksum is right, and the log is opened
     * over them: replay hashes what key pointers lead to, and says which record it is if they lead
     * out of it.
     */
    @Test
    void key_pointers_that_say_anything_are_told_at_opening() {
        SplittableRandom random = new SplittableRandom(SEED);
        int told = 0;
        for (int round = 0; round < ROUND_COUNT; round++) {
            SimDisk disk = new SimDisk(SEED, Profile.STRICT);
            SimDisk forged;
            try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options())) {
                bench.register("id");
                bench.register("text");
                try (IngestSession session = bench.log.openSession("s")) {
                    for (int i = 0; i < 12; i++) {
                        MemorySegment record = LogBench.segment(text(i));
                        session.append(record, 0, (int) record.byteSize());
                    }
                    HybridLog log = bench.log.log();
                    List<Long> addresses = addresses(bench);
                    long victim = log.place(addresses.get(random.nextInt(addresses.size())));
                    long at = victim + RecordHeader.BYTES * (long) (1 + random.nextInt(3));
                    long word = log.memory().get(RecordHeader.WORD, at);
                    log.memory().set(RecordHeader.WORD, at, anyWord(random, word));
                    session.awaitDurable();
                    forged = disk.copy();
                }
            }
            told += read(forged) ? 0 : 1;
        }
        assertThat(told).isGreaterThan(ROUND_COUNT / 10);
    }

    private static long anyWord(SplittableRandom random, long word) {
        return random.nextBoolean() ? random.nextLong() : word ^ 1L << random.nextInt(Long.SIZE);
    }

    /** False if the log said that it is damaged. */
    private static boolean read(SimDisk disk) {
        try (LogBench bench = LogBench.reopened(SEED, disk, LogBench.options())) {
            walk(bench);
            return true;
        } catch (CorruptionException told) {
            return false;
        }
    }

    private static long anyHeader(SplittableRandom random) {
        return switch (random.nextInt(4)) {
            case 0 -> random.nextLong();
            case 1 -> random.nextLong() | RecordHeader.VISIBLE;
            case 2 ->
                RecordHeader.of(random.nextInt(1 << 12), random.nextInt(1 << 14), 0)
                        | RecordHeader.VISIBLE;
            default -> 0;
        };
    }

    private static List<Long> addresses(LogBench bench) {
        List<Long> addresses = new ArrayList<>();
        try (LogReader reader = bench.log.openReader("fuzz")) {
            reader.protect();
            LogScan scan = new LogScan(reader);
            scan.start(bench.log.log().begin(), Long.MAX_VALUE);
            while (scan.next()) {
                addresses.add(scan.address());
            }
        }
        return addresses;
    }

    private static void walk(LogBench bench) {
        for (int i = 0; i < 40; i += 7) {
            try (LogCursor cursor = bench.log.find(LogQuery.property("id", Integer.toString(i)))) {
                while (cursor.next()) {
                    assertThat(cursor.length()).isNotNegative();
                }
            } catch (CorruptionException told) {
                assertThat(told).hasMessageMatching("(?s).+");
            }
        }
    }
}
