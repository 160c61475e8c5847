package io.turbidite.bench.sql;

import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
import java.sql.Array;
import java.sql.Connection;
import java.sql.Date;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/**
 * A store and a DuckDB in memory with the same rows, both asked by JDBC. DuckDB has the rows first;
 * the store gets them from it.
 * <em>Confined to one thread.</em>
 */
public final class TwoDatabases implements AutoCloseable {
    /** Doubles that differ by no more than this part of themselves are equal. */
    private static final double TOLERANCE = 1e-9;

    private final DuckDb duckDb;
    private final Connection turbidite;

    private TwoDatabases(DuckDb duckDb, Connection turbidite) {
        this.duckDb = duckDb;
        this.turbidite = turbidite;
    }

    /**
     * Makes both.
     *
     * @param directory of a store that is not there yet
     * @param statements make and fill tables in DuckDB
     * @param specs what of them the store has, field by field the columns of the table of that name
     */
    public static TwoDatabases of(Path directory, List<String> statements, List<DatasetSpec> specs)
            throws SQLException {
        DuckDb duckDb = DuckDb.of(statements);
        try {
            try (Store store = Store.open(directory, StoreOptions.defaults())) {
                for (DatasetSpec spec : specs) {
                    duckDb.copyTo(store, store.createDataset(spec));
                }
            }
            return new TwoDatabases(
                    duckDb, DriverManager.getConnection("jdbc:turbidite:" + directory));
        } catch (SQLException | RuntimeException e) {
            duckDb.close();
            throw e;
        }
    }

    /** What the store answers, a list of values for each row. */
    public List<List<@Nullable Object>> ours(String statement) throws SQLException {
        return rows(turbidite, statement);
    }

    /** What DuckDB answers. */
    public List<List<@Nullable Object>> theirs(String statement) throws SQLException {
        return duckDb.rows(statement);
    }

    static List<List<@Nullable Object>> rows(Connection connection, String text)
            throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(text)) {
            int columnCount = rows.getMetaData().getColumnCount();
            List<List<@Nullable Object>> all = new ArrayList<>();
            while (rows.next()) {
                List<@Nullable Object> row = new ArrayList<>(columnCount);
                for (int i = 1; i <= columnCount; i++) {
                    row.add(
                            rows.getMetaData().getColumnType(i) == Types.TIMESTAMP
                                    ? rows.getObject(i, LocalDateTime.class)
                                    : plain(rows.getObject(i)));
                }
                all.add(row);
            }
            return all;
        }
    }

    /**
     * Numbers as doubles, which hold all whole ones asked for here; days as their text, arrays as
     * lists.
     */
    private static @Nullable Object plain(@Nullable Object value) throws SQLException {
        return switch (value) {
            case null -> null;
            case Number number -> number.doubleValue() + 0.0;
            case Date day -> day.toLocalDate().toString();
            case LocalDate day -> day.toString();
            case Array array -> {
                List<@Nullable Object> elements = new ArrayList<>();
                for (Object element : (Object[]) array.getArray()) {
                    elements.add(plain(element));
                }
                yield elements;
            }
            default -> value;
        };
    }

    /**
     * How two answers differ; null: they are equal.
     *
     * @param isOrdered whether the order of rows is asked for, to the last of them
     */
    public static @Nullable String difference(
            List<List<@Nullable Object>> ours,
            List<List<@Nullable Object>> theirs,
            boolean isOrdered) {
        if (ours.size() != theirs.size()) {
            return "%d rows, %d in DuckDB".formatted(ours.size(), theirs.size());
        }
        List<List<@Nullable Object>> left = isOrdered ? ours : sorted(ours);
        List<List<@Nullable Object>> right = isOrdered ? theirs : sorted(theirs);
        for (int i = 0; i < left.size(); i++) {
            if (!areEqual(left.get(i), right.get(i))) {
                return "row %d is %s, %s in DuckDB".formatted(i, left.get(i), right.get(i));
            }
        }
        return null;
    }

    /** By what is exact first: means may differ in their last digits. */
    private static List<List<@Nullable Object>> sorted(List<List<@Nullable Object>> rows) {
        return rows.stream()
                .sorted((a, b) -> {
                    for (int i = 0; i < a.size(); i++) {
                        int order = key(a.get(i)).compareTo(key(b.get(i)));
                        if (order != 0) {
                            return order;
                        }
                    }
                    return 0;
                })
                .toList();
    }

    private static String key(@Nullable Object value) {
        // to six digits: what is nearer than the tolerance must come in one order
        return value instanceof Double number
                ? String.format(Locale.ROOT, "%.6g", number)
                : String.valueOf(value);
    }

    private static boolean areEqual(List<@Nullable Object> a, List<@Nullable Object> b) {
        if (a.size() != b.size()) {
            return false;
        }
        for (int i = 0; i < a.size(); i++) {
            Object left = a.get(i);
            Object right = b.get(i);
            boolean isEqual = (left instanceof Double x && right instanceof Double y)
                    ? Math.abs(x - y) <= TOLERANCE * Math.max(1, Math.abs(x)) || x.equals(y)
                    : Objects.equals(left, right);
            if (!isEqual) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void close() throws SQLException {
        try (duckDb) {
            turbidite.close();
        }
    }
}
