package io.turbidite.bench.operators;

import io.turbidite.bench.engine.Costs;
import io.turbidite.bench.engine.Scratch;
import io.turbidite.bench.report.Aims;
import io.turbidite.bench.report.Report;
import io.turbidite.bench.sql.DuckDb;
import io.turbidite.bench.sql.FlightStatements;
import io.turbidite.bench.sql.TwoDatabases;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.sql.Sql;
import io.turbidite.ops.sql.SqlStatement;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What operators cost beside DuckDB's, statements planned once, values read typed: CPU time of the
 * whole process. Then what two partitions bring, what spilling costs, and what JDBC adds. Each
 * answer is compared first.
 */
public final class OperatorSuite {
    private static final String OURS = "Turbidite";
    private static final String THEIRS = "DuckDB";
    private static final String WHOLE = "all in memory";
    private static final String TENTH = "a tenth of it";
    private static final String ONE = "1 partition";
    private static final String TWO = "2 partitions";
    private static final String TYPED = "typed rows";
    private static final String JDBC = "JDBC";

    /** CPU of a process is counted in hundredths of a second, so short ones are asked often. */
    private static final long ROUND_NANOS_MIN = 200_000_000;

    /** CPU of a statement before it is counted: a count of all records was compiled behind 1 s. */
    private static final long WARMING_NANOS_MIN = 2_000_000_000;

    /** What ours may cost, in DuckDB's CPU. */
    private static final Map<String, Double> AT_MOST = new LinkedHashMap<>();

    static {
        AT_MOST.put(FlightStatements.BY_KEY, 0.015);
        AT_MOST.put("secondary = value, all fields", 0.05);
        AT_MOST.put("count(*)", 15.0);
        AT_MOST.put(FlightStatements.OF_RANGE, 14.0);
        AT_MOST.put(FlightStatements.BY_DEST, 4.0);
        AT_MOST.put(FlightStatements.BY_TAIL, 5.0);
        AT_MOST.put("top 10 of all by arr_delay", 8.0);
        AT_MOST.put(FlightStatements.SORTED, 5.0);
        AT_MOST.put(FlightStatements.JOINED, 4.0);
        AT_MOST.put(TweetStatements.HASH_JOIN, 4.0);
        AT_MOST.put(TweetStatements.LOOKUP_JOIN, 0.7);
        AT_MOST.put(TweetStatements.RECENT, 0.5);
        AT_MOST.put(TweetStatements.EITHER, 0.3);
        AT_MOST.put(TweetStatements.BOTH, 0.3);
    }

    /**
     * A statement that holds much.
     *
     * @param bytes what it holds, about, without spilling
     */
    private record Large(String work, String text, long bytes) {}

    private static final List<Large> LARGE = List.of(
            new Large(
                    "sort all by three columns",
                    "select dest_name, dest, id from Flights order by dest_name, dest, id",
                    32L << 20),
            new Large(
                    "group by dest, flight, carrier",
                    "select dest, flight, carrier, count(*) as n, max(arr_delay_min) as late from Flights group by dest, flight, carrier",
                    4L << 20),
            new Large(
                    "join of flights with themselves",
                    "select count(*) as n, sum(a.distance_mi) as far from Flights a join Flights b on a.id = b.id + 1 and a.dest_name = b.dest_name",
                    40L << 20));

    private static final Set<String> SPLIT = Set.of(
            FlightStatements.OF_RANGE,
            FlightStatements.BY_DEST,
            FlightStatements.BY_TAIL,
            FlightStatements.SORTED,
            FlightStatements.JOINED);

    private final Path flights;
    private final int tweets;
    private final int rounds;
    private final Path directory;

    /**
     * @param flights the sample of flights, CSV, gzipped
     * @param tweets how many are made
     * @param rounds counted
     * @param directory for the stores; emptied
     */
    public OperatorSuite(Path flights, int tweets, int rounds, Path directory) {
        this.flights = flights;
        this.tweets = tweets;
        this.rounds = rounds;
        this.directory = directory;
    }

    /** Asks once, reads all. */
    @FunctionalInterface
    private interface Asked {
        double ask() throws SQLException;
    }

    /** A statement here; text and all that is read of it. */
    private record Ours(SqlStatement statement, Values values) {
        static Ours of(Store store, String text) {
            SqlStatement statement = Sql.on(store.datasets()).statement(text);
            return new Ours(statement, new Values(statement.type()));
        }

