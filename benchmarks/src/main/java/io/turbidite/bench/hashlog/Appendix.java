package io.turbidite.bench.hashlog;

import com.sun.management.ThreadMXBean;

import io.turbidite.bench.report.Report;
import io.turbidite.hashlog.LogCursor;
import io.turbidite.hashlog.LogQuery;
import io.turbidite.hashlog.parse.ParserSpec;
import io.turbidite.hashlog.psf.Properties;
import io.turbidite.hashlog.psf.PropertyExtractor;
import io.turbidite.hashlog.psf.PsfDefinition;

import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Where the time goes (FISH19 Fig. 13), and the experiments of its appendix G (Fig. 17, 18, 19).
 */
final class Appendix {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int WARM_UP_ROUNDS = 3;
    private static final int[] PERCENTILES = {10, 50, 90, 99, 100};

    private final HashLogSuite suite;
    private final int rounds;

    Appendix(HashLogSuite suite, int rounds) {
        this.suite = suite;
        this.rounds = rounds;
    }

    /** Figure 13: what of ingestion is copying, what parsing and evaluation; links are the rest. */
    Report breakdown() {
        Report report = suite.report(
                        "Ingestion in memory: CPU ns per record",
                        List.of("all", "parse and evaluate", "copy"))
                .setting("copy", "the same ingestion without a PSF, which parses nothing")
                .setting("parse and evaluate", "Table 1's PSFs over the records, alone")
                .setting("paper", "Fig. 13: parsing is the most of it, but for small records");
        for (Workload workload : HashLogSuite.WORKLOADS) {
            Corpus corpus = suite.corpus(workload);
            long[] lines = corpus.lineStarts();
            String name = workload.name().toLowerCase(Locale.ROOT);
            for (int round = -WARM_UP_ROUNDS; round < rounds; round++) {
                double all = ingestNanos(corpus, workload.definitions);
                double copy = ingestNanos(corpus, List.of());
                double parse = parseNanos(corpus, lines) / (double) corpus.count();
                if (round >= 0) {
                    report.add(name, "all", all);
                    report.add(name, "parse and evaluate", parse);
                    report.add(name, "copy", copy);
                }
            }
        }
        return report;
    }

    private static double ingestNanos(Corpus corpus, List<String> psfs) {
        try (Bed bed = Bed.inMemory(HashLogSuite.RING_BYTES, psfs)) {
            Bed.Cost cost = bed.ingest(corpus, 1, 1);
            return (double) cost.cpuNanos() / cost.records();
        }
    }

    private static long parseNanos(Corpus corpus, long[] lines) {
        PropertyExtractor extractor = corpus.workload().psfs().newExtractor();
        Properties properties = new Properties();
        long before = THREADS.getCurrentThreadCpuTime();
        for (int i = 0; i + 1 < lines.length; i++) {
            int length = (int) (lines[i + 1] - 1 - lines[i]);
            if (!extractor.extract(corpus.bytes(), lines[i], length, properties)) {
                throw new IllegalStateException("record %d is refused".formatted(i));
            }
        }
        return THREADS.getCurrentThreadCpuTime() - before;
    }

    /** Figure 17: two threads on five chains, and on eight times as many. */
    List<Report> contention() {
        List<String> columns = List.of("1 chain a value", "8 chains a value");
        Report speed = suite.report("Two threads on hot chains, GB per CPU second", columns)
                .setting("PSF", "field(stars) of yelp: five values")
                .setting(
                        "paper",
                        "Fig. 17: a record is never written anew, however many meet at a chain's head");
        Report met = suite.report("Insertions that met a newer record, per million", columns)
                .setting("PSF", "field(stars) of yelp, two threads");
        Corpus corpus = suite.corpus(Workload.YELP);
        for (int round = -1; round < rounds; round++) {
            for (int chains : new int[] {1, 8}) {
                try (Bed bed = Bed.inMemory(HashLogSuite.RING_BYTES, List.of())) {
                    bed.log.register("stars", PsfDefinition.parse("field(stars)"), chains);
                    Bed.Cost cost = bed.ingest(corpus, 2, 2);
                    if (round >= 0) {
                        String column = columns.get(chains == 1 ? 0 : 1);
                        speed.add("yelp, stars", column, cost.gigabytesPerCpuSecond());
                        long contended = bed.log
                                .log()
                                .site()
                                .meters()
                                .scope("log", "bench")
                                .counter("hashlog.chain.contended")
                                .sum();
                        met.add("yelp, stars", column, contended * 1e6 / cost.records());
                    }
                }
            }
        }
        return List.of(speed, met);
    }

    /** Figure 18 (a): the reviews as rows. */
    Report csv() {
        Report report = suite.report(
                        "Ingestion of CSV, null device, GB per CPU second",
                        List.of("one thread", "two threads"))
                .setting("PSFs", "Table 1's of yelp")
                .setting("paper", "Fig. 18 (a): CSV scales as JSON does, 5.4 GB/s with 32 threads");
        Corpus rows = suite.corpus(Workload.YELP).asCsv();
        ParserSpec parser = ParserSpec.parse(Corpus.CSV_PARSER);
        for (int round = -WARM_UP_ROUNDS; round < rounds; round++) {
            for (int threads = 1; threads <= 2; threads++) {
                try (Bed bed =
                        Bed.inMemory(HashLogSuite.RING_BYTES, Workload.YELP.definitions, parser)) {
                    Bed.Cost cost = bed.ingest(rows, threads, 1);
                    if (round >= 0) {
                        report.add(
                                "yelp as CSV",
                                threads == 1 ? "one thread" : "two threads",
                                cost.gigabytesPerCpuSecond());
                    }
                }
            }
        }
        return report;
    }

    /** Figure 19: how far the records of a property lie from one another. */
    Report gaps() {
        String opened = Workload.GITHUB.definitions.get(4);
        List<String> columns = List.of("PushEvent", "opened issues");
        Report report = suite.report("Gaps between records of a property, KiB of log", columns)
                .setting(
                        "paper",
                        "Fig. 19: dense and sparse stretches take turns, which is what read-ahead adapts to");
        Corpus corpus = suite.corpus(Workload.GITHUB);
        try (Bed bed = Bed.inMemory(
                Long.highestOneBit(4 * corpus.bytes().byteSize()), Workload.GITHUB.definitions)) {
            bed.ingest(corpus, 1, 1);
            long[][] gaps = {
                gaps(bed, LogQuery.property("field(type)", "PushEvent")),
                gaps(bed, LogQuery.property(opened, "true"))
            };
            for (int percent : PERCENTILES) {
                for (int c = 0; c < gaps.length; c++) {
                    int at = Math.max(0, (int) Math.ceil(gaps[c].length * percent / 100.0) - 1);
                    report.add(
                            percent == 100 ? "largest" : percent + " % are below",
                            columns.get(c),
                            gaps[c][at] / 1024.0);
                }
            }
        }
        return report;
    }

    private static long[] gaps(Bed bed, LogQuery query) {
        long[] gaps = new long[1 << 10];
        int count = 0;
        long last = -1;
        try (LogCursor cursor = bed.log.find(query)) {
            while (cursor.next()) {
                if (last >= 0) {
                    if (count == gaps.length) {
                        gaps = Arrays.copyOf(gaps, 2 * count);
                    }
                    gaps[count++] = last - cursor.address();
                }
                last = cursor.address();
            }
        }
        if (count == 0) {
            throw new IllegalStateException("%s has less than two records".formatted(query));
        }
        long[] sorted = Arrays.copyOf(gaps, count);
        Arrays.sort(sorted);
        return sorted;
    }
}
