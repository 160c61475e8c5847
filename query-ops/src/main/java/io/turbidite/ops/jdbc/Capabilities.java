package io.turbidite.ops.jdbc;

import io.turbidite.ops.sql.Sql;

import java.sql.DatabaseMetaData;

/** What SQL over a store can do, in the many answers that JDBC asks for one by one. */
interface Capabilities extends DatabaseMetaData {
    @Override
    default boolean allProceduresAreCallable() {
        return false;
    }

    @Override
    default boolean allTablesAreSelectable() {
        return true;
    }

    @Override
    default boolean autoCommitFailureClosesAllResultSets() {
        return false;
    }

    @Override
    default boolean dataDefinitionCausesTransactionCommit() {
        return false;
    }

    @Override
    default boolean dataDefinitionIgnoredInTransactions() {
        return false;
    }

    @Override
    default boolean deletesAreDetected(int type) {
        return false;
    }

    @Override
    default boolean doesMaxRowSizeIncludeBlobs() {
        return false;
    }

    @Override
    default boolean generatedKeyAlwaysReturned() {
        return false;
    }

    @Override
    default String getCatalogSeparator() {
        return "";
    }

    @Override
    default String getCatalogTerm() {
        return "";
    }

    @Override
    default String getDatabaseProductName() {
        return "Turbidite";
    }

    @Override
    default String getDriverName() {
        return "Turbidite JDBC";
    }

    @Override
    default String getExtraNameCharacters() {
        return "$";
    }

    @Override
    default String getIdentifierQuoteString() {
        return "\"";
    }

    @Override
    default int getMaxBinaryLiteralLength() {
        return 0;
    }

    @Override
    default int getMaxCatalogNameLength() {
        return 0;
    }

    @Override
    default int getMaxCharLiteralLength() {
        return 0;
    }

    @Override
    default int getMaxColumnNameLength() {
        return 0;
    }

    @Override
    default int getMaxColumnsInGroupBy() {
        return 0;
    }

    @Override
    default int getMaxColumnsInIndex() {
        return 0;
    }

    @Override
    default int getMaxColumnsInOrderBy() {
        return 0;
    }

    @Override
    default int getMaxColumnsInSelect() {
        return Sql.COLUMN_COUNT_MAX;
    }

    @Override
    default int getMaxColumnsInTable() {
        return 0;
    }

    @Override
    default int getMaxConnections() {
        return 0;
    }

    @Override
    default int getMaxCursorNameLength() {
        return 0;
    }

    @Override
    default int getMaxIndexLength() {
        return 0;
    }

    @Override
    default int getMaxProcedureNameLength() {
        return 0;
    }

    @Override
    default int getMaxRowSize() {
        return 0;
    }

    @Override
    default int getMaxSchemaNameLength() {
        return 0;
    }

    @Override
    default int getMaxStatementLength() {
        return Sql.TEXT_CHARS_MAX;
    }

    @Override
    default int getMaxStatements() {
        return 0;
    }

    @Override
    default int getMaxTableNameLength() {
        return 0;
    }

    @Override
    default int getMaxTablesInSelect() {
        return 0;
    }

    @Override
    default int getMaxUserNameLength() {
        return 0;
    }

    @Override
    default String getNumericFunctions() {
        return "ABS,CEILING,EXP,FLOOR,LOG,LOG10,MOD,POWER,ROUND,SQRT";
    }

    @Override
    default String getProcedureTerm() {
        return "";
    }

    @Override
    default String getSQLKeywords() {
        return "ANALYZE,EXPLAIN,UPSERT";
    }

    @Override
    default String getSchemaTerm() {
        return "";
    }

    @Override
    default String getSearchStringEscape() {
        return "\\";
    }

    @Override
    default String getStringFunctions() {
        return "CONCAT,LCASE,LENGTH,LOCATE,REPLACE,SUBSTRING,UCASE";
    }

    @Override
    default String getSystemFunctions() {
        return "IFNULL";
    }

    @Override
    default String getTimeDateFunctions() {
        return "EXTRACT";
    }

    @Override
    default String getUserName() {
        return "";
    }

    @Override
    default boolean insertsAreDetected(int type) {
        return false;
    }

    @Override
    default boolean isCatalogAtStart() {
        return false;
    }

    @Override
    default boolean locatorsUpdateCopy() {
        return false;
    }

    @Override
    default boolean nullPlusNonNullIsNull() {
        return true;
    }

    @Override
    default boolean nullsAreSortedAtEnd() {
        return false;
    }

    @Override
    default boolean nullsAreSortedAtStart() {
        return false;
    }

    @Override
    default boolean nullsAreSortedHigh() {
        return false;
    }

    @Override
    default boolean nullsAreSortedLow() {
        return true;
    }

    @Override
    default boolean othersDeletesAreVisible(int type) {
        return false;
    }

    @Override
    default boolean othersInsertsAreVisible(int type) {
        return false;
    }

    @Override
    default boolean othersUpdatesAreVisible(int type) {
        return false;
    }

    @Override
    default boolean ownDeletesAreVisible(int type) {
        return false;
    }

    @Override
    default boolean ownInsertsAreVisible(int type) {
        return false;
    }

    @Override
    default boolean ownUpdatesAreVisible(int type) {
        return false;
    }

    @Override
    default boolean storesLowerCaseIdentifiers() {
        return false;
    }

    @Override
    default boolean storesLowerCaseQuotedIdentifiers() {
        return false;
    }

    @Override
    default boolean storesMixedCaseIdentifiers() {
        return false;
    }

    @Override
    default boolean storesMixedCaseQuotedIdentifiers() {
        return false;
    }

    @Override
    default boolean storesUpperCaseIdentifiers() {
        return false;
    }

