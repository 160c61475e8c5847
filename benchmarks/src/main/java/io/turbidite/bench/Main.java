package io.turbidite.bench;

import io.turbidite.bench.api.ApiSuite;
import io.turbidite.bench.api.StatementSuite;
import io.turbidite.bench.engine.AmplificationSuite;
import io.turbidite.bench.engine.EngineSuite;
import io.turbidite.bench.engine.IdleRun;
import io.turbidite.bench.engine.MemoryRun;
import io.turbidite.bench.engine.ReadSuite;
import io.turbidite.bench.engine.SmallRecordsRun;
import io.turbidite.bench.engine.WritersSuite;
import io.turbidite.bench.feed.FeedSuite;
import io.turbidite.bench.feed.PolicySuite;
import io.turbidite.bench.hashlog.HashLogSuite;
import io.turbidite.bench.latency.LatencyReport;
import io.turbidite.bench.latency.LatencySuite;
import io.turbidite.bench.navigation.NavigationSuite;
import io.turbidite.bench.plans.PlansSuite;
import io.turbidite.bench.pm.PmSuite;
import io.turbidite.bench.recency.RecencySuite;
import io.turbidite.bench.report.Curves;
import io.turbidite.bench.report.Report;
import io.turbidite.bench.space.SpaceSuite;
import io.turbidite.bench.spatial.SpatialSuite;
import io.turbidite.bench.sql.SqlSuite;
import io.turbidite.bench.statistics.StatisticsSuite;
import io.turbidite.bench.text.TextSuite;
import io.turbidite.core.log.Durability;
import io.turbidite.feeds.command.StandardErrorLogging;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.schedule.BackgroundOptions;

import org.openjdk.jmh.runner.RunnerException;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;

/** {@code ./turbidite bench SUITE}: runs a suite, writes table, JSON and plot. */
@Command(
        name = "turbidite bench",
        description = "Runs an experiment suite.",
        mixinStandardHelpOptions = true,
        subcommands = {
            Main.EngineCommand.class,
            Main.ReadsCommand.class,
            Main.ApiCommand.class,
            OperatorCommand.class,
            Main.SqlCommand.class,
            Main.AmplificationCommand.class,
            Main.WritersCommand.class,
            GrowthCommand.class,
            Main.MemoryCommand.class,
            Main.IdleCommand.class,
            Main.SmallRecordsCommand.class,
            Main.SpaceCommand.class,
            Main.TextCommand.class,
            Main.LatencyCommand.class,
            Main.HashLogCommand.class,
            Main.NavigationCommand.class,
            Main.PlansCommand.class,
            PlannerCommand.class,
            Main.StatisticsCommand.class,
            Main.SpatialCommand.class,
            Main.RecencyCommand.class,
            Main.PmCommand.class,
            Main.FeedCommand.class,
            Main.PoliciesCommand.class,
            ServeCommand.class,
            YcsbCommand.class,
            Main.JmhCommand.class
        })
public final class Main implements Runnable {
    private Main() {}

    public static void main(String[] args) {
        StandardErrorLogging.install();
        System.exit(commandLine().execute(args));
    }

    /** The parser of all experiments. The launcher prints what it says of itself, from a file. */
    static CommandLine commandLine() {
        CommandLine command = new CommandLine(new Main());
        StrategyCommand.addAll(command);
        return command.setCaseInsensitiveEnumValuesAllowed(true);
    }

    @Override
    public void run() {
        CommandLine.usage(this, System.out);
    }

    /** What every suite is asked. */
    static final class Places {
        @Option(names = "--out", description = "where the result goes (default ${DEFAULT-VALUE})")
        Path out = Path.of("docs", "experiments");

        @Option(names = "--dir", description = "where the stores lie (default: a temporary one)")
        Path directory = Path.of(System.getProperty("java.io.tmpdir"), "turbidite-bench");

        int report(String name, List<Report> reports) throws IOException {
            Report.writeAll(out, name, reports);
            reports.forEach(report -> System.out.println(report.table()));
            return 0;
        }

        int curves(String name, List<Curves> all) throws IOException {
            Curves.writeAll(out, name, all);
            all.forEach(curves -> System.out.println(curves.table()));
            return 0;
        }
    }

