package io.turbidite.bench.api;

import static io.turbidite.ops.Predicates.eq;
import static io.turbidite.ops.Predicates.parameter;
import static io.turbidite.ops.Predicates.range;

import io.turbidite.bench.engine.Costs;
import io.turbidite.bench.engine.Scratch;
import io.turbidite.bench.report.Report;
import io.turbidite.core.log.Durability;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.ops.Order;
import io.turbidite.ops.PreparedQuery;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.sql.Sql;
import io.turbidite.ops.sql.SqlStatement;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Three short questions, asked by each of the ways that a user has: {@code get}, {@code Query},
 * prepared queries, prepared SQL, and JDBC. Each way reads every value of each row, as JDBC must.
 *
 * <p>JDBC opens stores by itself, so it has one of its own, with equal records. All ways take the
 * same keys, turn by turn, and a sum of their values must be the same.
 */
public final class StatementSuite {
    static final String GET = "get";
    static final String QUERY = "Query";
    static final String PREPARED = "prepared Query";
    static final String SQL = "prepared SQL";
    static final String JDBC = "JDBC";

    private static final int RANGE_ROWS = 50;

    /** Calls for one row in the time of one for fifty: CPU is counted in hundredths of a second. */
    private static final int SHORT_CALLS = 8;

    private static final String BY_KEY = "1 row by key";
    private static final String OF_RANGE = "50 rows of a range of keys, in their order";
    private static final String ONE_FIELD = "1 row by key, one field";

    private static final String KEY_TEXT = "select * from Records where id = ?";
    private static final String RANGE_TEXT =
            "select * from Records where id between ? and ? order by id";
    private static final String FIELD_TEXT = "select field3 from Records where id = ?";

    private final MadeRecords made;
    private final int rounds;
    private final int operations;
    private final Path directory;

    /**
     * @param records to load
     * @param rounds counted; as many warm up
     * @param operations of each kind in a round
     * @param directory for two stores; they are removed
     */
    public StatementSuite(int records, int rounds, int operations, Path directory) {
        this.made = new MadeRecords(records);
        this.rounds = rounds;
        this.operations = operations;
        this.directory = directory;
    }

    /** One question about a key; returns a sum of the values of the answer. */
    private interface Asked {
        long ask(long id) throws SQLException;
    }

    public List<Report> run() {
        Path embedded = Scratch.empty(directory.resolve("statements"));
        Path connected = Scratch.empty(directory.resolve("statements-jdbc"));
        Report cpu = report("The same by SQL and JDBC: CPU, us");
        Report heap = report("The same by SQL and JDBC: heap, KB");
        StoreOptions options = StoreOptions.defaults().withDurability(Durability.PROCESS);
        try (Store store = Store.open(connected, options)) {
            made.load(store, store.createDataset(made.spec("Records")));
        }
        try (Store store = Store.open(embedded, options)) {
            Dataset dataset = store.createDataset(made.spec("Records"));
            made.load(store, dataset);
            try (Connection connection =
                            DriverManager.getConnection("jdbc:turbidite:" + connected);
                    PreparedStatement byKey = connection.prepareStatement(KEY_TEXT);
                    PreparedStatement ofRange = connection.prepareStatement(RANGE_TEXT);
                    PreparedStatement oneField = connection.prepareStatement(FIELD_TEXT)) {
                Map<String, Map<String, Asked>> questions = questions(dataset);
                add(questions, BY_KEY, JDBC, id -> byId(byKey, id));
                add(questions, OF_RANGE, JDBC, id -> fromId(ofRange, id));
                add(questions, ONE_FIELD, JDBC, id -> byId(oneField, id));
                measure(questions, cpu, heap);
            }
        } catch (SQLException e) {
            throw new IllegalStateException("JDBC failed", e);
        }
        Scratch.delete(embedded);
        Scratch.delete(connected);
        return List.of(cpu, heap);
    }

    private Report report(String title) {
        return new Report(title, List.of(QUERY, GET, PREPARED, SQL, JDBC))
                .setting("machine", Report.machine())
                .setting(
                        "records",
                        "%,d of 1 KB, in the cache, one thread; all values of each row are read"
                                .formatted(made.count()))
                .setting(
                        "figure",
                        "a call, warm, median of %d rounds of %,d, and of %d times as many calls for one row"
                                .formatted(rounds, operations, SHORT_CALLS))
                .setting(
                        "command",
                        "./turbidite bench api --statements --records %d --rounds %d --operations %d"
                                .formatted(made.count(), rounds, operations));
    }

    private static void add(
            Map<String, Map<String, Asked>> questions, String work, String way, Asked asked) {
        questions.computeIfAbsent(work, key -> new LinkedHashMap<>()).put(way, asked);
    }

