package io.turbidite.ops.jdbc;

import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.InputStream;
import java.io.Reader;
import java.io.StringWriter;
import java.math.BigDecimal;
import java.sql.Date;
import java.sql.ParameterMetaData;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.SQLType;
import java.sql.Time;
import java.sql.Timestamp;
import java.sql.Types;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Calendar;
import java.util.List;

/**
 * A statement that is planned once and run with values. It is planned anew when datasets have come
 * or gone.
 */
final class StorePreparedStatement extends StoreStatement implements PlainParameters {
    private final String sql;
    private final List<@Nullable Object[]> batch = new ArrayList<>();
    private final BitSet given = new BitSet();
    private Session.Plan planned;
    private Parameters parameters;
    private @Nullable Object[] values;

    StorePreparedStatement(StoreConnection connection, String sql) throws SQLException {
        super(connection);
        this.sql = sql;
        this.planned = planned(sql, begun());
        this.parameters = parametersOf(planned);
        this.values = new @Nullable Object[parameters.getParameterCount()];
    }

    private static Parameters parametersOf(Session.Plan planned) {
        return new Parameters(Session.kinds(planned.parameters()));
    }

    /** The statement, planned for the datasets there are, with all values given. */
    private Session.Plan ready() throws SQLException {
        checkOpen();
        checkGiven();
        return current(false);
    }

    /**
     * The statement, planned for the datasets there are; other ones may give it other types.
     *
     * @param asks whether that is worth to ask another process
     */
    private Session.Plan current(boolean asks) throws SQLException {
        if (!planned.isCurrent(asks)) {
            planned = replanned(sql);
            parameters = parametersOf(planned);
        }
        return planned;
    }

    private void checkGiven() throws SQLException {
        int missing = given.nextClearBit(0);
        if (missing < values.length) {
            throw Errors.of(
                    "parameter %d of %d has no value".formatted(missing + 1, values.length),
                    Errors.PARAMETER);
        }
    }

    @Override
    public ResultSet executeQuery() throws SQLException {
        return rows(ready(), values);
    }

    @Override
    public boolean execute() throws SQLException {
        return done(ready(), values);
    }

    @Override
    public long executeLargeUpdate() throws SQLException {
        return changed(ready(), values);
    }

    @Override
    public int executeUpdate() throws SQLException {
        return bounded(executeLargeUpdate());
    }

    @Override
    public void addBatch() throws SQLException {
        checkOpen();
        checkGiven();
        batch.add(values.clone());
    }

    @Override
    public void clearBatch() throws SQLException {
        super.clearBatch();
        batch.clear();
    }

    @Override
    public int[] executeBatch() throws SQLException {
        checkOpen();
        int[] counts = new int[batch.size()];
        List<@Nullable Object[]> runs = List.copyOf(batch);
        batch.clear();
        for (int i = 0; i < counts.length; i++) {
            try {
                checkOpen();
                // what was set for the next run stays
                counts[i] = bounded(changed(current(false), runs.get(i)));
            } catch (SQLException e) {
                throw failed(e, counts, i);
            }
        }
        return counts;
    }

    private static SQLException prepared() {
        return Errors.of("a prepared statement runs its own text", Errors.ARGUMENT);
    }

    @Override
    public ResultSet executeQuery(String other) throws SQLException {
        throw prepared();
    }

    @Override
    public boolean execute(String other) throws SQLException {
        throw prepared();
    }

    @Override
    public int executeUpdate(String other) throws SQLException {
        throw prepared();
    }

    @Override
    public long executeLargeUpdate(String other) throws SQLException {
        throw prepared();
    }

    @Override
    public void addBatch(String other) throws SQLException {
        throw prepared();
    }

    @Override
    public void clearParameters() throws SQLException {
        checkOpen();
        given.clear();
        Arrays.fill(values, null);
    }

    @Override
    public @Nullable ResultSetMetaData getMetaData() throws SQLException {
        checkOpen();
        Session.Plan now = current(true);
        return now.givesRows() ? now.columns() : null;
    }

    @Override
    public ParameterMetaData getParameterMetaData() throws SQLException {
        checkOpen();
        var _ = current(true);
        return parameters;
    }

    private void set(int number, @Nullable Object value) throws SQLException {
        set(number, value, null);
    }

    private void set(int number, @Nullable Object value, @Nullable Calendar calendar)
            throws SQLException {
        checkOpen();
        var _ = current(false);
        TypeKind kind = parameters.kind(number);
        values[number - 1] = value == null ? null : Conversions.parameter(kind, value, calendar);
        given.set(number - 1);
    }

    @Override
    public void setNull(int number, int type) throws SQLException {
        set(number, null);
    }

    @Override
    public void setNull(int number, int type, String name) throws SQLException {
        set(number, null);
    }

    @Override
    public void setBoolean(int number, boolean value) throws SQLException {
        set(number, value);
    }

    @Override
    public void setByte(int number, byte value) throws SQLException {
        set(number, value);
    }

