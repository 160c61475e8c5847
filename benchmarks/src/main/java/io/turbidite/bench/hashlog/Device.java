package io.turbidite.bench.hashlog;

import io.turbidite.bench.engine.Scratch;
import io.turbidite.bench.report.Report;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.hashlog.HashLog;
import io.turbidite.hashlog.HashLogOptions;
import io.turbidite.hashlog.LogCursor;
import io.turbidite.hashlog.LogQuery;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Ingestion to files beside what the device takes (FISH19 Fig. 12), and recovery (Fig. 20). */
final class Device {
    private static final int PIECE_BYTES = 4 << 20;
    private static final int PIECES_A_SYNC = 8;

    /** What is written: large enough that the start doesn't count. */
    private static final long FILE_BYTES = 512 << 20;

    private static final String CACHED = "page cache";
    private static final String DIRECT = "direct";
    private static final String SEQUENTIAL = "the device, sequential writes";
    private static final List<String> INGESTION =
            List.of("github, one thread", "github, two threads");

    private final HashLogSuite suite;
    private final int rounds;
    private final Path scratch;

    Device(HashLogSuite suite, int rounds, Path scratch) {
        this.suite = suite;
        this.rounds = rounds;
        this.scratch = scratch;
    }

    Report toFiles() {
        Report report = suite.report(
                        "Ingestion to files, GB per second of the clock", List.of(CACHED, DIRECT))
                .setting(
                        "device",
                        "as many bytes written in sequence through a file channel in pieces of 4 MiB, synced each 32"
                                + " MiB, in the same run, before and after in turn")
                .setting(DIRECT, "past the page cache, the log and the device's row alike")
                .setting("paper", "Fig. 12: FishStore saturates its SSD with less than 8 threads");
        Corpus corpus = suite.corpus(Workload.GITHUB);
        int passes = (int) Math.max(1, FILE_BYTES / corpus.bytes().byteSize());
        for (int round = -1; round < rounds; round++) {
            for (boolean direct : new boolean[] {false, true}) {
                toFiles(round, direct, passes, report);
            }
        }
        share("github to files, share of the device", report, CACHED);
        share("github to files past the page cache, share of the device", report, DIRECT);
        return report;
    }

    private void toFiles(int round, boolean direct, int passes, Report report) {
        Corpus corpus = suite.corpus(Workload.GITHUB);
        String column = direct ? DIRECT : CACHED;
        Path directory = Scratch.empty(scratch.resolve("hashlog-device"));
        double device = deviceSpeed(directory, corpus.bytes().byteSize() * passes, direct);
        if (round >= 0) {
            report.add(SEQUENTIAL, column, device);
        }
        for (int threads = 1; threads <= INGESTION.size(); threads++) {
            Bed.Cost cost;
            try (Bed bed = Bed.toFiles(directory, 128 << 20, Workload.GITHUB.definitions, direct)) {
                cost = bed.ingest(corpus, threads, passes);
            }
            if (round >= 0) {
                report.add(INGESTION.get(threads - 1), column, cost.gigabytesPerSecond());
            }
            Scratch.empty(directory);
        }
        Scratch.delete(directory);
    }

    private void share(String what, Report report, String column) {
        double most = INGESTION.stream()
                .mapToDouble(work -> report.figure(work, column))
                .max()
                .orElse(Double.NaN);
        suite.aims().atLeast(what, 0.8, most / report.figure(SEQUENTIAL, column));
    }

    private static double deviceSpeed(Path directory, long bytes, boolean direct) {
        RealDisk disk = RealDisk.open(directory);
        long start = Clock.system().monotonicNanos();
        try (Arena arena = Arena.ofConfined();
                DiskFile file = create(disk, direct)) {
            MemorySegment piece = arena.allocate(PIECE_BYTES, 4_096);
            piece.fill((byte) 'x');
            for (long at = 0; at < bytes; at += PIECE_BYTES) {
                file.write(at, piece, 0, PIECE_BYTES);
                if (at / PIECE_BYTES % PIECES_A_SYNC == PIECES_A_SYNC - 1) {
                    file.sync();
                }
            }
            file.sync();
        }
        double nanos = Clock.system().monotonicNanos() - start;
        disk.delete("sequential");
        return bytes / nanos;
    }

    private static DiskFile create(RealDisk disk, boolean direct) {
        DiskFile file = direct ? disk.createDirect("sequential") : null;
        return file == null ? disk.create("sequential") : file;
    }