        double ask(RunOptions options) {
            return values.read(statement.run(options));
        }
    }

    public List<Report> run() throws SQLException {
        Path place = Scratch.empty(directory.resolve("operators"));
        Report cpu = report("Operators: CPU, ms", List.of(OURS, THEIRS));
        Report spilled = report("Operators that spill: CPU, ms", List.of(WHOLE, TENTH));
        Report partitions = report("Operators: ms by the clock", List.of(ONE, TWO));
        Report jdbc = report("100,000 rows by JDBC: CPU, ms", List.of(TYPED, JDBC));
        try (DuckDb duckDb = DuckDb.of(FlightStatements.tables(flights));
                Store store = store(place.resolve("flights"));
                Store twice = store(place.resolve("two"))) {
            fill(duckDb, store, FlightStatements.specs(1));
            fill(duckDb, twice, FlightStatements.specs(2));
            compare(duckDb, store, FlightStatements.texts(), cpu);
            spill(store, spilled);
            split(store, twice, partitions);
        }
        jdbc(place.resolve("two"), place.resolve("flights"), jdbc);
        Scratch.empty(place);
        TweetStatements made = new TweetStatements(tweets);
        try (DuckDb duckDb = DuckDb.of(made.tables());
                Store store = store(place.resolve("tweets"))) {
            fill(duckDb, store, TweetStatements.specs());
            compare(duckDb, store, made.texts(), cpu);
        }
        Scratch.delete(place);
        return List.of(aims(cpu, spilled, partitions, jdbc), cpu, spilled, partitions, jdbc);
    }

    private static Store store(Path place) {
        return Store.open(place, StoreOptions.builder().cacheBytes(2L << 30).build());
    }

    private static void fill(DuckDb duckDb, Store store, List<DatasetSpec> specs)
            throws SQLException {
        for (DatasetSpec spec : specs) {
            Dataset dataset = store.createDataset(spec);
            duckDb.copyTo(store, dataset);
        }
    }

    private Report report(String title, List<String> columns) {
        return new Report(title, columns)
                .setting("machine", Report.machine())
                .setting(
                        "data",
                        "336,776 flights of eleven fields and their 4,043 aircraft; %,d tweets of about 80 bytes, 100 of each user; in the cache; DuckDB in memory, threads = 1"
                                .formatted(tweets))
                .setting(
                        "figure",
                        "a statement that is planned once, all values read typed; median of %d rounds of 0.2 s CPU or more, behind 2 s that warm up"
                                .formatted(rounds))
                .setting(
                        "command",
                        "./turbidite bench operators --tweets %d --rounds %d"
                                .formatted(tweets, rounds));
    }

    private void compare(DuckDb duckDb, Store store, Map<String, String> texts, Report report)
            throws SQLException {
        for (Map.Entry<String, String> entry : texts.entrySet()) {
            String text = entry.getValue();
            Ours ours = Ours.of(store, text);
            String difference = TwoDatabases.difference(
                    ours.values().rows(ours.statement().run()),
                    duckDb.rows(text),
                    text.contains("order by"));
            if (difference != null) {
                throw new IllegalStateException(text + ": " + difference);
            }
            try (PreparedStatement theirs = duckDb.prepare(text)) {
                RunOptions options = RunOptions.defaults();
                inTurn(
                        report,
                        entry.getKey(),
                        OURS,
                        () -> ours.ask(options),
                        THEIRS,
                        () -> ours.values().read(theirs.executeQuery()));
            }
        }
    }

    private void spill(Store store, Report report) throws SQLException {
        for (Large large : LARGE) {
            Ours ours = Ours.of(store, large.text());
            RunOptions whole = RunOptions.defaults().withMemoryBytesMax(4 * large.bytes());
            RunOptions tenth = RunOptions.defaults().withMemoryBytesMax(large.bytes() / 10);
            check(large.text(), ours.ask(whole), ours.ask(tenth));
            inTurn(
                    report,
                    large.work(),
                    WHOLE,
                    () -> ours.ask(whole),
                    TENTH,
                    () -> ours.ask(tenth));
        }
    }