    @Override
    public void setShort(int number, short value) throws SQLException {
        set(number, value);
    }

    @Override
    public void setInt(int number, int value) throws SQLException {
        set(number, value);
    }

    @Override
    public void setLong(int number, long value) throws SQLException {
        set(number, value);
    }

    @Override
    public void setFloat(int number, float value) throws SQLException {
        set(number, value);
    }

    @Override
    public void setDouble(int number, double value) throws SQLException {
        set(number, value);
    }

    @Override
    public void setBigDecimal(int number, @Nullable BigDecimal value) throws SQLException {
        set(number, value);
    }

    @Override
    public void setString(int number, @Nullable String value) throws SQLException {
        set(number, value);
    }

    @Override
    public void setNString(int number, @Nullable String value) throws SQLException {
        set(number, value);
    }

    @Override
    public void setBytes(int number, byte @Nullable [] value) throws SQLException {
        set(number, value);
    }

    @Override
    public void setDate(int number, @Nullable Date value) throws SQLException {
        set(number, value);
    }

    @Override
    public void setTime(int number, @Nullable Time value) throws SQLException {
        set(number, value);
    }

    @Override
    public void setTimestamp(int number, @Nullable Timestamp value) throws SQLException {
        set(number, value);
    }

    @Override
    public void setObject(int number, @Nullable Object value) throws SQLException {
        set(number, value);
    }

    @Override
    public void setObject(int number, @Nullable Object value, int type) throws SQLException {
        setObject(number, value, type, 0);
    }

    @Override
    public void setObject(int number, @Nullable Object value, int type, int scaleOrLength)
            throws SQLException {
        set(number, value == null ? null : as(value, type));
    }

    @Override
    public void setObject(int number, @Nullable Object value, SQLType type) throws SQLException {
        setObject(number, value, type.getVendorTypeNumber(), 0);
    }

    @Override
    public void setObject(int number, @Nullable Object value, SQLType type, int scaleOrLength)
            throws SQLException {
        setObject(number, value, type.getVendorTypeNumber(), scaleOrLength);
    }

    /** The value as the type of JDBC that is named for it. */
    private static Object as(Object value, int type) throws SQLException {
        return switch (type) {
            case Types.BIT, Types.BOOLEAN -> Conversions.truth(value);
            case Types.TINYINT, Types.SMALLINT, Types.INTEGER, Types.BIGINT ->
                Conversions.whole(value, Long.MIN_VALUE, Long.MAX_VALUE, "a whole number");
            case Types.REAL, Types.FLOAT, Types.DOUBLE -> Conversions.real(value, "a double");
            case Types.NUMERIC, Types.DECIMAL -> Conversions.decimal(value, "a decimal");
            case Types.CHAR, Types.VARCHAR, Types.LONGVARCHAR, Types.NCHAR, Types.NVARCHAR ->
                Conversions.text(value);
            default -> value;
        };
    }

    @Override
    public void setDate(int number, @Nullable Date value, @Nullable Calendar calendar)
            throws SQLException {
        set(number, value, calendar);
    }

    @Override
    public void setTime(int number, @Nullable Time value, @Nullable Calendar calendar)
            throws SQLException {
        set(number, value, calendar);
    }

    @Override
    public void setTimestamp(int number, @Nullable Timestamp value, @Nullable Calendar calendar)
            throws SQLException {
        set(number, value, calendar);
    }

    @Override
    public void setCharacterStream(int number, @Nullable Reader value) throws SQLException {
        set(number, value == null ? null : text(value));
    }

    @Override
    public void setCharacterStream(int number, @Nullable Reader value, int length)
            throws SQLException {
        setCharacterStream(number, value, (long) length);
    }

    @Override
    public void setCharacterStream(int number, @Nullable Reader value, long length)
            throws SQLException {
        if (value == null) {
            set(number, null);
            return;
        }
        String text = text(value);
        set(number, text.substring(0, (int) Math.min(length, text.length())));
    }

    @Override
    public void setBinaryStream(int number, @Nullable InputStream value) throws SQLException {
        setBinaryStream(number, value, Integer.MAX_VALUE);
    }

    @Override
    public void setBinaryStream(int number, @Nullable InputStream value, int length)
            throws SQLException {
        try {
            set(number, value == null ? null : value.readNBytes(length));
        } catch (IOException e) {
            throw new SQLException("the stream can't be read: " + e.getMessage(), "58030", e);
        }
    }

    @Override
    public void setBinaryStream(int number, @Nullable InputStream value, long length)
            throws SQLException {
        setBinaryStream(number, value, (int) Math.min(length, Integer.MAX_VALUE));
    }

    private static String text(Reader reader) throws SQLException {
        try {
            StringWriter text = new StringWriter();
            long _ = reader.transferTo(text);
            return text.toString();
        } catch (IOException e) {
            throw new SQLException("the stream can't be read: " + e.getMessage(), "58030", e);
        }
    }
}
