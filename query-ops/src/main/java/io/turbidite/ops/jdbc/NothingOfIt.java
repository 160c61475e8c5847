package io.turbidite.ops.jdbc;

import org.jspecify.annotations.Nullable;

import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * Descriptions of what stores have not: results without rows. A class, as {@link Capabilities} is:
 * tools such as sqlline look for methods by reflection, and pass over defaults of interfaces.
 */
abstract class NothingOfIt extends Capabilities {
    private static ResultSet none(String... columns) {
        return StoreMetaData.none(columns);
    }

    @Override
    public ResultSet getProcedures(
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
    public ResultSet getProcedureColumns(
            @Nullable String catalog,
            @Nullable String schema,
            @Nullable String table,
            @Nullable String column)
            throws SQLException {
        return none("PROCEDURE_CAT", "PROCEDURE_SCHEM", "PROCEDURE_NAME", "COLUMN_NAME");
    }

    @Override
    public ResultSet getColumnPrivileges(
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
    public ResultSet getTablePrivileges(
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
    public ResultSet getVersionColumns(
            @Nullable String catalog, @Nullable String schema, @Nullable String table)
            throws SQLException {
        return none("SCOPE#", "COLUMN_NAME", "DATA_TYPE#", "TYPE_NAME");
    }

    @Override
    public ResultSet getImportedKeys(
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
    public ResultSet getExportedKeys(
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
    public ResultSet getCrossReference(
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
    public ResultSet getSuperTypes(
            @Nullable String catalog, @Nullable String schema, @Nullable String table)
            throws SQLException {
        return none("TYPE_CAT", "TYPE_SCHEM", "TYPE_NAME", "SUPERTYPE_NAME");
    }

    @Override
    public ResultSet getSuperTables(
            @Nullable String catalog, @Nullable String schema, @Nullable String table)
            throws SQLException {
        return none("TABLE_CAT", "TABLE_SCHEM", "TABLE_NAME", "SUPERTABLE_NAME");
    }

    @Override
    public ResultSet getAttributes(
            @Nullable String catalog,
            @Nullable String schema,
            @Nullable String table,
            @Nullable String column)
            throws SQLException {
        return none("TYPE_CAT", "TYPE_SCHEM", "TYPE_NAME", "ATTR_NAME");
    }

    @Override
    public ResultSet getFunctions(
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
    public ResultSet getPseudoColumns(
            @Nullable String catalog,
            @Nullable String schema,
            @Nullable String table,
            @Nullable String column)
            throws SQLException {
        return none("TABLE_CAT", "TABLE_SCHEM", "TABLE_NAME", "COLUMN_NAME");
    }

    @Override
    public ResultSet getClientInfoProperties() throws SQLException {
        return none("NAME", "MAX_LEN#", "DEFAULT_VALUE", "DESCRIPTION");
    }

    @Override
    public ResultSet getUDTs(
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
