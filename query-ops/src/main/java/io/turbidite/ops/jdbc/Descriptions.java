package io.turbidite.ops.jdbc;

import io.turbidite.core.catalog.Catalog;
import io.turbidite.core.catalog.IndexDefinition;
import io.turbidite.core.scan.Source;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.sql.DatabaseMetaData;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Pattern;

/** What a store says of its datasets, columns, keys and indexes. Static. */
final class Descriptions {
    private static final String TABLE = "TABLE";
    private static final String PRIMARY = "primary";

    private Descriptions() {}

    static Session.Described of(Catalog catalog, Session.Asked asked) {
        List<@Nullable Object[]> found = new ArrayList<>();
        switch (asked.subject()) {
            case TABLES -> addTables(found, catalog, asked);
            case COLUMNS -> addColumns(found, catalog, asked);
            case PRIMARY_KEYS -> addKeys(found, catalog, asked);
            case INDEXES -> addIndexes(found, catalog, asked);
            case BEST_ROW -> addBestRow(found, catalog, asked);
        }
        return new Session.Described(columns(asked.subject()), found);
    }

    static Columns columns(Session.Subject subject) {
        return switch (subject) {
            case TABLES ->
                Columns.described(
                        "TABLE_CAT",
                        "TABLE_SCHEM",
                        "TABLE_NAME",
                        "TABLE_TYPE",
                        "REMARKS",
                        "TYPE_CAT",
                        "TYPE_SCHEM",
                        "TYPE_NAME",
                        "SELF_REFERENCING_COL_NAME",
                        "REF_GENERATION");
            case COLUMNS ->
                Columns.described(
                        "TABLE_CAT",
                        "TABLE_SCHEM",
                        "TABLE_NAME",
                        "COLUMN_NAME",
                        "DATA_TYPE#",
                        "TYPE_NAME",
                        "COLUMN_SIZE#",
                        "BUFFER_LENGTH#",
                        "DECIMAL_DIGITS#",
                        "NUM_PREC_RADIX#",
                        "NULLABLE#",
                        "REMARKS",
                        "COLUMN_DEF",
                        "SQL_DATA_TYPE#",
                        "SQL_DATETIME_SUB#",
                        "CHAR_OCTET_LENGTH#",
                        "ORDINAL_POSITION#",
                        "IS_NULLABLE",
                        "SCOPE_CATALOG",
                        "SCOPE_SCHEMA",
                        "SCOPE_TABLE",
                        "SOURCE_DATA_TYPE#",
                        "IS_AUTOINCREMENT",
                        "IS_GENERATEDCOLUMN");
            case PRIMARY_KEYS ->
                Columns.described(
                        "TABLE_CAT",
                        "TABLE_SCHEM",
                        "TABLE_NAME",
                        "COLUMN_NAME",
                        "KEY_SEQ#",
                        "PK_NAME");
            case INDEXES ->
                Columns.described(
                        "TABLE_CAT",
                        "TABLE_SCHEM",
                        "TABLE_NAME",
                        "NON_UNIQUE!",
                        "INDEX_QUALIFIER",
                        "INDEX_NAME",
                        "TYPE#",
                        "ORDINAL_POSITION#",
                        "COLUMN_NAME",
                        "ASC_OR_DESC",
                        "CARDINALITY#",
                        "PAGES#",
                        "FILTER_CONDITION",
                        "KIND");
            case BEST_ROW ->
                Columns.described(
                        "SCOPE#",
                        "COLUMN_NAME",
                        "DATA_TYPE#",
                        "TYPE_NAME",
                        "COLUMN_SIZE#",
                        "BUFFER_LENGTH#",
                        "DECIMAL_DIGITS#",
                        "PSEUDO_COLUMN#");
        };
    }

    private static List<? extends Source> like(Catalog catalog, @Nullable String pattern) {
        Pattern names = names(pattern);
        return catalog.datasets().stream()
                .filter(dataset -> names.matcher(dataset.name()).matches())
                .sorted(Comparator.comparing(Source::name))
                .toList();
    }

    private static List<? extends Source> named(Catalog catalog, @Nullable String name) {
        return like(catalog, null).stream()
                .filter(dataset -> name == null || dataset.name().equals(name))
                .toList();
    }

