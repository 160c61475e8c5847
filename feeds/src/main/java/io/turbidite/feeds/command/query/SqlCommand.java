package io.turbidite.feeds.command.query;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.scan.ReadView;
import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Interrupts;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.PathArgument;
import io.turbidite.feeds.command.common.RowOutput;
import io.turbidite.feeds.command.common.StoreAccess;
import io.turbidite.feeds.command.common.StoreArgument;
import io.turbidite.feeds.command.common.Words;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Snapshot;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.version.StoreFiles;
import io.turbidite.ops.Explanation;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.sql.Sql;
import io.turbidite.ops.sql.SqlStatement;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicBoolean;

/** Asks a store in SQL. */
@Command(
        name = "sql",
        customSynopsis = "./turbidite sql STORE \"STATEMENT\" [options]",
        description = {
            "Run a statement of SQL and print its rows as a table.",
            "Datasets are tables; their names and those of fields are case-sensitive.",
        },
        sortOptions = false,
        footer = {
            "",
            "Example: ./turbidite sql turbidite-quickstart \\",
            "           \"select dest, count(*) as n from Flights group by dest order by n desc limit 5\""
        })
public final class SqlCommand implements Callable<Integer> {
    private final Console console;
    private final StoreAccess stores;

    @Mixin
    private final StoreArgument given = new StoreArgument();

    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "STATEMENT",
            description = "A SELECT, or EXPLAIN [ANALYZE] before one.")
    private @Nullable String statement;

    @Option(
            names = {"-f", "--file"},
            paramLabel = "FILE",
            description = "Read the statement from a file.")
    private @Nullable String file;

    @Option(
            names = "--csv",
            description =
                    "Print the rows as CSV: a line of names, then a line a row. Null is empty.")
    private boolean csv;

    @Mixin
    private final CommonOptions common = new CommonOptions();

    public SqlCommand(Console console, StoreAccess stores) {
        this.console = console;
        this.stores = stores;
    }

    @Override
    public Integer call() {
        String text = text();
        return stores.use(given, store -> {
            boolean spilled = store.environment().disk().exists(StoreFiles.SPILL);
            try (Snapshot snapshot = store.openSnapshot()) {
                return ask(store, snapshot, text);
            } finally {
                if (!spilled && !stores.isShared()) {
                    leaveAsItWas(store.environment().disk());
                }
            }
        });
    }

    private String text() {
        String path = file;
        if ((statement == null) == (path == null)) {
            throw new InvalidRequestException(
                    "give one statement: behind the store, in quotes, or in a file by --file");
        }
        if (csv && common.json) {
            throw new InvalidRequestException("--csv and --json: choose one");
        }
        if (path == null) {
            return String.valueOf(statement);
        }
        Path at = console.directory().resolve(PathArgument.path("--file", path));
        try {
            if (Files.size(at) > 4L * Sql.TEXT_CHARS_MAX) {
                throw new InvalidRequestException(
                        "--file %s is longer than the limit of %,d characters"
                                .formatted(path, Sql.TEXT_CHARS_MAX));
            }
            return Files.readString(at);
        } catch (IOException e) {
            throw new InvalidRequestException(
                    "--file %s can't be read: %s".formatted(path, e.getMessage()), e);
        }
    }

    /** Runs of sorts are deleted with the query; the directory was made for them. */
    private static void leaveAsItWas(Disk disk) {
        if (disk.exists(StoreFiles.SPILL) && disk.list(StoreFiles.SPILL).isEmpty()) {
            disk.delete(StoreFiles.SPILL);
        }
    }

    private int ask(Store store, Snapshot snapshot, String text) {
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
        } finally {
            views.forEach(ReadView::close);
        }
    }

    private void explain(Explanation explanation) {
        console.out()
                .println(common.json ? Json.text(explanation.toMap()) : explanation.toString());
    }

    private long print(SqlStatement planned, RunOptions options) {
        RowOutput out = new RowOutput(console.out());
        try (QueryResult result = planned.run(options)) {
            return common.json
                    ? result.forEachJson(out)
                    : csv ? CsvRows.write(result, out) : TableRows.write(result, out);
        }
    }

    private void tell(long rows, long nanos) {
        if (console.terminal() && !common.json && !csv) {
            console.err()
                    .println("%s in %s"
                            .formatted(
                                    Words.count(rows, "row"), Words.millis(Words.toMillis(nanos))));
        }
    }
}
