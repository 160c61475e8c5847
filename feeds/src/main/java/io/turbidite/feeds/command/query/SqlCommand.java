package io.turbidite.feeds.command.query;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.file.Disk;
import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.PathArgument;
import io.turbidite.feeds.command.common.StoreAccess;
import io.turbidite.feeds.command.common.StoreArgument;
import io.turbidite.lsm.Snapshot;
import io.turbidite.lsm.version.StoreFiles;
import io.turbidite.ops.sql.Sql;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;

/** Asks a store in SQL. */
@Command(
        name = "sql",
        customSynopsis = "./turbidite sql STORE \"STATEMENT\" [options]",
        description = {
            "Run a statement of SQL. Print its rows as a table, or how many records it changed.",
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
            description =
                    "SELECT, INSERT, UPSERT, UPDATE, DELETE, EXPLAIN [ANALYZE] before one of them; CREATE, DROP, SHOW, DESCRIBE.")
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
        if (Sql.changes(text)) {
            if (!Files.exists(given.path())) {
                throw new InvalidRequestException(
                        "%s does not exist; ./turbidite dataset create and run make a store"
                                .formatted(given.directory()));
            }
            return stores.change(
                    given,
                    store -> new SqlRun(console, common.json, csv, common.debug)
                            .change(store, text));
        }
        return stores.use(given, store -> {
            boolean spilled = store.environment().disk().exists(StoreFiles.SPILL);
            try (Snapshot snapshot = store.openSnapshot()) {
                return new SqlRun(console, common.json, csv, common.debug)
                        .ask(store, snapshot, text);
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
                throw new InvalidRequestException(String.format(
                        Locale.ROOT,
                        "--file %s is longer than the limit of %,d characters",
                        path,
                        Sql.TEXT_CHARS_MAX));
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
}
