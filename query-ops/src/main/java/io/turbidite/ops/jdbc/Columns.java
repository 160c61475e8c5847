package io.turbidite.ops.jdbc;

import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The columns of a result. <em>Immutable.</em> */
final class Columns implements ResultSetMetaData {
    private final List<Field> fields;
    private final Map<String, Integer> byLabel = new HashMap<>();

    Columns(List<Field> fields) {
        this.fields = fields;
        for (int i = fields.size() - 1; i >= 0; i--) {
            byLabel.put(fields.get(i).name().toLowerCase(Locale.ROOT), i);
        }
        for (int i = fields.size() - 1; i >= 0; i--) {
            byLabel.put(fields.get(i).name(), i);
        }
    }

    List<Field> fields() {
        return fields;
    }

    static Columns of(RecordType type) {
        return new Columns(type.declared());
    }

    /** Columns of texts and numbers, as descriptions of a store have them. */
    static Columns described(String... namesAndTypes) {
        List<Field> fields = new ArrayList<>();
        for (String one : namesAndTypes) {
            boolean isNumber = one.endsWith("#");
            boolean isTruth = one.endsWith("!");
            String name = isNumber || isTruth ? one.substring(0, one.length() - 1) : one;
            fields.add(new Field(
                    name,
                    isNumber ? TypeKind.INT32 : isTruth ? TypeKind.BOOL : TypeKind.STRING,
                    true));
        }
        return new Columns(fields);
    }

    /** For each column its place in records of the type. */
    int[] placesIn(RecordType type) {
        return fields.stream()
                .mapToInt(field -> type.memberOf(RecordType.TOP, field.name()))
                .toArray();
    }

    boolean[] areWhole() {
        boolean[] whole = new boolean[fields.size()];
        for (int i = 0; i < whole.length; i++) {
            whole[i] = switch (fields.get(i).kind()) {
                case INT8, INT16, INT32, INT64 -> true;
                default -> false;
            };
        }
        return whole;
    }

    /** The place of a column by its name, from 0. */
    int find(String label) throws SQLException {
        Integer exact = byLabel.get(label);
        Integer found = exact == null && label != null
                ? byLabel.get(label.toLowerCase(Locale.ROOT))
                : exact;
        if (found == null) {
            throw Errors.of("there is no column '%s'".formatted(label), Errors.NO_COLUMN);
        }
        return found;
    }

    /** The place of a column by its number, from 0. */
    int find(int number) throws SQLException {
        if (number < 1 || number > fields.size()) {
            throw Errors.of(
                    "there is no column %d: they are 1 to %d".formatted(number, fields.size()),
                    Errors.NO_COLUMN);
        }
        return number - 1;
    }

    private Field field(int number) throws SQLException {
        return fields.get(find(number));
    }

    private ColumnType type(int number) throws SQLException {
        return ColumnType.of(field(number).kind());
    }

    @Override
    public int getColumnCount() {
        return fields.size();
    }

    @Override
    public String getColumnLabel(int column) throws SQLException {
        return field(column).name();
    }

    @Override
    public String getColumnName(int column) throws SQLException {
        return field(column).name();
    }

    @Override
    public int getColumnType(int column) throws SQLException {
        return type(column).code();
    }

    @Override
    public String getColumnTypeName(int column) throws SQLException {
        return type(column).name();
    }

    @Override
    public String getColumnClassName(int column) throws SQLException {
        return type(column).of().getName();
    }

    @Override
    public int getColumnDisplaySize(int column) throws SQLException {
        int precision = type(column).precision();
        return precision == 0 ? 40 : precision + 2;
    }

    @Override
    public int getPrecision(int column) throws SQLException {
        return type(column).precision();
    }

    @Override
    public int getScale(int column) throws SQLException {
        return type(column).scale();
    }

    @Override
    public int isNullable(int column) throws SQLException {
        return field(column).optional() ? columnNullable : columnNoNulls;
    }

    @Override
    public boolean isSigned(int column) throws SQLException {
        return type(column).isSigned();
    }

    @Override
    public boolean isCaseSensitive(int column) throws SQLException {
        return field(column).kind() == TypeKind.STRING;
    }

    @Override
    public boolean isSearchable(int column) throws SQLException {
        return field(column).kind().isScalar();
    }

    @Override
    public boolean isAutoIncrement(int column) throws SQLException {
        find(column);
        return false;
    }

    @Override
    public boolean isCurrency(int column) throws SQLException {
        find(column);
        return false;
    }

    @Override
    public boolean isReadOnly(int column) throws SQLException {
        find(column);
        return true;
    }

    @Override
    public boolean isWritable(int column) throws SQLException {
        find(column);
        return false;
    }

    @Override
    public boolean isDefinitelyWritable(int column) throws SQLException {
        find(column);
        return false;
    }

    @Override
    public String getSchemaName(int column) throws SQLException {
        find(column);
        return "";
    }

    @Override
    public String getTableName(int column) throws SQLException {
        find(column);
        return "";
    }

    @Override
    public String getCatalogName(int column) throws SQLException {
        find(column);
        return "";
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        return Wrapped.unwrap(this, type);
    }

    @Override
    public boolean isWrapperFor(@Nullable Class<?> type) {
        return type != null && type.isInstance(this);
    }
}
