package io.turbidite.feeds.command.query;

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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * One statement of SQL: a class of its own, because those of all commands are looked through at
 * every start, and what their methods take is loaded then.
 */
final class SqlRun {
    private final Console console;
    private final boolean json;
    private final boolean csv;
    private final boolean debug;

    SqlRun(Console console, boolean json, boolean csv, boolean debug) {
        this.console = console;
        this.json = json;
        this.csv = csv;
        this.debug = debug;
    }

    /** Plans and runs a statement; returns the exit code. */
    int ask(Store store, Snapshot snapshot, String text) {
        AtomicBoolean stopped = new AtomicBoolean();
        List<ReadView> views = new ArrayList<>();
        try (Interrupts.Watch watch = console.interrupts().watch(() -> stopped.set(true))) {
            for (Dataset dataset : store.datasets()) {
                views.add(snapshot.view(dataset));
            }
            RunOptions options = RunOptions.defaults()
                    .withSpill(store.environment().disk(), StoreFiles.SPILL)
                    .withTasks(store.environment().tasks())
                    .withStop(stopped::get);
            SqlStatement planned = Sql.at(views).statement(text);
            long startNanos = console.clock().monotonicNanos();
            try {
                if (planned.explains()) {
                    explain(planned.explanation(options));
                } else {
                    long rows = print(planned, options);
                    tell(rows, console.clock().monotonicNanos() - startNanos);
                }
            } catch (CancellationException e) {
                return ExitCode.INTERRUPTED;
            } catch (UncheckedIOException e) {
                // nobody reads on; whether that is worth a word, Main knows
                return ExitCode.FAILED;
            }
            console.out().flush();
            return watch.interrupted() ? ExitCode.INTERRUPTED : ExitCode.OK;
        } catch (SqlException e) {
            if (debug) {
                throw e;
            }
            // the place is shown in lines of its own
            console.err().println("turbidite: " + e.getMessage());
            return ExitCode.USAGE;
        } finally {
            views.forEach(ReadView::close);
        }
    }

    private void explain(Explanation explanation) {
        console.out().println(json ? Json.text(explanation.toMap()) : explanation.toString());
    }

    private long print(SqlStatement planned, RunOptions options) {
        RowOutput out = new RowOutput(console.out());
        try (QueryResult result = planned.run(options)) {
            return json
                    ? result.forEachJson(out)
                    : csv ? CsvRows.write(result, out) : TableRows.write(result, out);
        }
    }

    private void tell(long rows, long nanos) {
        if (console.terminal() && !json && !csv) {
            console.err()
                    .println("%s in %s"
                            .formatted(
                                    Words.count(rows, "row"), Words.millis(Words.toMillis(nanos))));
        }
    }
}
