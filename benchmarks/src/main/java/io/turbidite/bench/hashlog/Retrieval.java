package io.turbidite.bench.hashlog;

import com.sun.management.ThreadMXBean;

import io.turbidite.bench.engine.Scratch;
import io.turbidite.bench.report.Report;
import io.turbidite.core.task.Tasks;
import io.turbidite.hashlog.LogCursor;
import io.turbidite.hashlog.LogQuery;
import io.turbidite.hashlog.chain.ChainWalk;
import io.turbidite.hashlog.chain.Property;
import io.turbidite.hashlog.chain.ReadAhead;
import io.turbidite.hashlog.log.LogReader;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;

/** Finding subsets (FISH19 §8.4): in memory, on disk by selectivity, beside ingestion. */
final class Retrieval {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int WARM_UP_ROUNDS = 6;

    /**
     * Hits until a walk is compiled: a subset that is small needs more rounds than one that is
     * large.
     */
    private static final int WARM_UP_HITS = 400_000;

    /** A walk is short, its time uneven. */
    private static final int WALKS_A_ROUND = 3;

    /** Of a query that is asked again. */
    private static final int REPEATS = 5;

    private static final String TYPE = "field(type)";
    private static final String AGAIN = "asked again";
    private static final String BEHIND_SCAN = "behind a scan";

    private final HashLogSuite suite;
    private final int rounds;
    private final Path scratch;

    Retrieval(HashLogSuite suite, int rounds, Path scratch) {
        this.suite = suite;
        this.rounds = rounds;
        this.scratch = scratch;
    }

    /** A subset, and how many records it must have. */
    private record Subset(Workload workload, String psf, String value, String counted) {}

    List<Report> inMemory() {
        Report hits = suite.report(
                        "Index scan in memory, million hits per CPU second",
                        List.of(AGAIN, BEHIND_SCAN))
                .setting(AGAIN, "the same query over and over, as C++ FishStore was measured")
                .setting(
                        BEHIND_SCAN,
                        "each time behind a full scan of the log, which has taken the nearer caches: each hop"
                                + " waits for memory")
                .setting("C++ FishStore here", "5 M/s");
        Report scans = suite.report(
                        "Full scan in memory that parses and evaluates, GB of log per CPU second",
                        List.of("scan"))
                .setting("C++ FishStore here", "1.0, with an on-demand parser 3.5 GB/s");
        List<Subset> subsets = List.of(
                new Subset(Workload.GITHUB, TYPE, "PushEvent", "type==PushEvent"),
                new Subset(
                        Workload.YELP,
                        Workload.YELP.definitions.get(4),
                        "true",
                        "stars>3&&useful>5"),
                new Subset(
                        Workload.TWITTER,
                        Workload.TWITTER.definitions.get(5),
                        "true",
                        "ja_popular"));
        for (Subset subset : subsets) {
            Corpus corpus = suite.corpus(subset.workload);
            String name = subset.workload.kind + ", " + subset.counted;
            int passes = 3;
            try (Bed bed = Bed.inMemory(
                    Long.highestOneBit(4L * passes * corpus.bytes().byteSize()),
                    subset.workload.definitions)) {
                bed.ingest(corpus, 1, passes);
                long expected = corpus.matchesOf(subset.counted) * passes;
                LogQuery query = LogQuery.property(subset.psf, subset.value);
                double logBytes = bed.log.log().safeTail() - bed.log.log().begin();
                for (long warm = 0; warm < WARM_UP_HITS; warm += expected) {
                    cpuNanos(bed, query, expected);
                }
                for (int round = -WARM_UP_ROUNDS; round < rounds * WALKS_A_ROUND; round++) {
                    double scan = cpuNanos(bed, query.byScan(), expected);
                    double behind = cpuNanos(bed, query, expected);
                    double again = 0;
                    for (int i = 0; i < REPEATS; i++) {
                        again += cpuNanos(bed, query, expected) / (double) REPEATS;
                    }
                    if (round >= 0) {
                        hits.add(name, BEHIND_SCAN, expected * 1e3 / behind);
                        hits.add(name, AGAIN, expected * 1e3 / again);
                        scans.add(name, "scan", logBytes / scan);
                    }
                }
                suite.aims().atLeast(name + ", index scan, M hits/s", 5, hits.figure(name, AGAIN));
                suite.aims().atLeast(name + ", full scan, GB/s", 1.5, scans.figure(name, "scan"));
            }
        }
        return List.of(hits, scans);
    }

    private static long cpuNanos(Bed bed, LogQuery query, long expected) {
        long before = THREADS.getCurrentThreadCpuTime();
        long found = 0;
        try (LogCursor cursor = bed.log.find(query)) {
            while (cursor.next()) {
                found++;
            }
        }
        long nanos = THREADS.getCurrentThreadCpuTime() - before;
        check(query, found, expected);
        return nanos;
    }

    private static void check(Object query, long found, long expected) {
        if (found != expected) {
            throw new IllegalStateException("%s: %d, not %d".formatted(query, found, expected));
        }
    }

