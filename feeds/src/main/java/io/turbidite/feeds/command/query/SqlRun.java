package io.turbidite.feeds.command.query;

import io.turbidite.core.Cleanup;
import io.turbidite.core.catalog.Catalog;
import io.turbidite.core.scan.ReadView;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Interrupts;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.RowOutput;
import io.turbidite.feeds.command.common.Words;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Snapshot;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.version.StoreFiles;
import io.turbidite.ops.Explanation;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.sql.Sql;
import io.turbidite.ops.sql.SqlException;
import io.turbidite.ops.sql.SqlStatement;

import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * One statement of SQL: a class of its own, because those of all commands are looked through at
 * every start, and what their methods take is loaded then.
 */
public final class SqlRun {
    private final Console console;
    private final boolean json;
    private final boolean csv;
    private final boolean debug;

    private final Duration planning;

    /**
     * @param json whether rows are printed as JSON
     * @param csv whether they are printed as CSV
     * @param debug whether a statement that is wrong is thrown, instead of told
     * @param planning what a statement may take to plan
     */
    public SqlRun(Console console, boolean json, boolean csv, boolean debug, Duration planning) {
        this.planning = planning;
        this.console = console;
        this.json = json;
        this.csv = csv;
        this.debug = debug;
    }

    /** Plans and runs a statement; returns the exit code. */
    int ask(Store store, Catalog catalog, Snapshot snapshot, String text) {
        AtomicBoolean stopped = new AtomicBoolean();
        List<ReadView> views = new ArrayList<>();
        try (Cleanup _ = Cleanup.ofAll(views, ReadView::close);
                Interrupts.Watch watch = console.interrupts().watch(() -> stopped.set(true))) {
            for (Dataset dataset : store.datasets()) {
                views.add(snapshot.view(dataset));
            }
            RunOptions options = options(store, stopped);
            Sql sql = Sql.at(views).changing(catalog);
            return answer(sql, text, options, watch);
        } catch (SqlException e) {
            return refused(e);
        }
    }

    /**
     * Plans and runs a statement over records that are elsewhere.
     *
     * @param given what it may use here; who may stop it is added
     * @return the exit code
     */
    public int on(Sql sql, RunOptions given, String text) {
        AtomicBoolean stopped = new AtomicBoolean();
        RunOptions options = given.withStop(stopped::get);
        if (Sql.changes(text)) {
            return change(sql, text, stopped, options);
        }
        try (Interrupts.Watch watch = console.interrupts().watch(() -> stopped.set(true))) {
            return answer(sql, text, options, watch);
        } catch (SqlException e) {
            return refused(e);
        }
    }

    private int answer(Sql sql, String text, RunOptions options, Interrupts.Watch watch) {
        long startNanos = console.clock().monotonicNanos();
        try {
            SqlStatement planned = sql.planningAtMost(planning).statement(text, options.stop());
            if (planned.explains()) {
                explain(planned.explanation(options), planned.explainsAsJson());
            } else {
                long rows = print(planned, options);
                tell("row", rows, console.clock().monotonicNanos() - startNanos);
            }
        } catch (CancellationException e) {
            return ExitCode.INTERRUPTED;
        } catch (UncheckedIOException e) {
            // nobody reads on; whether that is worth a word, Main knows
            return ExitCode.FAILED;
        }
        console.out().flush();
        return watch.interrupted() ? ExitCode.INTERRUPTED : ExitCode.OK;
    }

    private int refused(SqlException e) {
        if (debug) {
            throw e;
        }
        // the place is shown in lines of its own
        console.err().println("turbidite: " + e.getMessage());
        return ExitCode.USAGE;
    }

    /** Plans a statement that changes or defines, and does it; returns the exit code. */
    int change(Store store, Catalog catalog, String text) {
        AtomicBoolean stopped = new AtomicBoolean();
        return change(Sql.on(catalog), text, stopped, options(store, stopped));
    }

    private int change(Sql sql, String text, AtomicBoolean stopped, RunOptions options) {
        try (Interrupts.Watch _ = console.interrupts().watch(() -> stopped.set(true))) {
            SqlStatement planned = sql.planningAtMost(planning).statement(text, stopped::get);
            long startNanos = console.clock().monotonicNanos();
            try {
                long count = planned.execute(options);
                if (json) {
                    Json.line().put("ok", true).put("changed", count).printTo(console.out());
                } else {
                    console.out()
                            .println(
                                    planned.defines()
                                            ? "done"
                                            : Words.count(count, "record") + " changed");
                }
                console.out().flush();
                tell("record", count, console.clock().monotonicNanos() - startNanos);
                return ExitCode.OK;
            } catch (CancellationException e) {
                tellChanged(planned);
                return ExitCode.INTERRUPTED;
            } catch (RuntimeException e) {
                tellChanged(planned);
                throw e;
            }
        } catch (CancellationException e) {
            // while it was planned: nothing is changed
            return ExitCode.INTERRUPTED;
        } catch (SqlException e) {
            return refused(e);
        }
    }

    /** Batches stay that were written before a failure. */
    private void tellChanged(SqlStatement failed) {
        if (failed.changedCount() > 0) {
            console.err()
                    .println("turbidite: %s changed before it ended"
                            .formatted(Words.count(failed.changedCount(), "record")));
        }
    }

    private static RunOptions options(Store store, AtomicBoolean stopped) {
        return RunOptions.defaults()
                .withSpill(store.environment().disk(), StoreFiles.SPILL)
                .withTasks(store.environment().tasks())
                .withStop(stopped::get);
    }

    private void explain(Explanation explanation, boolean asJson) {
        console.out().println(json || asJson ? explanation.toJson() : explanation.toString());
    }

    private long print(SqlStatement planned, RunOptions options) {
        RowOutput out = new RowOutput(console.out());
        try (QueryResult result = planned.run(options)) {
            return json
                    ? result.forEachJson(out)
                    : csv ? CsvRows.write(result, out) : TableRows.write(result, out);
        }
    }

    private void tell(String what, long rows, long nanos) {
        if (console.terminal() && !json && !csv) {
            console.err()
                    .println("%s in %s"
                            .formatted(
                                    Words.count(rows, what), Words.millis(Words.toMillis(nanos))));
        }
    }
}