    @Command(
            name = "api",
            description = "Calls of the public API, cold and warm: gets and short queries.",
            mixinStandardHelpOptions = true)
    static final class ApiCommand implements Callable<Integer> {
        @Option(names = "--records", description = "records to load (default ${DEFAULT-VALUE})")
        int records = 200_000;

        @Option(names = "--rounds", description = "counted rounds (default ${DEFAULT-VALUE})")
        int rounds = 5;

        @Option(
                names = "--operations",
                description = "operations of each kind a round (default ${DEFAULT-VALUE})")
        int operations = 20_000;

        @Option(
                names = "--statements",
                description = "the questions that SQL and JDBC are asked too, instead")
        boolean statements;

        @Mixin
        Places places = new Places();

        @Override
        public Integer call() throws IOException {
            if (statements) {
                return places.report(
                        "api-statements",
                        new StatementSuite(records, rounds, operations, places.directory).run());
            }
            return places.report(
                    "api", new ApiSuite(records, rounds, operations, places.directory).run());
        }
    }

    @Command(
            name = "sql",
            description = "Statements over flights by SQL, beside DuckDB; answers are compared.",
            mixinStandardHelpOptions = true)
    static final class SqlCommand implements Callable<Integer> {
        @Option(
                names = "--flights",
                description = "the sample of flights (default ${DEFAULT-VALUE})")
        Path flights = Path.of("feeds", "samples", "flights-2013.csv.gz");

        @Option(names = "--rounds", description = "counted rounds (default ${DEFAULT-VALUE})")
        int rounds = 5;

        @Mixin
        Places places = new Places();

        @Override
        public Integer call() throws IOException, SQLException {
            return places.report("sql", new SqlSuite(flights, rounds, places.directory).run());
        }
    }

    @Command(
            name = "plans",
            description =
                    "Window, time and word by one index and by three together, and what steps of"
                            + " queries cost.",
            mixinStandardHelpOptions = true)
    static final class PlansCommand implements Callable<Integer> {
        @Option(names = "--records", description = "records to load (default ${DEFAULT-VALUE})")
        int records = 1_000_000;

        @Option(names = "--rounds", description = "counted rounds (default ${DEFAULT-VALUE})")
        int rounds = 7;

        @Option(
                names = "--record-bytes",
                description = "about how long a record is (default ${DEFAULT-VALUE})")
        int recordBytes = 1_000;

        @Mixin
        Places places = new Places();

        @Override
        public Integer call() throws IOException {
            return places.report(
                    "plans", new PlansSuite(records, rounds, recordBytes, places.directory).run());
        }
    }

    @Command(
            name = "statistics",
            description = "How far the planner's estimates are from the truth, and their cost.",
            mixinStandardHelpOptions = true)
    static final class StatisticsCommand implements Callable<Integer> {
        @Option(names = "--feed", description = "the flights (default ${DEFAULT-VALUE})")
        Path feed = Path.of("feeds", "samples", "flights.yaml");

        @Option(
                names = "--tweets",
                description = "tweets to write, half of them updates (default ${DEFAULT-VALUE})")
        int tweets = 600_000;

        @Option(
                names = "--predicates",
                description = "random ones for each data (default ${DEFAULT-VALUE})")
        int predicates = 10_000;

        @Mixin
        Places places = new Places();

        @Override
        public Integer call() throws IOException {
            return places.report(
                    "statistics",
                    new StatisticsSuite(feed, tweets, predicates, places.directory).run());
        }
    }

    @Command(
            name = "spatial",
            description =
                    "Windows and neighbours by an R-tree: one component, ten, memory, beside JTS,"
                            + " H2, Lucene, Hyracks.",
            mixinStandardHelpOptions = true)
    static final class SpatialCommand implements Callable<Integer> {
        @Option(names = "--points", description = "points to load (default ${DEFAULT-VALUE})")
        int points = 1_000_000;

        @Option(names = "--rounds", description = "counted rounds (default ${DEFAULT-VALUE})")
        int rounds = 5;

        @Mixin
        Places places = new Places();

        @Override
        public Integer call() throws IOException {
            return places.report(
                    "spatial", new SpatialSuite(points, rounds, places.directory).run());
        }
    }

