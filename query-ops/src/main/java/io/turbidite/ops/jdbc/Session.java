package io.turbidite.ops.jdbc;

import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.sql.SQLException;
import java.util.List;

/**
 * What a connection asks of its store: in this process, or over the socket of the one that holds
 * it. Errors are those that JDBC's callers see. <em>Thread-safe;</em> its plans are for one thread
 * at a time.
 */
sealed interface Session permits OwnSession, HeldSession {
    /** Whether nothing of the store may be changed, whoever asks. */
    boolean isReadOnly();

    /** Reads, checks and plans a statement. */
    Plan plan(String sql, Execution run) throws SQLException;

    /** What the store has. */
    Described described(Asked asked) throws SQLException;

    /** Lets go of the moment that statements of a transaction read. */
    void endTransaction() throws SQLException;

    /** Whether statements can be run. */
    boolean isAlive();

    /** Lets go of the store; a second call does nothing. */
    void close();

    /** Has nobody wait for another process any more. */
    void abort();

    /** A statement that is planned. */
    sealed interface Plan permits OwnSession.OwnPlan, HeldSession.HeldPlan {
        /** Whether it gives rows: then {@link #rows} runs it, otherwise {@link #change}. */
        boolean givesRows();

        /** The types of its parameters, by the names that SQL has for them. */
        List<String> parameters();

        /** The columns of its answer; none if it gives no rows. */
        Columns columns();

        /**
         * Whether the datasets are those that it was planned for.
         *
         * @param asks whether it is worth to ask another process
         */
        boolean isCurrent(boolean asks) throws SQLException;

        /**
         * Starts it.
         *
         * @param inTransaction whether it reads the moment of the transaction, or one of its own
         */
        Answer rows(Execution run, boolean inTransaction, @Nullable Object... values)
                throws SQLException;

        /** Changes or defines; how many records it has changed. */
        long change(Execution run, @Nullable Object... values) throws SQLException;
    }

    /** Rows that come; closing the cursor lets go of all that it holds. */
    record Answer(Columns columns, RowCursor cursor) {}

    /** What {@link java.sql.DatabaseMetaData} asks a store itself for. */
    enum Subject {
        TABLES,
        COLUMNS,
        PRIMARY_KEYS,
        INDEXES,
        BEST_ROW
    }

    /**
     * A question.
     *
     * @param dataset a name, or of tables and columns a pattern; null: all
     * @param column a pattern; null: all
     * @param unique whether other indexes are left out
     */
    record Asked(
            Subject subject,
            @Nullable String dataset,
            @Nullable String column,
            boolean unique) {}

    /** Columns and rows of a description. */
    record Described(Columns columns, List<@Nullable Object[]> rows) {}

    /** The kinds of values that setters convert to. */
    static List<TypeKind> kinds(List<String> names) {
        return names.stream().map(ColumnType::kindOf).toList();
    }
}
