package io.turbidite.bench.sql;

import io.turbidite.bench.engine.Costs;
import io.turbidite.bench.engine.Scratch;
import io.turbidite.bench.report.Report;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
import java.sql.SQLException;
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
        try (TwoDatabases both = TwoDatabases.of(
                place, FlightStatements.tables(flights), FlightStatements.specs(1))) {
            for (Map.Entry<String, String> entry : FlightStatements.texts().entrySet()) {
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
