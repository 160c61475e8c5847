package io.turbidite.bench.sql;

import io.turbidite.core.record.RecordWriter;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.WriteBatch;

import org.duckdb.DuckDBStruct;
import org.jspecify.annotations.Nullable;

import java.sql.Array;
import java.sql.Connection;
import java.sql.Date;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A DuckDB in memory, on one thread and with the order of nulls that is ours, from which datasets
 * are filled. <em>Confined to one thread.</em>
 */
public final class DuckDb implements AutoCloseable {
    private static final int BATCH_RECORDS = 1_000;

    private final Connection connection;

    private DuckDb(Connection connection) {
        this.connection = connection;
    }

    /**
     * Opens one.
     *
     * @param statements make and fill its tables
     */
    public static DuckDb of(List<String> statements) throws SQLException {
        DuckDb database = new DuckDb(DriverManager.getConnection("jdbc:duckdb:"));
        try {
            database.execute("set threads = 1");
            database.execute("set default_null_order = 'nulls_first_on_asc_last_on_desc'");
            for (String text : statements) {
                database.execute(text);
            }
            return database;
        } catch (SQLException | RuntimeException e) {
            database.close();
            throw e;
        }
    }

    /** Runs a statement whose answer nobody reads. */
    public void execute(String text) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(text);
        }
    }

    /** A statement that is planned once; close it. */
    public PreparedStatement prepare(String text) throws SQLException {
        return connection.prepareStatement(text);
    }

    /** All rows of an answer, numbers as doubles. */
    public List<List<@Nullable Object>> rows(String text) throws SQLException {
        return TwoDatabases.rows(connection, text);
    }

    /** Fills a dataset with the rows of the table that has its name, and flushes it. */
    public void copyTo(Store store, Dataset dataset) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("from " + dataset.name())) {
            ResultSetMetaData columns = rows.getMetaData();
            RecordWriter writer = dataset.newRecordWriter();
            WriteBatch batch = store.newBatch();
            int waiting = 0;
            while (rows.next()) {
                Map<String, @Nullable Object> record = new HashMap<>();
                for (int i = 1; i <= columns.getColumnCount(); i++) {
                    Object value = rows.getObject(i);
                    if (value != null) {
                        record.put(columns.getColumnName(i), ours(value));
                    }
                }
                batch.upsert(dataset, writer.write(record));
                if (++waiting == BATCH_RECORDS) {
                    store.write(batch);
                    batch.clear();
                    waiting = 0;
                }
            }
            if (waiting > 0) {
                store.write(batch);
            }
        }
        dataset.flush();
    }

    /** The value as records have it; moments are those of a clock in UTC. */
    private static Object ours(Object value) throws SQLException {
        return switch (value) {
            case Date day -> day.toLocalDate();
            case Timestamp moment -> moment.toLocalDateTime().toInstant(ZoneOffset.UTC);
            case Array array -> {
                List<@Nullable Object> elements = new ArrayList<>();
                for (Object element : (Object[]) array.getArray()) {
                    elements.add(element == null ? null : ours(element));
                }
                yield elements;
            }
            case DuckDBStruct struct -> {
                Map<String, @Nullable Object> fields = new HashMap<>();
                for (Map.Entry<String, Object> field : struct.getMap().entrySet()) {
                    if (field.getValue() != null) {
                        fields.put(field.getKey(), ours(field.getValue()));
                    }
                }
                yield fields;
            }
            default -> value;
        };
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }
}