    @Command(
            name = "recency",
            description =
                    "Queries for recent tweets by filter, under several merge policies (ALS15 Fig."
                            + " 6, 7, 9, 10).",
            mixinStandardHelpOptions = true)
    static final class RecencyCommand implements Callable<Integer> {
        @Option(names = "--tweets", description = "a store (default ${DEFAULT-VALUE})")
        int tweets = 200_000;

        @Option(names = "--rounds", description = "counted rounds (default ${DEFAULT-VALUE})")
        int rounds = 3;

        @Option(
                names = "--queries",
                description = "queries of each kind and span a round (default ${DEFAULT-VALUE})")
        int queries = 200;

        @Option(
                names = "--cold",
                description =
                        "a cache of a twentieth of the data and direct I/O; time by the clock")
        boolean cold;

        @Mixin
        Places places = new Places();

        @Override
        public Integer call() throws IOException {
            RecencySuite.Result result =
                    new RecencySuite(tweets, rounds, queries, cold, places.directory).run();
            String name = cold ? "recency-cold" : "recency";
            Curves.writeAll(places.out, name, result.figures());
            result.figures().forEach(figure -> System.out.println(figure.table()));
            return places.report(name + "-ingestion", result.ingestion());
        }
    }

    @Command(
            name = "pm",
            description =
                    "The index in byte-addressable memory beside baselines and LSM indexes (PERS24"
                            + " Fig. 8 to 16).",
            mixinStandardHelpOptions = true)
    static final class PmCommand implements Callable<Integer> {
        @Option(names = "--records", description = "of a region (default ${DEFAULT-VALUE})")
        int records = 100_000;

        @Option(names = "--store-records", description = "of a store (default ${DEFAULT-VALUE})")
        int storeRecords = 20_000;

        @Option(
                names = "--record-bytes",
                description = "about how long a store's record is (default ${DEFAULT-VALUE})")
        int recordBytes = 100;

        @Option(names = "--rounds", description = "counted rounds (default ${DEFAULT-VALUE})")
        int rounds = 3;

        @Option(
                names = "--parts",
                split = ",",
                description = "of ${COMPLETION-CANDIDATES} (default: all)")
        Set<PmSuite.Part> parts = EnumSet.allOf(PmSuite.Part.class);

        @Mixin
        Places places = new Places();

        @Override
        public Integer call() throws IOException {
            Map<String, Set<PmSuite.Part>> pages = new LinkedHashMap<>();
            for (PmSuite.Part part : EnumSet.copyOf(parts)) {
                pages.computeIfAbsent(part.page(), none -> EnumSet.noneOf(PmSuite.Part.class))
                        .add(part);
            }
            for (Map.Entry<String, Set<PmSuite.Part>> page : pages.entrySet()) {
                PmSuite.Setting setting = PmSuite.Setting.of(
                        records, storeRecords, recordBytes, rounds, page.getValue());
                var _ = places.report(page.getKey(), new PmSuite(setting, places.directory).run());
            }
            return 0;
        }
    }

    @Command(
            name = "feed",
            description = "Records by file, TCP, HTTP and Kafka, beside batches of ready records.",
            mixinStandardHelpOptions = true)
    static final class FeedCommand implements Callable<Integer> {
        @Option(names = "--records", description = "tweets a round (default ${DEFAULT-VALUE})")
        int records = 200_000;

        @Option(names = "--rounds", description = "counted rounds (default ${DEFAULT-VALUE})")
        int rounds = 3;

        @Mixin
        Places places = new Places();

        @Override
        public Integer call() throws IOException {
            return places.report("feed", new FeedSuite(records, rounds, places.directory).run());
        }
    }

    @Command(
            name = "policies",
            description = "What each policy of a feed makes of the same burst.",
            mixinStandardHelpOptions = true)
    static final class PoliciesCommand implements Callable<Integer> {
        @Option(names = "--burst", description = "its seconds (default ${DEFAULT-VALUE})")
        int burstSeconds = 10;

        @Option(
                names = "--watch",
                description = "seconds for each policy, at most (default ${DEFAULT-VALUE})")
        int secondsMax = 120;

        @Mixin
        Places places = new Places();