    private static Map<String, Map<String, Asked>> questions(Dataset dataset) {
        Map<String, Map<String, Asked>> all = new LinkedHashMap<>();
        add(all, BY_KEY, GET, id -> sum(dataset.get(id)));
        add(all, BY_KEY, QUERY, id -> sum(Query.on(dataset).where(eq("id", id)).run()));
        PreparedQuery byKey = Query.on(dataset).where(eq("id", parameter("id"))).prepare();
        add(all, BY_KEY, PREPARED, id -> sum(byKey.run(id)));
        Sql sql = Sql.on(dataset);
        SqlStatement keyStatement = sql.statement(KEY_TEXT);
        add(all, BY_KEY, SQL, id -> sum(keyStatement.run(RunOptions.defaults(), id)));

        add(
                all,
                OF_RANGE,
                QUERY,
                id -> sum(Query.on(dataset)
                        .where(range("id", id, id + RANGE_ROWS - 1))
                        .orderBy("id", Order.ASC)
                        .run()));
        PreparedQuery ofRange = Query.on(dataset)
                .where(range("id", parameter("low"), parameter("high")))
                .orderBy("id", Order.ASC)
                .prepare();
        add(all, OF_RANGE, PREPARED, id -> sum(ofRange.run(id, id + RANGE_ROWS - 1)));
        SqlStatement rangeStatement = sql.statement(RANGE_TEXT);
        add(
                all,
                OF_RANGE,
                SQL,
                id -> sum(rangeStatement.run(RunOptions.defaults(), id, id + RANGE_ROWS - 1)));

        add(all, ONE_FIELD, GET, id -> ofField(dataset, id));
        add(
                all,
                ONE_FIELD,
                QUERY,
                id -> sum(Query.on(dataset).where(eq("id", id)).select("field3").run()));
        PreparedQuery oneField = Query.on(dataset)
                .where(eq("id", parameter("id")))
                .select("field3")
                .prepare();
        add(all, ONE_FIELD, PREPARED, id -> sum(oneField.run(id)));
        SqlStatement fieldStatement = sql.statement(FIELD_TEXT);
        add(all, ONE_FIELD, SQL, id -> sum(fieldStatement.run(RunOptions.defaults(), id)));
        return all;
    }

    private static long byId(PreparedStatement statement, long id) throws SQLException {
        statement.setLong(1, id);
        return sum(statement);
    }

    private static long fromId(PreparedStatement statement, long id) throws SQLException {
        statement.setLong(1, id);
        statement.setLong(2, id + RANGE_ROWS - 1);
        return sum(statement);
    }

    private static long sum(PreparedStatement statement) throws SQLException {
        long sum = 0;
        try (ResultSet rows = statement.executeQuery()) {
            int columns = rows.getMetaData().getColumnCount();
            while (rows.next()) {
                for (int column = 1; column <= columns; column++) {
                    sum += value(rows.getObject(column));
                }
            }
        }
        return sum;
    }

    private static long ofField(Dataset dataset, long id) {
        Map<String, @Nullable Object> record = dataset.get(id);
        return record == null ? 0 : value(record.get("field3"));
    }

    private static long sum(QueryResult result) {
        long sum = 0;
        try (result) {
            for (Map<String, @Nullable Object> row : result) {
                sum += sum(row);
            }
        }
        return sum;
    }

    private static long sum(@Nullable Map<String, @Nullable Object> record) {
        long sum = 0;
        if (record != null) {
            for (Object value : record.values()) {
                sum += value(value);
            }
        }
        return sum;
    }

    /** A figure of a value that another value would hardly have, for next to nothing. */
    private static long value(@Nullable Object value) {
        return switch (value) {
            case String text -> text.length() * 31L + text.charAt(text.length() - 1);
            case Number number -> number.longValue() + 7;
            case null, default -> throw new IllegalStateException("a value is " + value);
        };
    }

    /** All ways of a question, turn by turn, on the same keys. */
    private void measure(Map<String, Map<String, Asked>> questions, Report cpu, Report heap)
            throws SQLException {
        for (int round = -rounds; round < rounds; round++) {
            for (Map.Entry<String, Map<String, Asked>> question : questions.entrySet()) {
                String work = question.getKey();
                int calls = work.equals(OF_RANGE) ? operations : operations * SHORT_CALLS;
                long expected = 0;
                for (Map.Entry<String, Asked> way : question.getValue().entrySet()) {
                    SplittableRandom ids = new SplittableRandom(11);
                    Asked asked = way.getValue();
                    long cpuBefore = Costs.cpuNanos();
                    long heapBefore = Costs.allocatedBytes();
                    long sum = 0;
                    for (int i = 0; i < calls; i++) {
                        sum += asked.ask(ids.nextLong(made.count() - RANGE_ROWS));
                    }
                    double bytes = (double) (Costs.allocatedBytes() - heapBefore) / calls;
                    double nanos = (double) (Costs.cpuNanos() - cpuBefore) / calls;
                    expected = expected == 0 ? sum : expected;
                    if (sum == 0 || sum != expected) {
                        throw new IllegalStateException("%s by %s sums to %d, not %d"
                                .formatted(work, way.getKey(), sum, expected));
                    }
                    if (round >= 0) {
                        cpu.add(work, way.getKey(), nanos / 1e3);
                        heap.add(work, way.getKey(), bytes / 1e3);
                    }
                }
            }
        }
    }
}
