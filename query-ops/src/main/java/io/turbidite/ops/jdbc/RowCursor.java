package io.turbidite.ops.jdbc;

import io.turbidite.core.Cleanup;
import io.turbidite.core.record.RecordView;
import io.turbidite.ops.QueryResult;

import org.jspecify.annotations.Nullable;

import java.sql.SQLException;
import java.util.List;

/** The rows of a result. <em>Confined to one thread</em> but for closing. */
interface RowCursor extends AutoCloseable {
    /** Moves to the next row; false at the end. */
    boolean next() throws SQLException;

    /** How many rows are worth to be fetched at a time, where they are fetched; 0: as it likes. */
    default void fetchSize(int rows) {}

    /** A value of the row, counted from 0. */
    @Nullable
    Object get(int column);

    /** Whether the value is a whole number and there, so that {@link #getLong} gives it. */
    boolean isWhole(int column);

    long getLong(int column);

    @Override
    void close();

    /** The rows of a query. */
    final class OfQuery implements RowCursor {
        private final QueryResult rows;
        private final int[] fields;
        private final boolean[] areWhole;

        /** The moment that is read, if nobody else closes it. */
        private final @Nullable Reading owned;

        private @Nullable RecordView row;

        OfQuery(QueryResult rows, int[] fields, boolean[] areWhole, @Nullable Reading owned) {
            this.rows = rows;
            this.fields = fields;
            this.areWhole = areWhole;
            this.owned = owned;
        }

        @Override
        public boolean next() {
            if (!rows.next()) {
                row = null;
                return false;
            }
            row = rows.row();
            return true;
        }

        private RecordView row() {
            // not read any more once another thread has closed the result
            return row == null ? rows.row() : row;
        }

        @Override
        public @Nullable Object get(int column) {
            RecordView record = row();
            return record.isAbsent(fields[column]) ? null : record.get(fields[column]);
        }

        @Override
        public boolean isWhole(int column) {
            return areWhole[column] && !row().isAbsent(fields[column]);
        }

        @Override
        public long getLong(int column) {
            return row().getLong(fields[column]);
        }

        @Override
        public void close() {
            row = null;
            Cleanup held = new Cleanup().add(rows::close);
            if (owned != null) {
                held.add(owned::close);
            }
            held.run();
        }
    }

    /** Rows that are there already. */
    final class OfList implements RowCursor {
        private final List<@Nullable Object[]> rows;
        private int at = -1;

        OfList(List<@Nullable Object[]> rows) {
            this.rows = rows;
        }

        @Override
        public boolean next() {
            at = Math.min(at + 1, rows.size());
            return at < rows.size();
        }

        @Override
        public @Nullable Object get(int column) {
            return rows.get(at)[column];
        }

        @Override
        public boolean isWhole(int column) {
            return false;
        }

        @Override
        public long getLong(int column) {
            throw new IllegalStateException("no whole number");
        }

        @Override
        public void close() {
            at = rows.size();
        }
    }
}
