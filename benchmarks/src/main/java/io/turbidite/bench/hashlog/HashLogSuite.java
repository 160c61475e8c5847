package io.turbidite.bench.hashlog;

import io.turbidite.bench.report.Aims;
import io.turbidite.bench.report.Report;

import java.io.IOException;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * The experiments of FISH19 §8 that two cores can tell something about: what ingestion costs by
 * kind of data, by number of PSFs and beside lookups, what the log takes, how subsets are found.
 * Counts are compared with those of the data's generator in each round.
 */
public final class HashLogSuite {
    /** Of pages in memory where nothing has to stay. */
    static final long RING_BYTES = 128 << 20;

    static final List<Workload> WORKLOADS =
            List.of(Workload.GITHUB, Workload.YELP, Workload.TWITTER, Workload.TWITTER_SIMPLE);
    /** Enough for the compiler on a busy machine, too: it works beside the measured thread. */
    private static final int WARM_UP_ROUNDS = 10;

    /** GB per CPU second with vectors, and without. */
    private static final Map<String, List<Double>> GOALS = new TreeMap<>(Map.of(
            "github", List.of(1.0, 0.5), "yelp", List.of(0.5, 0.3), "twitter", List.of(1.0, 0.4)));

    /** Of two threads. */
    private static final double SCALING = 1.7;

    /** Of a record, with its share of what opening the session takes. */
    private static final double HEAP_BYTES_MAX = 16;

    /** What can be run by itself, in the order of the reports. */
    public static final List<String> PARTS = List.of(
            "stores",
            "ingestion",
            "psfs",
            "breakdown",
            "memory",
            "selectivity",
            "lookups",
            "files",
            "recovery",
            "chains",
            "csv",
            "gaps");

    private final int megabytes;
    private final int rounds;
    private final Path scratch;
    private final String directory;
    private final Map<Workload, Corpus> corpora = new EnumMap<>(Workload.class);
    private final Aims aims = new Aims();

    /**
     * @param megabytes of each kind of data, where it is generated
     * @param scratch for logs on disk; emptied
     * @param directory with {@code github.json}, {@code yelp.json}, {@code twitter.json}, each
     *     beside its {@code .stats.json}, or "-" for generated data
     */
    public HashLogSuite(int megabytes, int rounds, Path scratch, String directory) {
        this.megabytes = megabytes;
        this.rounds = rounds;
        this.scratch = scratch;
        this.directory = directory;
    }

    /**
     * Runs some of it.
     *
     * @param parts of {@link #PARTS}; empty: all
     * @param suffixMegabytes of log that the longest recovery replays
     */
    public List<Report> run(List<String> parts, int suffixMegabytes) throws IOException {
        for (String part : parts) {
            if (!PARTS.contains(part)) {
                throw new IllegalArgumentException(
                        "no part '%s'; there are %s".formatted(part, PARTS));
            }
        }

        for (Workload workload : WORKLOADS) {
            boolean generated = directory.equals("-");
            corpora.put(
                    workload,
                    generated
                            ? Corpus.generated(workload, megabytes)
                            : Corpus.read(workload, Path.of(directory)));
        }
        List<Report> reports = new ArrayList<>();
        Retrieval retrieval = new Retrieval(this, rounds, scratch);
        Device device = new Device(this, rounds, scratch);
        Appendix appendix = new Appendix(this, rounds);
        for (String part : parts.isEmpty() ? PARTS : parts) {
            switch (part) {
                case "stores" -> reports.add(new PeerStores(this, rounds, scratch).byKey());
                case "ingestion" -> reports.addAll(ingestion());
                case "psfs" -> reports.addAll(byPsfCount());
                case "breakdown" -> reports.add(appendix.breakdown());
                case "memory" -> reports.addAll(retrieval.inMemory());
                case "selectivity" -> reports.add(retrieval.bySelectivity());
                case "lookups" -> reports.add(retrieval.besideIngestion());
                case "files" -> reports.add(device.toFiles());
                case "recovery" -> reports.addAll(device.recovery(suffixMegabytes));
                case "chains" -> reports.addAll(appendix.contention());
                case "csv" -> reports.add(appendix.csv());
                case "gaps" -> reports.add(appendix.gaps());
                default -> throw new AssertionError(part);
            }
        }
        if (!aims.isEmpty()) {
            reports.addFirst(aims.into(report("Aims and what was seen", Aims.COLUMNS)));
        }
        return reports;
    }

    /** What should be reached, and what this run has seen. */
    Aims aims() {
        return aims;
    }

    Corpus corpus(Workload workload) {
        return Objects.requireNonNull(corpora.get(workload));
    }

    Report report(String title, List<String> columns) {
        String source = corpus(Workload.GITHUB).source();
        StringBuilder sizes = new StringBuilder();
        corpora.forEach((workload, corpus) -> sizes.append(sizes.isEmpty() ? "" : ", ")
                .append("%s %,d records of %,d bytes"
                        .formatted(
                                workload.name().toLowerCase(Locale.ROOT),
                                corpus.count(),
                                corpus.bytes().byteSize() / corpus.count())));
        return new Report(title, columns)
                .setting("data", "%s; %s".formatted(source, sizes))
                .setting("machine", Report.machine() + ", shared with other work")
                .setting("date", LocalDate.now(ZoneOffset.UTC))
                .setting("command", "./turbidite bench hashlog");
    }