        @Override
        public Integer call() throws IOException {
            return places.curves(
                    "policies", new PolicySuite(burstSeconds, secondsMax, places.directory).run());
        }
    }

    @Command(
            name = "engine",
            description = "Upserts, gets, scans and secondary queries beside RocksDB and Hyracks.",
            mixinStandardHelpOptions = true)
    static final class EngineCommand implements Callable<Integer> {
        @Option(names = "--upserts", description = "tweets a round (default ${DEFAULT-VALUE})")
        int upserts = 1_000_000;

        @Option(
                names = "--warm-up",
                description =
                        "rounds of all engines before those that count (default ${DEFAULT-VALUE})")
        int warmUpRounds = 2;

        @Option(names = "--rounds", description = "counted rounds (default ${DEFAULT-VALUE})")
        int rounds = 3;

        @Option(
                names = "--scenarios",
                split = ",",
                description = "numbers of the tables to make (default: all)")
        List<Integer> scenarios = List.of();

        @Option(
                names = "--durability",
                description = "PROCESS, as RocksDB's default, or BUFFERED, its log flushed every"
                        + " millisecond (default ${DEFAULT-VALUE})")
        Durability durability = Durability.PROCESS;

        @Mixin
        Places places = new Places();

        @Override
        public Integer call() throws IOException {
            List<Integer> numbers = scenarios.isEmpty()
                    ? IntStream.rangeClosed(1, EngineSuite.scenarioCount())
                            .boxed()
                            .toList()
                    : scenarios;
            return places.report(
                    "engine",
                    new EngineSuite(upserts, warmUpRounds, rounds, durability, places.directory)
                            .run(numbers));
        }
    }

    @Command(
            name = "reads",
            description = "Reads alone, in the cache and warm, beside RocksDB and Hyracks.",
            mixinStandardHelpOptions = true)
    static final class ReadsCommand implements Callable<Integer> {
        @Option(names = "--upserts", description = "tweets (default ${DEFAULT-VALUE})")
        int upserts = 1_000_000;

        @Option(names = "--rounds", description = "counted rounds (default ${DEFAULT-VALUE})")
        int rounds = 7;

        @Option(
                names = "--scenario",
                description = "1 to 4 of the engine's tables (default ${DEFAULT-VALUE})")
        int scenario = 1;

        @Option(names = "--engines", split = ",", description = "by name (default: all)")
        List<String> engines = List.of();

        @Mixin
        Places places = new Places();

        @Override
        public Integer call() throws IOException {
            ReadSuite suite = new ReadSuite(upserts, rounds, scenario, engines, places.directory);
            return places.report("reads", List.of(suite.run()));
        }
    }

    @Command(
            name = "amplification",
            description = "Bytes written and kept by a load, by part, beside RocksDB.",
            mixinStandardHelpOptions = true)
    static final class AmplificationCommand implements Callable<Integer> {
        @Option(names = "--upserts", description = "tweets (default ${DEFAULT-VALUE})")
        int upserts = 1_000_000;

        @Option(
                names = "--updates",
                split = ",",
                description =
                        "share of upserts that hit a past tweet; a table each (default: 0.1,0.5)")
        List<Double> updates = List.of(0.1, 0.5);

        @Mixin
        Places places = new Places();

        @Override
        public Integer call() throws IOException {
            List<Report> reports = updates.stream()
                    .map(ratio -> new AmplificationSuite(upserts, ratio, places.directory).run())
                    .toList();
            return places.report("amplification", reports);
        }
    }

    @Command(
            name = "writers",
            description = "What two and four writing threads cost.",
            mixinStandardHelpOptions = true)
    static final class WritersCommand implements Callable<Integer> {
        @Option(names = "--upserts", description = "tweets a round (default ${DEFAULT-VALUE})")
        int upserts = 1_000_000;

        @Option(names = "--rounds", description = "counted rounds (default ${DEFAULT-VALUE})")
        int rounds = 3;

        @Mixin
        Places places = new Places();

        @Override
        public Integer call() throws IOException {
            return places.report(
                    "writers", List.of(new WritersSuite(upserts, rounds, places.directory).run()));
        }
    }