    /** What {@code %} and {@code _} stand for; a backslash before one is no pattern. */
    private static Pattern names(@Nullable String pattern) {
        if (pattern == null) {
            return Pattern.compile(".*", Pattern.DOTALL);
        }
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < pattern.length(); i++) {
            char c = pattern.charAt(i);
            boolean isEscaped = c == '\\' && i + 1 < pattern.length();
            if (isEscaped) {
                i++;
            }
            text.append(
                    isEscaped
                            ? Pattern.quote(String.valueOf(pattern.charAt(i)))
                            : c == '%' ? ".*" : c == '_' ? "." : Pattern.quote(String.valueOf(c)));
        }
        return Pattern.compile(text.toString(), Pattern.DOTALL);
    }

    private static void addTables(
            List<@Nullable Object[]> found, Catalog catalog, Session.Asked asked) {
        for (Source dataset : like(catalog, asked.dataset())) {
            found.add(new @Nullable Object[] {
                null, null, dataset.name(), TABLE, null, null, null, null, null, null
            });
        }
    }

    private static void addColumns(
            List<@Nullable Object[]> found, Catalog catalog, Session.Asked asked) {
        Pattern names = names(asked.column());
        for (Source dataset : like(catalog, asked.dataset())) {
            int place = 0;
            for (Field field : dataset.type().declared()) {
                place++;
                if (names.matcher(field.name()).matches()) {
                    found.add(column(dataset, field, place));
                }
            }
        }
    }

    private static @Nullable Object[] column(Source dataset, Field field, int place) {
        ColumnType type = ColumnType.of(field.kind());
        return new @Nullable Object[] {
            null,
            null,
            dataset.name(),
            field.name(),
            type.code(),
            type.name(),
            type.precision(),
            null,
            type.scale(),
            10,
            field.optional() ? DatabaseMetaData.columnNullable : DatabaseMetaData.columnNoNulls,
            field.typeLabel(),
            null,
            null,
            null,
            field.kind() == TypeKind.STRING ? type.precision() : null,
            place,
            field.optional() ? "YES" : "NO",
            null,
            null,
            null,
            null,
            "NO",
            "NO"
        };
    }

    private static void addKeys(
            List<@Nullable Object[]> found, Catalog catalog, Session.Asked asked) {
        for (Source dataset : named(catalog, asked.dataset())) {
            List<String> key = dataset.primaryKey();
            for (String field : key.stream().sorted().toList()) {
                found.add(new @Nullable Object[] {
                    null, null, dataset.name(), field, key.indexOf(field) + 1, PRIMARY
                });
            }
        }
    }

    private static void addIndexes(
            List<@Nullable Object[]> found, Catalog catalog, Session.Asked asked) {
        for (Source dataset : named(catalog, asked.dataset())) {
            addIndex(found, dataset, PRIMARY, true, "btree", dataset.primaryKey());
            catalog.describe(dataset.name()).indexes().stream()
                    .filter(index -> index.unique() || !asked.unique())
                    .sorted(Comparator.comparing(IndexDefinition::name))
                    .forEach(index -> addIndex(
                            found,
                            dataset,
                            index.name(),
                            index.unique(),
                            index.kind().label(),
                            index.fields()));
        }
    }

    private static void addIndex(
            List<@Nullable Object[]> found,
            Source dataset,
            String name,
            boolean isUnique,
            String kind,
            List<String> fields) {
        int place = 0;
        for (String field : fields) {
            place++;
            found.add(new @Nullable Object[] {
                null,
                null,
                dataset.name(),
                !isUnique,
                null,
                name,
                name.equals(PRIMARY)
                        ? (int) DatabaseMetaData.tableIndexClustered
                        : (int) DatabaseMetaData.tableIndexOther,
                place,
                field,
                kind.equals("btree") || kind.equals("pm") ? "A" : null,
                null,
                null,
                null,
                kind
            });
        }
    }

    private static void addBestRow(
            List<@Nullable Object[]> found, Catalog catalog, Session.Asked asked) {
        for (Source dataset : named(catalog, asked.dataset())) {
            for (String name : dataset.primaryKey()) {
                ColumnType type = ColumnType.of(
                        dataset.type().field(dataset.type().indexOf(name)).kind());
                found.add(new @Nullable Object[] {
                    DatabaseMetaData.bestRowSession,
                    name,
                    type.code(),
                    type.name(),
                    type.precision(),
                    null,
                    type.scale(),
                    DatabaseMetaData.bestRowNotPseudo
                });
            }
        }
    }
}