    /** Figures 10, 11 and what the log takes. */
    private List<Report> ingestion() throws IOException {
        Report speed = report(
                        "Ingestion, null device, GB per CPU second",
                        List.of("vectors", "without vectors", "two threads"))
                .setting("PSFs", "Table 1's")
                .setting(
                        "two threads",
                        "bytes of both per CPU second of both: the same as of one would be perfect scaling")
                .setting(
                        "paper",
                        "§8.2, §8.3: FishStore is bound by parsing, scales with threads, and saturates 2 GB/s with 8")
                .setting(
                        "C++ FishStore here",
                        "with its parser 0.25, 0.06, 0.24; with an on-demand parser 0.62-0.85, 0.48, 1.0, simple 1.46");
        Report space = report("Log bytes per raw byte", List.of("log"))
                .setting("paper", "§8.3: the default Twitter workload takes 1.35 % more than raw");
        Report clock = report(
                        "Ingestion, null device, GB per second of the clock",
                        List.of("two threads", "one thread"))
                .setting("clock", "says something on a quiet machine with two processors only");
        StringBuilder heap = new StringBuilder();
        for (Workload workload : WORKLOADS) {
            Corpus corpus = corpus(workload);
            String name = workload.name().toLowerCase(Locale.ROOT);
            for (int round = -WARM_UP_ROUNDS; round < rounds; round++) {
                for (int threads = 1; threads <= 2; threads++) {
                    try (Bed bed = Bed.inMemory(RING_BYTES, workload.definitions)) {
                        Bed.Cost one = bed.ingest(corpus, threads, 1);
                        if (round >= 0) {
                            speed.add(
                                    name,
                                    threads == 1 ? "vectors" : "two threads",
                                    one.gigabytesPerCpuSecond());
                            clock.add(
                                    name,
                                    threads == 1 ? "one thread" : "two threads",
                                    one.gigabytesPerSecond());
                            if (threads == 1) {
                                space.add(name, "log", (double) one.logBytes() / one.bytes());
                            }
                            if (threads == 1 && round == rounds - 1) {
                                aims.atMost(
                                        name + ", heap bytes per record",
                                        HEAP_BYTES_MAX,
                                        (double) one.heapBytes() / one.records());
                                heap.append("%s%s %.1f"
                                        .formatted(
                                                heap.isEmpty() ? "" : ", ",
                                                name,
                                                (double) one.heapBytes() / one.records()));
                            }
                        }
                    }
                }
            }
            WordsRun.start(workload, megabytes, directory, rounds)
                    .forEach(figure -> speed.add(name, "without vectors", figure));
        }
        speed.setting("heap bytes per record", heap + "; opening the session included");
        speedAims(speed, space, clock);
        return List.of(speed, clock, space);
    }

    private void speedAims(Report speed, Report space, Report clock) {
        GOALS.forEach((name, goals) -> {
            double one = speed.figure(name, "vectors");
            aims.atLeast(name + ", GB per CPU second", goals.get(0), one);
            aims.atLeast(
                    name + ", without vectors",
                    goals.get(1),
                    speed.figure(name, "without vectors"));
            aims.atLeast(
                    name + ", two threads by CPU time",
                    SCALING,
                    2 * speed.figure(name, "two threads") / one);
            aims.atLeast(
                    name + ", two threads by the clock",
                    SCALING,
                    clock.figure(name, "two threads") / clock.figure(name, "one thread"));
            aims.atMost(name + ", log per raw byte", 1.1, space.figure(name, "log"));
        });
    }

    /** Figures 14 and 15. */
    private List<Report> byPsfCount() {
        Report speed = report("Ingestion by number of PSFs, GB per CPU second", List.of("GB"))
                .setting(
                        "paper",
                        "Fig. 14, 15 (a): slower with each field that is parsed, and with each predicate");
        Report space = report("Log bytes per raw byte by number of PSFs", List.of("log"))
                .setting("paper", "Fig. 15 (b): up to 1 % with fields, 0.5 % with 500 predicates");
        List<String> fields = List.of(
                "field(id)",
                "field(type)",
                "field(actor.id)",
                "field(repo.id)",
                "field(repo.name)",
                "field(actor.login)",
                "field(payload.action)",
                "field(created_at)");
        for (int count : new int[] {0, 1, 2, 4, 8}) {
            measure(
                    speed,
                    space,
                    "github, %d fields".formatted(count),
                    Workload.GITHUB,
                    fields.subList(0, count));
        }
        for (int count : new int[] {1, 10, 50, 250, 500}) {
            measure(
                    speed,
                    space,
                    "twitter, %d predicates".formatted(count),
                    Workload.TWITTER,
                    predicates(count));
        }
        return List.of(speed, space);
    }

    /** The first 250 are true of disjoint ranges, the next of overlapping ones. */
    private static List<String> predicates(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> {
                    int low = i % 250 * 800;
                    return "where(user.statuses_count >= %d && user.statuses_count < %d)"
                            .formatted(low, low + (i < 250 ? 800 : 1_600));
                })
                .toList();
    }

    private void measure(
            Report speed, Report space, String name, Workload workload, List<String> psfs) {
        for (int round = -2; round < rounds; round++) {
            try (Bed bed = Bed.inMemory(RING_BYTES, psfs)) {
                Bed.Cost cost = bed.ingest(corpus(workload), 1, 1);
                if (round >= 0) {
                    speed.add(name, "GB", cost.gigabytesPerCpuSecond());
                    space.add(name, "log", (double) cost.logBytes() / cost.bytes());
                }
            }
        }
    }
}
