package io.turbidite.bench.sql;

import io.turbidite.bench.engine.Costs;
import io.turbidite.bench.engine.Scratch;
import io.turbidite.bench.report.Report;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What statements over flights cost here and in DuckDB: CPU time of the whole process, both by
 * JDBC, one thread each, everything in memory. DuckDB reads columns, a record store reads rows, so
 * scans of a field or two are its home. Each answer is compared first.
 */
public final class SqlSuite {
    private static final String OURS = "Turbidite";
    private static final String THEIRS = "DuckDB";

    /** CPU of a process is counted in hundredths of a second, so short ones are asked often. */
    private static final long ROUND_NANOS_MIN = 200_000_000;

    private static final Map<String, String> STATEMENTS = new LinkedHashMap<>();

    static {
        STATEMENTS.put("1 row by key", "select * from Flights where id = 170000");
        STATEMENTS.put(
                "secondary = value, all fields", "select * from Flights where tailnum = 'N14228'");
        STATEMENTS.put("count(*)", "select count(*) from Flights");
        STATEMENTS.put(
                "count with a range, full scan",
                "select count(*) from Flights where distance_mi between 500 and 1000");
        STATEMENTS.put(
                "group by dest, count", "select dest, count(*) as n from Flights group by dest");
        STATEMENTS.put(
                "group by tailnum: count, sum, avg, max",
                "select tailnum, count(*) as n, sum(distance_mi) as far, avg(arr_delay_min) as late, max(dep_delay_min) as worst from Flights group by tailnum");
        STATEMENTS.put(
                "top 10 of all by arr_delay",
                "select id, arr_delay_min from Flights order by arr_delay_min desc, id limit 10");
        STATEMENTS.put("sort all, two columns", "select dest, id from Flights order by dest, id");
        STATEMENTS.put(
                "join of aircraft, sum by group",
                "select a.maker, sum(f.distance_mi) as far from Flights f join Aircraft a on f.tailnum = a.tailnum group by a.maker");
    }

    private final Path flights;
    private final int rounds;
    private final Path directory;

    /**
     * @param flights the sample of flights, CSV, gzipped
     * @param rounds counted; as many warm up
     * @param directory for the store; emptied
     */
    public SqlSuite(Path flights, int rounds, Path directory) {
        this.flights = flights;
        this.rounds = rounds;
        this.directory = directory;
    }

    private List<String> tables() {
        return List.of(
                "create table Flights as select id::bigint as id, carrier, flight::int as flight, tailnum, origin, dest, dest_name, dep_delay_min::int as dep_delay_min, arr_delay_min::int as arr_delay_min, air_time_min::int as air_time_min, distance_mi::int as distance_mi from read_csv('%s', nullstr = '')"
                        .formatted(flights.toString().replace("'", "''")),
                "create table Aircraft as select distinct tailnum, 'maker' || hash(tailnum) % 20 as maker from Flights where tailnum is not null");
    }

    private static List<DatasetSpec> specs() {
        return List.of(
                DatasetSpec.named("Flights")
                        .field("id", "int64")
                        .field("carrier", "string")
                        .field("flight", "int32")
                        .field("tailnum", "string?")
                        .field("origin", "string")
                        .field("dest", "string")
                        .field("dest_name", "string?")
                        .field("dep_delay_min", "int32?")
                        .field("arr_delay_min", "int32?")
                        .field("air_time_min", "int32?")
                        .field("distance_mi", "int32")
                        .primaryKey("id")
                        .index(IndexSpec.btree("by_tail", "tailnum")),
                DatasetSpec.named("Aircraft")
                        .field("tailnum", "string")
                        .field("maker", "string")
                        .primaryKey("tailnum"));
    }

    public List<Report> run() throws SQLException {
        Path place = Scratch.empty(directory.resolve("sql"));
        Report report = new Report("Statements of SQL: CPU, ms", List.of(OURS, THEIRS))
                .setting("machine", Report.machine())
                .setting(
                        "data",
                        "336,776 flights of eleven fields and their 4,043 aircraft, in the cache; DuckDB in memory, threads = 1")
                .setting(
                        "figure",
                        "a statement as text by JDBC, planned each time where the plan is not kept, all values read; median of %d warm rounds of 0.2 s CPU or more"
                                .formatted(rounds))
                .setting("command", "./turbidite bench sql --rounds %d".formatted(rounds));
        try (TwoDatabases both = TwoDatabases.of(place, tables(), specs())) {
            for (Map.Entry<String, String> entry : STATEMENTS.entrySet()) {
                String text = entry.getValue();
                String difference = TwoDatabases.difference(
                        both.ours(text), both.theirs(text), text.contains("order by"));
                if (difference != null) {
                    throw new IllegalStateException(text + ": " + difference);
                }
                for (int round = -rounds; round < rounds; round++) {
                    double ours = millis(() -> both.ours(text));
                    double theirs = millis(() -> both.theirs(text));
                    if (round >= 0) {
                        report.add(entry.getKey(), OURS, ours);
                        report.add(entry.getKey(), THEIRS, theirs);
                    }
                }
            }
        }
        Scratch.delete(place);
        return List.of(report);
    }

    private interface Asked {
        List<List<@Nullable Object>> ask() throws SQLException;
    }

    /** CPU of one call, of as many as take the least time that can be counted. */
    private static double millis(Asked asked) throws SQLException {
        long before = Costs.cpuNanos();
        long spent = 0;
        int calls = 0;
        while (spent < ROUND_NANOS_MIN) {
            if (asked.ask().isEmpty()) {
                throw new IllegalStateException("a statement has no answer");
            }
            calls++;
            // the clock is asked for after 1, 2, 4, … calls
            if (Integer.bitCount(calls) == 1) {
                spent = Costs.cpuNanos() - before;
            }
        }
        return (double) spent / calls / 1e6;
    }
}