    @Command(
            name = "latency",
            description = "Latency of upserts under sustained load while merges run.",
            mixinStandardHelpOptions = true)
    static final class LatencyCommand implements Callable<Integer> {
        @Option(names = "--tweets", description = "loaded first (default ${DEFAULT-VALUE})")
        int tweets = 2_000_000;

        @Option(names = "--seconds", description = "of each loop (default ${DEFAULT-VALUE})")
        int seconds = 25;

        @Option(names = "--writers", description = "threads (default ${DEFAULT-VALUE})")
        int writers = 4;

        @Option(names = "--share", description = "of the capacity (default ${DEFAULT-VALUE})")
        double share = 0.5;

        @Option(names = "--sync-bytes", description = "as the store's option syncBytes")
        long syncBytes = BackgroundOptions.defaults().syncBytes();

        @Option(names = "--io-bytes", description = "as the store's option ioBytesPerSecond")
        long ioBytesPerSecond = BackgroundOptions.defaults().ioBytesPerSecond();

        @Option(
                names = "--durability",
                split = ",",
                description = "each is run (default: sync,interval)")
        List<Durability> durabilities = List.of(Durability.SYNC, Durability.INTERVAL);

        @Mixin
        Places places = new Places();

        @Override
        public Integer call() throws IOException {
            LatencySuite.Setting setting = new LatencySuite.Setting(
                    tweets,
                    seconds,
                    writers,
                    share,
                    StoreOptions.defaults()
                            .withBackground(BackgroundOptions.defaults()
                                    .withSyncBytes(syncBytes)
                                    .withIoBytesPerSecond(ioBytesPerSecond)),
                    durabilities);
            LatencyReport report = new LatencySuite(setting).run(places.directory);
            report.write(places.out, "latency");
            System.out.println(report.table());
            return 0;
        }
    }

    @Command(
            name = "idle",
            description = "CPU, threads and disk of stores to which nobody talks.",
            mixinStandardHelpOptions = true)
    static final class IdleCommand implements Callable<Integer> {
        @Option(names = "--stores", description = "stores (default ${DEFAULT-VALUE})")
        int stores = 20;

        @Option(names = "--seconds", description = "watched (default ${DEFAULT-VALUE})")
        int seconds = 20;

        @Option(names = "--alone", description = "each has a runtime of its own")
        boolean alone;

        @Mixin
        Places places = new Places();

        @Override
        public Integer call() throws IOException {
            return places.report(
                    "idle", List.of(new IdleRun(stores, seconds, !alone, places.directory).run()));
        }
    }

    @Command(
            name = "memory",
            description = "Resident memory against budget, heap limit and an idle JVM.",
            mixinStandardHelpOptions = true)
    static final class MemoryCommand implements Callable<Integer> {
        @Option(names = "--upserts", description = "tweets (default ${DEFAULT-VALUE})")
        int upserts = 1_000_000;

        @Mixin
        Places places = new Places();

        @Override
        public Integer call() throws IOException, InterruptedException {
            return places.report("memory", List.of(new MemoryRun(upserts, places.directory).run()));
        }
    }

    @Command(
            name = "small-records",
            description = "Many small records in a bounded memory budget; give it -Xmx512m.",
            mixinStandardHelpOptions = true)
    static final class SmallRecordsCommand implements Callable<Integer> {
        @Option(names = "--records", description = "how many (default ${DEFAULT-VALUE})")
        long records = 100_000_000;

        @Mixin
        Places places = new Places();

        @Override
        public Integer call() throws IOException {
            return places.report(
                    "small-records", List.of(new SmallRecordsRun(records, places.directory).run()));
        }
    }

    @Command(
            name = "space",
            description = "How much disk a feed's data takes, by part and compression.",
            mixinStandardHelpOptions = true)
    static final class SpaceCommand implements Callable<Integer> {
        @Option(names = "--feed", description = "what to load (default ${DEFAULT-VALUE})")
        Path feed = Path.of("feeds", "samples", "flights.yaml");

        @Mixin
        Places places = new Places();

        @Override
        public Integer call() throws IOException {
            return places.report("space", List.of(new SpaceSuite(feed, places.directory).run()));
        }
    }