    /** Figure 16 (a), (b): most of the log on disk. */
    Report bySelectivity() {
        List<Double> shares = List.of(0.0001, 0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.9);
        Report report = suite.report(
                        "Subsets of a log on disk by selectivity, CPU ms",
                        List.of("read-ahead", "none", "full scan"))
                .setting("records", "600 bytes each, 256 MiB of log, 32 MiB of it in memory")
                .setting(
                        "cache",
                        "files in the page cache of the operating system: CPU, not device time")
                .setting(
                        "paper",
                        "Fig. 16: without read-ahead an index scan gets slower than a full scan, with it never")
                .setting("none", "each key pointer and record fetched alone, in blocks of 4 KiB");
        Path directory = Scratch.empty(scratch.resolve("hashlog-selectivity"));
        List<String> psfs = new ArrayList<>();
        for (double share : shares) {
            psfs.add("where(pick < %d)".formatted(Math.round(share * 100_000)));
        }
        try (Bed bed = Bed.onDisk(directory, 32 << 20, psfs)) {
            Corpus corpus = Picks.corpus(256);
            bed.ingest(corpus, 1, 1);
            for (int i = 0; i < shares.size(); i++) {
                String name = String.format(Locale.ROOT, "%.2f %%", shares.get(i) * 100);
                long expected = corpus.matchesOf(psfs.get(i));
                LogQuery query = LogQuery.property(psfs.get(i), "true");
                for (int round = -1; round < rounds; round++) {
                    double index = cpuNanos(bed, query, expected);
                    double none = withoutReadAhead(bed, i, expected);
                    double scan = cpuNanos(bed, query.byScan(), expected);
                    if (round >= 0) {
                        report.add(name, "read-ahead", index / 1e6);
                        report.add(name, "none", none / 1e6);
                        report.add(name, "full scan", scan / 1e6);
                    }
                }
            }
        }
        Scratch.delete(directory);
        double most = report.works().stream()
                .mapToDouble(work ->
                        report.figure(work, "read-ahead") / report.figure(work, "full scan"))
                .max()
                .orElse(Double.NaN);
        suite.aims().atMost("index scan on disk / full scan, at any selectivity", 1.1, most);
        return report;
    }

    private static long withoutReadAhead(Bed bed, int psf, long expected) {
        ReadAhead none = new ReadAhead() {
            @Override
            public void before(LogReader reader, long keyPointer) {
                // the walk's own seek fetches it
            }

            @Override
            public void visited(int recordBytes) {
                // nothing is learnt
            }
        };
        long before = THREADS.getCurrentThreadCpuTime();
        long found = 0;
        try (LogReader reader = bed.log.openReader("no read-ahead")) {
            reader.protect();
            ChainWalk walk = bed.log.walk(reader, Property.ofInteger(psf, 1), none);
            walk.start(0);
            while (walk.next()) {
                found++;
            }
        }
        long nanos = THREADS.getCurrentThreadCpuTime() - before;
        check("PSF " + psf, found, expected);
        return nanos;
    }

    /** Figure 16 (d): lookups by one thread while another ingests. */
    Report besideIngestion() {
        Report report = suite.report(
                        "Ingestion beside lookups, GB per CPU second",
                        List.of("alone", "with lookups"))
                .setting(
                        "lookups",
                        "the newest 10 records of one actor, again and again, by a second thread")
                .setting("paper", "Fig. 16 (d): short lookups disturb ingestion little");
        Corpus corpus = suite.corpus(Workload.GITHUB);
        AtomicLong lookups = new AtomicLong();
        AtomicLong cpu = new AtomicLong();
        for (int round = -2; round < rounds; round++) {
            for (boolean beside : new boolean[] {false, true}) {
                try (Bed bed = Bed.inMemory(HashLogSuite.RING_BYTES, Workload.GITHUB.definitions)) {
                    boolean counts = round >= 0;
                    Tasks.Worker looking = beside
                            ? bed.tasks.start(
                                    "lookups", 1_000, () -> look(bed, counts, lookups, cpu))
                            : null;
                    Bed.Cost cost = bed.ingest(corpus, 1, 4);
                    if (looking != null) {
                        looking.close();
                    }
                    if (round >= 0) {
                        report.add(
                                "github",
                                beside ? "with lookups" : "alone",
                                cost.gigabytesPerCpuSecond());
                    }
                }
            }
        }
        return report.setting(
                "lookups a CPU second", "%,.0f".formatted(lookups.get() * 1e9 / cpu.get()));
    }

    private static boolean look(Bed bed, boolean counts, AtomicLong lookups, AtomicLong cpu) {
        long before = THREADS.getCurrentThreadCpuTime();
        for (int i = 0; i < 100; i++) {
            String actor = Integer.toString(1_000 + i);
            try (LogCursor cursor =
                    bed.log.find(LogQuery.property("field(actor.id)", actor).limit(10))) {
                while (cursor.next()) {
                    if (cursor.length() <= 0) {
                        throw new IllegalStateException("an empty record");
                    }
                }
            }
        }
        if (counts) {
            lookups.addAndGet(100);
            cpu.addAndGet(THREADS.getCurrentThreadCpuTime() - before);
        }
        return true;
    }
}
