package io.turbidite.ops.jdbc;

import io.turbidite.core.catalog.Catalog;
import io.turbidite.core.catalog.OpenCatalog;
import io.turbidite.core.scan.Source;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.Explanation;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.sql.Sql;
import io.turbidite.ops.sql.SqlStatement;

import org.jspecify.annotations.Nullable;

import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;

/** What a connection asks of a store that this process has open. <em>Thread-safe.</em> */
final class OwnSession implements Session {
    private final Catalog catalog;
    private final boolean isReadOnly;
    private final RunOptions options;
    private final Duration planningMax;

    /** Lets go of the store. */
    private final Runnable release;

    /** The moment of the transaction; null: none has begun. */
    private @Nullable Reading transaction;

    private @Nullable Sql sql;
    private List<? extends Source> sqlDatasets = List.of();

    /** What was described last: mostly it is asked for again. */
    private @Nullable RecordType describedType;

    private @Nullable Columns described;
    private boolean closed;

    /**
     * A session over an opening of a store.
     *
     * @param release lets go of it
     */
    static OwnSession of(OpenCatalog catalog, Duration planningMax, Runnable release) {
        RunOptions options = RunOptions.builder()
                .spill(new RunOptions.Spill(catalog.disk(), catalog.spillDirectory()))
                .tasks(catalog.tasks())
                .build();
        return new OwnSession(catalog, catalog.isReadOnly(), options, planningMax, release);
    }

    private OwnSession(
            Catalog catalog,
            boolean isReadOnly,
            RunOptions options,
            Duration planningMax,
            Runnable release) {
        this.catalog = catalog;
        this.isReadOnly = isReadOnly;
        this.options = options;
        this.planningMax = planningMax;
        this.release = release;
    }

    @Override
    public boolean isReadOnly() {
        return isReadOnly;
    }

    List<? extends Source> datasets() {
        return catalog.datasets();
    }

    /** It keeps the plans of texts, for the datasets that there are. */
    private synchronized Sql sql() {
        List<? extends Source> now = datasets();
        Sql known = sql;
        if (known == null || !now.equals(sqlDatasets)) {
            known = Sql.on(catalog).planningAtMost(planningMax);
            sql = known;
            sqlDatasets = now;
        }
        return known;
    }

    /** The moment that all statements of the transaction read. */
    private synchronized Reading transaction() throws SQLException {
        if (closed) {
            throw Errors.closed("connection");
        }
        Reading begun = transaction;
        if (begun == null) {
            begun = new Reading(catalog);
            transaction = begun;
        }
        return begun;
    }

    /** Whether a transaction has begun to read. */
    synchronized boolean isInTransaction() {
        return transaction != null;
    }

    @Override
    public void endTransaction() {
        Reading ended;
        synchronized (this) {
            ended = transaction;
            transaction = null;
        }
        if (ended != null) {
            ended.close();
        }
    }

    private synchronized Columns columnsOf(RecordType type) {
        Columns known = described;
        if (known == null || !Objects.equals(type, describedType)) {
            known = Columns.of(type);
            described = known;
            describedType = type;
        }
        return known;
    }

    @Override
    public OwnPlan plan(String text, Execution run) throws SQLException {
        return errors(run, () -> {
            List<? extends Source> datasets = datasets();
            return new OwnPlan(sql().statement(text, run::mustEnd), datasets);
        });
    }

    @Override
    public Described described(Asked asked) throws SQLException {
        try {
            return Descriptions.of(catalog, asked);
        } catch (RuntimeException e) {
            throw Errors.of(e);
        }
    }

    @Override
    public boolean isAlive() {
        return true;
    }

    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        try {
            endTransaction();
        } finally {
            release.run(); // the last one closes the store, which tells what failed
        }
    }

    /** Nobody waits for another process. */
    @Override
    public void abort() {}

    /** What may be thrown by JDBC's errors, or by those of the store. */
    private interface Work<T> {
        T done() throws SQLException;
    }

    private static <T> T errors(Execution run, Work<T> work) throws SQLException {
        try {
            return work.done();
        } catch (CancellationException e) {
            SQLException ended = run.ended();
            ended.initCause(e);
            throw ended;
        } catch (RuntimeException e) {
            throw Errors.of(e);
        }
    }

    /** A statement of this process. */
    final class OwnPlan implements Plan {
        private final SqlStatement planned;
        private final List<? extends Source> datasets;

        private OwnPlan(SqlStatement planned, List<? extends Source> datasets) {
            this.planned = planned;
            this.datasets = datasets;
        }

        @Override
        public boolean givesRows() {
            return planned.givesRows() || planned.explains();
        }

        @Override
        public List<String> parameters() {
            return planned.parameters();
        }

        @Override
        public Columns columns() {
            return planned.explains()
                    ? Columns.described("plan")
                    : new Columns(
                            planned.givesRows()
                                    ? List.<Field>copyOf(planned.type().declared())
                                    : List.of());
        }

        @Override
        public boolean isCurrent(boolean asks) {
            return datasets().equals(datasets);
        }

        @Override
        public Answer rows(Execution run, boolean inTransaction, @Nullable Object... values)
                throws SQLException {
            RunOptions stopping = options.withStop(run::mustEnd);
            // a run has a moment of its own, unless it reads several datasets
            boolean isAlone = !inTransaction && planned.readsOneSource();
            return errors(run, () -> {
                Reading reading =
                        isAlone ? null : inTransaction ? transaction() : new Reading(catalog);
                Reading owned = inTransaction ? null : reading;
                Answer answer = null;
                try {
                    run.check();
                    answer = planned.explains()
                            ? explained(stopping, values)
                            : started(stopping, reading, owned, values);
                    return answer;
                } finally {
                    if (owned != null && (answer == null || planned.explains())) {
                        owned.close();
                    }
                }
            });
        }

        private Answer started(
                RunOptions stopping,
                @Nullable Reading reading,
                @Nullable Reading owned,
                @Nullable Object... values) {
            QueryResult rows = reading == null
                    ? planned.run(stopping, values)
                    : planned.runAt(reading::of, stopping, values);
            Columns columns = columnsOf(rows.rowType());
            return new Answer(
                    columns,
                    new RowCursor.OfQuery(
                            rows, columns.placesIn(rows.rowType()), columns.areWhole(), owned));
        }

        private Answer explained(RunOptions stopping, @Nullable Object... values) {
            List<@Nullable Object[]> lines = new ArrayList<>();
            Explanation told = planned.explanation(stopping, values);
            String text = planned.explainsAsJson() ? told.toJson() : told.toString();
            text.lines().forEach(line -> lines.add(new @Nullable Object[] {line}));
            return new Answer(Columns.described("plan"), new RowCursor.OfList(lines));
        }

        @Override
        public long change(Execution run, @Nullable Object... values) throws SQLException {
            return errors(run, () -> {
                run.check();
                return planned.execute(options.withStop(run::mustEnd), values);
            });
        }
    }
}
