package io.turbidite.ops.jdbc;

import org.jspecify.annotations.Nullable;

import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Descriptions of what stores have not: results without rows. */
interface NothingOfIt extends DatabaseMetaData {
    private static ResultSet none(String... columns) {
        return StoreMetaData.none(columns);
    }

    @Override
    default ResultSet getProcedures(
            @Nullable String catalog, @Nullable String schema, @Nullable String table)
            throws SQLException {
        return none(
                "PROCEDURE_CAT",
                "PROCEDURE_SCHEM",
                "PROCEDURE_NAME",
                "REMARKS",
                "PROCEDURE_TYPE#",
                "SPECIFIC_NAME");
    }

    @Override
    default ResultSet getProcedureColumns(
            @Nullable String catalog,
            @Nullable String schema,
            @Nullable String table,
            @Nullable String column)
            throws SQLException {
        return none("PROCEDURE_CAT", "PROCEDURE_SCHEM", "PROCEDURE_NAME", "COLUMN_NAME");
    }

    @Override
    default ResultSet getColumnPrivileges(
            @Nullable String catalog,
            @Nullable String schema,
            @Nullable String table,
            @Nullable String column)
            throws SQLException {
        return none(
                "TABLE_CAT",
                "TABLE_SCHEM",
                "TABLE_NAME",
                "COLUMN_NAME",
                "GRANTOR",
                "GRANTEE",
                "PRIVILEGE",
                "IS_GRANTABLE");
    }

    @Override
    default ResultSet getTablePrivileges(
            @Nullable String catalog, @Nullable String schema, @Nullable String table)
            throws SQLException {
        return none(
                "TABLE_CAT",
                "TABLE_SCHEM",
                "TABLE_NAME",
                "GRANTOR",
                "GRANTEE",
                "PRIVILEGE",
                "IS_GRANTABLE");
    }

    @Override
    default ResultSet getVersionColumns(
            @Nullable String catalog, @Nullable String schema, @Nullable String table)
            throws SQLException {
        return none("SCOPE#", "COLUMN_NAME", "DATA_TYPE#", "TYPE_NAME");
    }

    @Override
    default ResultSet getImportedKeys(
            @Nullable String catalog, @Nullable String schema, @Nullable String table)
            throws SQLException {
        return none(
                "PKTABLE_CAT",
                "PKTABLE_SCHEM",
                "PKTABLE_NAME",
                "PKCOLUMN_NAME",
                "FKTABLE_CAT",
                "FKTABLE_SCHEM",
                "FKTABLE_NAME",
                "FKCOLUMN_NAME",
                "KEY_SEQ#",
                "UPDATE_RULE#",
                "DELETE_RULE#",
                "FK_NAME",
                "PK_NAME",
                "DEFERRABILITY#");
    }

    @Override
    default ResultSet getExportedKeys(
            @Nullable String catalog, @Nullable String schema, @Nullable String table)
            throws SQLException {
        return none(
                "PKTABLE_CAT",
                "PKTABLE_SCHEM",
                "PKTABLE_NAME",
                "PKCOLUMN_NAME",
                "FKTABLE_CAT",
                "FKTABLE_SCHEM",
                "FKTABLE_NAME",
                "FKCOLUMN_NAME",
                "KEY_SEQ#",
                "UPDATE_RULE#",
                "DELETE_RULE#",
                "FK_NAME",
                "PK_NAME",
                "DEFERRABILITY#");
    }

    @Override
    default ResultSet getCrossReference(
            @Nullable String catalog,
            @Nullable String schema,
            @Nullable String table,
            @Nullable String column,
            @Nullable String foreignSchema,
            @Nullable String foreignTable)
            throws SQLException {
        return none(
                "PKTABLE_CAT",
                "PKTABLE_SCHEM",
                "PKTABLE_NAME",
                "PKCOLUMN_NAME",
                "FKTABLE_CAT",
                "FKTABLE_SCHEM",
                "FKTABLE_NAME",
                "FKCOLUMN_NAME",
                "KEY_SEQ#",
                "UPDATE_RULE#",
                "DELETE_RULE#",
                "FK_NAME",
                "PK_NAME",
                "DEFERRABILITY#");
    }

    @Override
    default ResultSet getSuperTypes(
            @Nullable String catalog, @Nullable String schema, @Nullable String table)
            throws SQLException {
        return none("TYPE_CAT", "TYPE_SCHEM", "TYPE_NAME", "SUPERTYPE_NAME");
    }

    @Override
    default ResultSet getSuperTables(
            @Nullable String catalog, @Nullable String schema, @Nullable String table)
            throws SQLException {
        return none("TABLE_CAT", "TABLE_SCHEM", "TABLE_NAME", "SUPERTABLE_NAME");
    }

    @Override
    default ResultSet getAttributes(
            @Nullable String catalog,
            @Nullable String schema,
            @Nullable String table,
            @Nullable String column)
            throws SQLException {
        return none("TYPE_CAT", "TYPE_SCHEM", "TYPE_NAME", "ATTR_NAME");
    }

    @Override
    default ResultSet getFunctions(
            @Nullable String catalog, @Nullable String schema, @Nullable String table)
            throws SQLException {
        return none(
                "FUNCTION_CAT",
                "FUNCTION_SCHEM",
                "FUNCTION_NAME",
                "REMARKS",
                "FUNCTION_TYPE#",
                "SPECIFIC_NAME");
    }

    @Override
    default ResultSet getPseudoColumns(
            @Nullable String catalog,
            @Nullable String schema,
            @Nullable String table,
            @Nullable String column)
            throws SQLException {
        return none("TABLE_CAT", "TABLE_SCHEM", "TABLE_NAME", "COLUMN_NAME");
    }

    @Override
    default ResultSet getClientInfoProperties() throws SQLException {
        return none("NAME", "MAX_LEN#", "DEFAULT_VALUE", "DESCRIPTION");
    }

    @Override
    default ResultSet getUDTs(
            @Nullable String catalog,
            @Nullable String schema,
            @Nullable String name,
            int @Nullable [] types)
            throws SQLException {
        return none(
                "TYPE_CAT",
                "TYPE_SCHEM",
                "TYPE_NAME",
                "CLASS_NAME",
                "DATA_TYPE#",
                "REMARKS",
                "BASE_TYPE#");
    }
}