    @Command(
            name = "text",
            description = "Words: upserts, bytes a posting, conjunctions, beside Lucene.",
            mixinStandardHelpOptions = true)
    static final class TextCommand implements Callable<Integer> {
        @Option(names = "--documents", description = "to load (default ${DEFAULT-VALUE})")
        int documents = 1_000_000;

        @Option(names = "--rounds", description = "counted rounds (default ${DEFAULT-VALUE})")
        int rounds = 3;

        @Mixin
        Places places = new Places();

        @Override
        public Integer call() throws IOException {
            return places.report("text", new TextSuite(documents, rounds, places.directory).run());
        }
    }

    @Command(
            name = "hashlog",
            description = "Ingestion, space, retrieval and recovery of the hash log (FISH19 §8).",
            mixinStandardHelpOptions = true)
    static final class HashLogCommand implements Callable<Integer> {
        @Option(names = "--mb", description = "of each kind of data (default ${DEFAULT-VALUE})")
        int megabytes = 32;

        @Option(names = "--rounds", description = "counted rounds (default ${DEFAULT-VALUE})")
        int rounds = 3;

        @Option(
                names = "--data",
                description =
                        "directory with github.json, yelp.json and twitter.json, each beside its"
                                + " .stats.json with counts (default: data is generated)")
        String data = "-";

        @Option(
                names = "--only",
                split = ",",
                description = "parts to run, into a report of their own: stores, ingestion, psfs,"
                        + " breakdown, memory, selectivity, lookups, files, recovery, chains,"
                        + " csv, gaps (default: all)")
        List<String> parts = List.of();

        @Option(
                names = "--suffix-mb",
                description = "log that the longest recovery replays (default ${DEFAULT-VALUE})")
        int suffixMegabytes = 1_024;

        @Mixin
        Places places = new Places();

        @Override
        public Integer call() throws IOException {
            return places.report(
                    parts.isEmpty() ? "hashlog" : "hashlog-" + String.join("-", parts),
                    new HashLogSuite(megabytes, rounds, places.directory, data)
                            .run(parts, suffixMegabytes));
        }
    }

    @Command(
            name = "navigation",
            description = "From secondary to primary: batched point lookups (LUO19 Fig. 10).",
            mixinStandardHelpOptions = true)
    static final class NavigationCommand implements Callable<Integer> {
        @Option(names = "--tweets", description = "how many (default ${DEFAULT-VALUE})")
        int tweets = 500_000;

        @Option(names = "--components", description = "of the primary (default ${DEFAULT-VALUE})")
        int components = 20;

        @Option(names = "--rounds", description = "counted rounds (default ${DEFAULT-VALUE})")
        int rounds = 3;

        @Option(
                names = "--states",
                split = ",",
                description = "cached, cold or both (default: both)")
        Set<NavigationSuite.State> states = EnumSet.allOf(NavigationSuite.State.class);

        @Mixin
        Places places = new Places();

        @Override
        public Integer call() throws IOException {
            List<Curves> all =
                    new NavigationSuite(tweets, components, rounds, states, places.directory).run();
            Curves.writeAll(places.out, "navigation", all);
            all.forEach(curves -> System.out.println(curves.table()));
            return 0;
        }
    }

    @Command(
            name = "jmh",
            description = {
                "Measures parts alone by JMH: all whose names match REGEX, or all.",
                "Behind -- JMH's own options follow, for example: bench jmh Codec -- -prof gc",
            },
            mixinStandardHelpOptions = true)
    static final class JmhCommand implements Callable<Integer> {
        @Parameters(
                arity = "0..*",
                paramLabel = "REGEX",
                description = "what to measure, then JMH's own options")
        List<String> arguments = List.of();

        @Option(
                names = "--json",
                description = "the file for the figures (default ${DEFAULT-VALUE})")
        Path json = Path.of("docs", "experiments", "jmh.json");

        @Override
        public Integer call() throws IOException, RunnerException {
            org.openjdk.jmh.Main.main(arguments(arguments, json).toArray(String[]::new));
            return 0;
        }

        /** What JMH is given; where it is told of a file itself, that one. */
        static List<String> arguments(List<String> given, Path json) {
            List<String> all = new ArrayList<>(given);
            if (!given.contains("-rff")) {
                all.addAll(List.of("-rf", "json", "-rff", json.toString()));
            }
            return all;
        }
    }
}