    @Override
    default boolean storesUpperCaseQuotedIdentifiers() {
        return false;
    }

    @Override
    default boolean supportsANSI92EntryLevelSQL() {
        return false;
    }

    @Override
    default boolean supportsANSI92FullSQL() {
        return false;
    }

    @Override
    default boolean supportsANSI92IntermediateSQL() {
        return false;
    }

    @Override
    default boolean supportsAlterTableWithAddColumn() {
        return false;
    }

    @Override
    default boolean supportsAlterTableWithDropColumn() {
        return false;
    }

    @Override
    default boolean supportsBatchUpdates() {
        return true;
    }

    @Override
    default boolean supportsCatalogsInDataManipulation() {
        return false;
    }

    @Override
    default boolean supportsCatalogsInIndexDefinitions() {
        return false;
    }

    @Override
    default boolean supportsCatalogsInPrivilegeDefinitions() {
        return false;
    }

    @Override
    default boolean supportsCatalogsInProcedureCalls() {
        return false;
    }

    @Override
    default boolean supportsCatalogsInTableDefinitions() {
        return false;
    }

    @Override
    default boolean supportsColumnAliasing() {
        return true;
    }

    @Override
    default boolean supportsConvert() {
        return false;
    }

    @Override
    default boolean supportsConvert(int from, int to) {
        return false;
    }

    @Override
    default boolean supportsCoreSQLGrammar() {
        return false;
    }

    @Override
    default boolean supportsCorrelatedSubqueries() {
        return true;
    }

    @Override
    default boolean supportsDataDefinitionAndDataManipulationTransactions() {
        return false;
    }

    @Override
    default boolean supportsDataManipulationTransactionsOnly() {
        return false;
    }

    @Override
    default boolean supportsDifferentTableCorrelationNames() {
        return false;
    }

    @Override
    default boolean supportsExpressionsInOrderBy() {
        return true;
    }

    @Override
    default boolean supportsExtendedSQLGrammar() {
        return false;
    }

    @Override
    default boolean supportsFullOuterJoins() {
        return true;
    }

    @Override
    default boolean supportsGetGeneratedKeys() {
        return false;
    }

    @Override
    default boolean supportsGroupBy() {
        return true;
    }

    @Override
    default boolean supportsGroupByBeyondSelect() {
        return true;
    }

    @Override
    default boolean supportsGroupByUnrelated() {
        return true;
    }

    @Override
    default boolean supportsIntegrityEnhancementFacility() {
        return false;
    }

    @Override
    default boolean supportsLikeEscapeClause() {
        return true;
    }

    @Override
    default boolean supportsLimitedOuterJoins() {
        return true;
    }

    @Override
    default boolean supportsMinimumSQLGrammar() {
        return true;
    }

    @Override
    default boolean supportsMixedCaseIdentifiers() {
        return true;
    }

    @Override
    default boolean supportsMixedCaseQuotedIdentifiers() {
        return true;
    }

    @Override
    default boolean supportsMultipleOpenResults() {
        return false;
    }

    @Override
    default boolean supportsMultipleResultSets() {
        return false;
    }

    @Override
    default boolean supportsMultipleTransactions() {
        return true;
    }

    @Override
    default boolean supportsNamedParameters() {
        return false;
    }

    @Override
    default boolean supportsNonNullableColumns() {
        return true;
    }

    @Override
    default boolean supportsOpenCursorsAcrossCommit() {
        return false;
    }

    @Override
    default boolean supportsOpenCursorsAcrossRollback() {
        return false;
    }

    @Override
    default boolean supportsOpenStatementsAcrossCommit() {
        return true;
    }

    @Override
    default boolean supportsOpenStatementsAcrossRollback() {
        return true;
    }

    @Override
    default boolean supportsOrderByUnrelated() {
        return true;
    }

    @Override
    default boolean supportsOuterJoins() {
        return true;
    }

    @Override
    default boolean supportsPositionedDelete() {
        return false;
    }

    @Override
    default boolean supportsPositionedUpdate() {
        return false;
    }

    @Override
    default boolean supportsSavepoints() {
        return false;
    }

    @Override
    default boolean supportsSchemasInDataManipulation() {
        return false;
    }

    @Override
    default boolean supportsSchemasInIndexDefinitions() {
        return false;
    }

    @Override
    default boolean supportsSchemasInPrivilegeDefinitions() {
        return false;
    }

    @Override
    default boolean supportsSchemasInProcedureCalls() {
        return false;
    }

    @Override
    default boolean supportsSchemasInTableDefinitions() {
        return false;
    }

    @Override
    default boolean supportsSelectForUpdate() {
        return false;
    }

    @Override
    default boolean supportsStatementPooling() {
        return false;
    }

    @Override
    default boolean supportsStoredFunctionsUsingCallSyntax() {
        return false;
    }

    @Override
    default boolean supportsStoredProcedures() {
        return false;
    }

    @Override
    default boolean supportsSubqueriesInComparisons() {
        return true;
    }

    @Override
    default boolean supportsSubqueriesInExists() {
        return true;
    }

    @Override
    default boolean supportsSubqueriesInIns() {
        return true;
    }

    @Override
    default boolean supportsSubqueriesInQuantifieds() {
        return true;
    }

    @Override
    default boolean supportsTableCorrelationNames() {
        return true;
    }

    @Override
    default boolean supportsTransactions() {
        return true;
    }

    @Override
    default boolean supportsUnion() {
        return true;
    }

    @Override
    default boolean supportsUnionAll() {
        return true;
    }

    @Override
    default boolean updatesAreDetected(int type) {
        return false;
    }

    @Override
    default boolean usesLocalFilePerTable() {
        return false;
    }

    @Override
    default boolean usesLocalFiles() {
        return true;
    }
}
