package io.turbidite.bench.pm;

import io.turbidite.bench.engine.Costs;
import io.turbidite.bench.report.Aims;
import io.turbidite.bench.report.Report;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The figures of PERS24 §5, as far as a machine without persistent memory can make them: counters
 * first, then CPU of the whole process, then a model of the medium's latency that is named so. Each
 * answer is compared with that of a model; rivals take turns, and the order turns with the rounds.
 */
public final class PmSuite {
    static final int LAYERS = 16;
    static final long SEED = 16;
    private static final long CACHE_BYTES_MIN = 1 << 20;

    private final Setting setting;
    private final Path directory;
    private final Map<Load, Operations> loads = new EnumMap<>(Load.class);

    /**
     * What a run is asked for.
     *
     * @param records of the regions
     * @param storeRecords of the stores, which have the records too
     * @param recordBytes about how long a record of a store is
     * @param rounds counted rounds
     * @param warmUpRounds rounds before these
     * @param questions different ones of each kind
     * @param nanosMin CPU that each figure of a query is of, at least
     * @param loads those of the paper that are run
     * @param parts what is measured
     */
    public record Setting(
            int records,
            int storeRecords,
            int recordBytes,
            int rounds,
            int warmUpRounds,
            int questions,
            long nanosMin,
            Set<Load> loads,
            Set<Part> parts) {
        public Setting {
            loads = Set.copyOf(loads);
            parts = Set.copyOf(parts);
        }

        /** With one round to warm up, 2,000 questions, and all loads. */
        public static Setting of(
                int records, int storeRecords, int recordBytes, int rounds, Set<Part> parts) {
            return new Setting(
                    records,
                    storeRecords,
                    recordBytes,
                    rounds,
                    1,
                    2_000,
                    Asking.MEASURED_NANOS,
                    EnumSet.allOf(Load.class),
                    parts);
        }

        /** The loads, in order. */
        private List<Load> loadsInOrder() {
            return List.copyOf(loads.isEmpty() ? Set.of() : EnumSet.copyOf(loads));
        }

        private String command() {
            return "./turbidite bench pm --records %d --store-records %d --record-bytes %d --rounds %d --parts %s"
                    .formatted(
                            records,
                            storeRecords,
                            recordBytes,
                            rounds,
                            Stream.of(Part.values())
                                    .filter(parts::contains)
                                    .map(Part::name)
                                    .collect(Collectors.joining(",")));
        }
    }

    /**
     * @param directory for the stores; emptied
     */
    public PmSuite(Setting setting, Path directory) {
        this.setting = setting;
        this.directory = directory;
    }

    /** Parts of a run. */
    public enum Part {
        /** Fences, blocks, bytes, tables (Fig. 9), and a model of the medium. */
        COUNTERS("pm"),
        /** Tree and baselines (Fig. 8, 10, 12). */
        REGIONS("pm"),
        /** Opening and rebuilding (§5.4). */
        RECOVERY("pm"),
        /** Stores with an index of kind pm and of LSM trees (Fig. 8, 10). */
        STORES("pm-stores"),
        /** Validation alone (Fig. 11). */
        VALIDATION("pm-stores"),
        /** Several threads (Fig. 13). */
        THREADS("pm-stores"),
        /** Questions for records (Fig. 14, 15). */
        RECORDS("pm-stores"),
        /** Questions for records that are read, by one thread and by several (Fig. 14, 15). */
        LOOKUPS("pm-lookups"),
        /** Mixes of operations, over time (Table 1, Fig. 16). */
        MIXES("pm-stores");

        private final String page;

        Part(String page) {
            this.page = page;
        }

        /** The page that has its figures. */
        public String page() {
            return page;
        }
    }

    /** Some figures. */
    interface Figures {
        void measure();

        void aims(Aims into);

        List<Report> reports();
    }