    /**
     * Figure 20. Logs that were not closed are opened: copies of the directory, taken when
     * everything was durable.
     */
    List<Report> recovery(int megabytesMax) {
        Report suffixes = suite.report("Recovery by length of the suffix, seconds", List.of("wall"))
                .setting("suffix", "no index checkpoint: all of the log is replayed into the table")
                .setting("cache", "files in the page cache of the operating system")
                .setting("PSFs", "Table 1's of yelp")
                .setting("paper", "Fig. 20 (a): recovery takes as long as the suffix is long");
        Report tables = suite.report("Index checkpoint by size of the table", List.of("MiB", "ms"))
                .setting("log", "yelp, " + megabytesMax / 4 + " MiB")
                .setting("paper", "Fig. 20 (b): as long as the table is large");
        Corpus corpus = suite.corpus(Workload.YELP);
        double corpusMegabytes = corpus.bytes().byteSize() / (double) (1 << 20);
        Path directory = Scratch.empty(scratch.resolve("hashlog-recovery"));
        Path crashed = Scratch.empty(scratch.resolve("hashlog-crashed"));
        try (Bed bed = Bed.onDisk(directory, 64 << 20, Workload.YELP.definitions)) {
            int passes = 0;
            for (int share = 4; share >= 1; share /= 2) {
                int wanted = (int) Math.max(1, Math.ceil(megabytesMax / (share * corpusMegabytes)));
                bed.ingest(corpus, 2, Math.max(1, wanted - passes));
                passes += Math.max(1, wanted - passes);
                long bytes = bed.log.log().durable() - bed.log.log().begin();
                for (int round = 0; round < rounds; round++) {
                    copy(directory.resolve("log"), Scratch.empty(crashed).resolve("log"));
                    double seconds = open(crashed, bed.log.options(), corpus.count() * passes);
                    suffixes.add("%,d MiB".formatted(bytes >> 20), "wall", seconds);
                }
            }
        }
        for (String work : suffixes.works()) {
            suite.aims()
                    .atMost(
                            "recovery of a suffix of " + work + ", seconds",
                            10,
                            suffixes.figure(work, "wall"));
        }
        for (int bits : new int[] {14, 16, 18, 20}) {
            checkpoint(Scratch.empty(directory), bits, megabytesMax / 4, tables);
        }
        Scratch.delete(directory);
        Scratch.delete(crashed);
        return List.of(suffixes, tables);
    }

    private void checkpoint(Path directory, int tableBits, int megabytes, Report tables) {
        Corpus corpus = suite.corpus(Workload.YELP);
        int passes = (int) Math.max(1, ((long) megabytes << 20) / corpus.bytes().byteSize());
        try (Bed bed = Bed.onDisk(directory, 64 << 20, Workload.YELP.definitions, tableBits)) {
            bed.ingest(corpus, 2, passes);
            String name = "%,d buckets at first, %,d now"
                    .formatted(1 << tableBits, bed.log.bucketCount());
            for (int round = -1; round < rounds; round++) {
                long start = Clock.system().monotonicNanos();
                if (bed.log.checkpoint() < 0) {
                    throw new IllegalStateException("no checkpoint was made");
                }
                double millis = (Clock.system().monotonicNanos() - start) / 1e6;
                if (round >= 0) {
                    tables.add(name, "ms", millis);
                    tables.add(name, "MiB", bed.log.bucketCount() * 64.0 / (1 << 20));
                }
            }
        }
    }

    private static double open(Path directory, HashLogOptions options, long expected) {
        try (ThreadTasks tasks = ThreadTasks.create("recovery")) {
            long start = Clock.system().monotonicNanos();
            try (HashLog log = HashLog.open(Bed.site(directory, tasks), options)) {
                double seconds = (Clock.system().monotonicNanos() - start) / 1e9;
                long found = 0;
                for (int stars = 1; stars <= 5; stars++) {
                    LogQuery query = LogQuery.property("field(stars)", Integer.toString(stars));
                    try (LogCursor cursor = log.find(query)) {
                        while (cursor.next()) {
                            found++;
                        }
                    }
                }
                if (found != expected) {
                    throw new IllegalStateException("%d of %d records".formatted(found, expected));
                }
                return seconds;
            }
        }
    }

    private static void copy(Path from, Path to) {
        try (Stream<Path> files = Files.list(from)) {
            Files.createDirectories(to);
            for (Path file : files.toList()) {
                if (Files.isRegularFile(file) && !file.endsWith("LOCK")) {
                    Files.copy(file, to.resolve(file.getFileName()));
                }
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