    /** Both by the clock: what a second processor brings is to be seen there alone. */
    private void split(Store one, Store two, Report report) throws SQLException {
        for (Map.Entry<String, String> entry : FlightStatements.texts().entrySet()) {
            String work = entry.getKey();
            if (!SPLIT.contains(work)) {
                continue;
            }
            String text = entry.getValue();
            Ours ofOne = Ours.of(one, text);
            Ours ofTwo = Ours.of(two, text);
            RunOptions options = RunOptions.defaults();
            check(text, ofOne.ask(options), ofTwo.ask(options));
            warm(() -> ofOne.ask(options));
            warm(() -> ofTwo.ask(options));
            for (int round = 0; round < rounds; round++) {
                report.add(work, ONE, clockMillis(() -> ofOne.ask(options)));
                report.add(work, TWO, clockMillis(() -> ofTwo.ask(options)));
            }
        }
    }

    /** Two stores: one that is opened by JDBC is the driver's. */
    private void jdbc(Path embedded, Path connected, Report report) throws SQLException {
        String text = "select id, dest, tailnum, distance_mi from Flights limit 100000";
        try (Store store = store(embedded);
                Connection connection = DriverManager.getConnection("jdbc:turbidite:" + connected);
                PreparedStatement byJdbc = connection.prepareStatement(text)) {
            Ours ours = Ours.of(store, text);
            inTurn(
                    report,
                    "4 values of each",
                    TYPED,
                    () -> ours.ask(RunOptions.defaults()),
                    JDBC,
                    () -> ours.values().read(byJdbc.executeQuery()));
        }
    }

    private static void check(String text, double a, double b) {
        if (a == 0 || Math.abs(a - b) > 1e-9 * Math.abs(a)) {
            throw new IllegalStateException("%s: %s and %s".formatted(text, a, b));
        }
    }

    private void inTurn(
            Report report, String work, String first, Asked one, String second, Asked other)
            throws SQLException {
        warm(one);
        warm(other);
        for (int round = 0; round < rounds; round++) {
            report.add(work, first, cpuMillis(one));
            report.add(work, second, cpuMillis(other));
        }
    }

    private static void warm(Asked asked) throws SQLException {
        long before = Costs.cpuNanos();
        do {
            ask(asked);
        } while (Costs.cpuNanos() - before < WARMING_NANOS_MIN);
    }

    private static void ask(Asked asked) throws SQLException {
        if (asked.ask() == 0) {
            throw new IllegalStateException("a statement has no answer");
        }
    }

    /** CPU of one call, of as many as take the least time that can be counted. */
    private static double cpuMillis(Asked asked) throws SQLException {
        long before = Costs.cpuNanos();
        long spent = 0;
        int calls = 0;
        while (spent < ROUND_NANOS_MIN) {
            ask(asked);
            calls++;
            // the clock is asked for after 1, 2, 4, … calls
            if (Integer.bitCount(calls) == 1) {
                spent = Costs.cpuNanos() - before;
            }
        }
        return (double) spent / calls / 1e6;
    }

    private static double clockMillis(Asked asked) throws SQLException {
        long before = System.nanoTime();
        long spent = 0;
        int calls = 0;
        for (; spent < ROUND_NANOS_MIN; calls++) {
            ask(asked);
            spent = System.nanoTime() - before;
        }
        return (double) spent / calls / 1e6;
    }

    private Report aims(Report cpu, Report spilled, Report partitions, Report jdbc) {
        Aims aims = new Aims();
        AT_MOST.forEach((work, most) -> aims.atMost(
                "CPU : DuckDB's, " + work,
                most,
                cpu.figure(work, OURS) / cpu.figure(work, THEIRS)));
        for (String work : spilled.works()) {
            aims.atMost(
                    "CPU, a tenth of the memory : all, " + work,
                    3,
                    spilled.figure(work, TENTH) / spilled.figure(work, WHOLE));
        }
        for (String work : partitions.works()) {
            aims.atLeast(
                    "rate, 2 partitions : 1, " + work,
                    1.7,
                    partitions.figure(work, ONE) / partitions.figure(work, TWO));
        }
        for (String work : jdbc.works()) {
            aims.atMost(
                    "CPU, JDBC : typed rows, " + work,
                    1.15,
                    jdbc.figure(work, JDBC) / jdbc.figure(work, TYPED));
        }
        return aims.into(report("Operators: the aims", Aims.COLUMNS));
    }
}