    public List<Report> run() {
        for (Load load : Load.values()) {
            loads.put(load, Operations.of(load, setting.records, LAYERS, SEED));
        }
        // what counts comes first on the page, and last in time: its memory would slow the others
        List<Part> order = new ArrayList<>(List.of(Part.values()));
        order.remove(Part.COUNTERS);
        order.add(Part.COUNTERS);
        Map<Part, Figures> figures = new EnumMap<>(Part.class);
        for (Part part : order) {
            if (setting.parts.contains(part)) {
                Figures some = figures(part);
                some.measure();
                figures.put(part, some);
            }
        }
        Aims aims = new Aims();
        List<Report> reports = new ArrayList<>();
        figures.values().forEach(some -> {
            some.aims(aims);
            reports.addAll(some.reports());
        });
        if (!aims.isEmpty()) {
            reports.addFirst(aims.into(report("PERS24: the aims", Aims.COLUMNS)));
        }
        return reports;
    }

    private Figures figures(Part part) {
        return switch (part) {
            case COUNTERS -> new Counters(this);
            case REGIONS -> new RegionFigures(this);
            case STORES -> new StoreFigures(this);
            case VALIDATION -> new ValidationFigures(this);
            case THREADS -> new ThreadFigures(this);
            case RECORDS -> new RecordFigures(this);
            case LOOKUPS -> new LookupFigures(this);
            case MIXES -> new MixFigures(this);
            case RECOVERY -> new RecoveryFigures(this);
        };
    }

    Setting setting() {
        return setting;
    }

    /** Those of some loads that are run. */
    List<Load> ofThoseRun(Load... loads) {
        return Stream.of(loads).filter(setting.loads::contains).toList();
    }

    Report storeReport(String title, List<String> columns) {
        return report(title, columns)
                .setting(
                        "data",
                        "%,d records of about %d bytes, all in the cache; regions of mode volatile"
                                .formatted(setting.storeRecords, setting.recordBytes));
    }

    List<Load> loadsInOrder() {
        return setting.loadsInOrder();
    }

    /** A load for a store, which absorbs when it flushes. */
    Operations storeLoad(Load load) {
        return Operations.of(load, setting.storeRecords, LAYERS, SEED);
    }

    StoreRival store(StoreRival.Kind kind, String policy) {
        return new StoreRival(
                directory.resolve("pm"),
                kind,
                policy,
                setting.storeRecords,
                setting.recordBytes,
                UnaryOperator.identity());
    }

    /** With an index of kind pm, whose pages are read past the system's cache. */
    StoreRival storeOnDisk(String policy, long cacheBytes) {
        return new StoreRival(
                directory.resolve("pm"),
                StoreRival.Kind.PM,
                policy,
                setting.storeRecords,
                setting.recordBytes,
                options -> options.withCacheBytes(Math.max(CACHE_BYTES_MIN, cacheBytes))
                        .withDirectIo(true));
    }

    Path directory() {
        return directory;
    }

    Report report(String title, List<String> columns) {
        return new Report(title, columns)
                .setting("machine", Report.machine())
                .setting("command", setting.command());
    }

    Report regionReport(String title) {
        return report(title, Contender.NAMES)
                .setting(
                        "data",
                        "%,d records, %d a secondary key, keys of 8 bytes, %d layers; regions in plain memory"
                                .formatted(setting.records, Operations.RECORDS_A_KEY, LAYERS));
    }

    Operations load(Load load) {
        Operations found = loads.get(load);
        if (found == null) {
            throw new IllegalStateException(load.label());
        }
        return found;
    }

    static double micros(long cpuBefore, long count) {
        return (Costs.cpuNanos() - cpuBefore) / 1e3 / count;
    }

    String rounds() {
        return "CPU of the whole process, median of %d rounds, interleaved"
                .formatted(setting.rounds);
    }

    static void add(@Nullable Report report, String row, String column, double figure) {
        if (report != null) {
            report.add(row, column, figure);
        }
    }
}
