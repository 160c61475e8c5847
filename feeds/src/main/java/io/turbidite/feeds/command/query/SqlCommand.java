package io.turbidite.feeds.command.query;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.file.Disk;
import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Failures;
import io.turbidite.feeds.command.common.PathArgument;
import io.turbidite.feeds.command.common.StoreAccess;
import io.turbidite.feeds.command.common.StoreArgument;
import io.turbidite.feeds.command.common.Words;
import io.turbidite.lsm.Snapshot;
import io.turbidite.lsm.version.StoreFiles;
import io.turbidite.ops.sql.Sql;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.StringReader;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;

/** Asks a store in SQL. */
@Command(
        name = "sql",
        customSynopsis = "./turbidite sql STORE [\"STATEMENT\"] [options]",
        description = {
            "Run a statement of SQL. Print its rows as a table, or how many records it changed.",
            "Datasets are tables; their names and those of fields are case-sensitive.",
            "Without a statement it is a shell, or reads statements from the standard input.",
        },
        sortOptions = false,
        footer = {
            "",
            "Example: ./turbidite sql turbidite-quickstart \\",
            "           \"select dest, count(*) as n from Flights group by dest order by n desc limit 5\""
        })
public final class SqlCommand implements Callable<Integer> {
    /** As {@code Sql.PLANNING_MAX}, whose class only a statement loads. */
    private static final long PLANNING_MILLIS = 10_000;

    private final Console console;
    private final StoreAccess stores;

    @Mixin
    private final StoreArgument given = new StoreArgument();

    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "STATEMENT",
            description =
                    "SELECT, INSERT, UPSERT, UPDATE, DELETE, EXPLAIN [ANALYZE] before one of them; CREATE, DROP, START, STOP, SHOW, DESCRIBE.")
    private @Nullable String statement;

    @Option(
            names = {"-f", "--file"},
            paramLabel = "FILE",
            description = "Read statements from a file; they run in turn, until one fails.")
    private @Nullable String file;

    @Option(
            names = "--csv",
            description =
                    "Print the rows as CSV: a line of names, then a line a row. Null is empty.")
    private boolean csv;

    @Option(
            names = "--planning-millis",
            paramLabel = "N",
            description =
                    "A statement that takes more processor time to plan is refused; default: 10000.")
    private long planningMillis = PLANNING_MILLIS;

    @Mixin
    private final CommonOptions common = new CommonOptions();

    public SqlCommand(Console console, StoreAccess stores) {
        this.console = console;
        this.stores = stores;
    }

    @Override
    public Integer call() {
        String text = statement;
        if (text != null && file != null) {
            throw new InvalidRequestException(
                    "give one statement: behind the store, in quotes, or statements in a file by --file");
        }
        if (csv && common.json) {
            throw new InvalidRequestException("--csv and --json: choose one");
        }
        if (planningMillis < 1) {
            throw new InvalidRequestException(
                    "--planning-millis is at least 1, not " + planningMillis);
        }
        if (text != null) {
            return run(stores, console, text, csv);
        }
        if (file != null) {
            return all(new StringReader(textOf(file)));
        }
        if (isTyped()) {
            return shell();
        }
        return all(new InputStreamReader(console.in(), StandardCharsets.UTF_8.newDecoder()));
    }

    /** Whether somebody types statements. */
    private boolean isTyped() {
        java.io.Console typed = stores.isShared() ? null : System.console();
        return console.terminal() && typed != null && typed.isTerminal();
    }

    private void requireThere() {
        if (!Files.exists(given.path())) {
            throw new InvalidRequestException(
                    "%s does not exist; ./turbidite dataset create and run make a store"
                            .formatted(given.directory()));
        }
    }

    private int shell() {
        requireThere(); // before somebody types a statement for nothing
        return SqlShell.run(
                console, (to, text, asCsv) -> run(access(to, text, asCsv), to, text, asCsv));
    }

    /** Statements in turn, until one fails. */
    private int all(Reader source) {
        StatementReader statements = new StatementReader(source);
        String text = statements.next();
        if (text == null) {
            throw new InvalidRequestException(
                    "give a statement: behind the store, in quotes, in a file by --file, or on the standard input");
        }
        long ran = 0;
        while (text != null) {
            int code = one(statements, text);
            if (code != ExitCode.OK) {
                tellEnd(statements, ran);
                return code;
            }
            ran++;
            text = statements.next();
        }
        return ExitCode.OK;
    }

    private int one(StatementReader statements, String text) {
        int code = ExitCode.FAILED;
        try {
            code = run(access(console, text, csv), console, text, csv);
        } catch (RuntimeException e) {
            code = Failures.report(e, console.err(), common.debug);
        }
        if (code != ExitCode.OK && statements.isFarDown()) {
            console.err()
                    .println("lines are counted from line %d, where the statement begins"
                            .formatted(statements.firstLine()));
        }
        return code;
    }

    /** A script that ended early looks like one that is through: says what was not run. */
    private void tellEnd(StatementReader statements, long ran) {
        if (ran == 0 && statements.isLast()) {
            return; // there was no other
        }
        console.err()
                .println("turbidite: ended at the statement of line %d; %s ran before it%s"
                        .formatted(
                                statements.firstWordLine(),
                                ran == 0 ? "none" : Words.count(ran, "statement"),
                                statements.isLast() ? "" : ", the rest was not run"));
    }

    /** What opens the store for one statement, or has the process that holds it run that. */
    private StoreAccess access(Console to, String text, boolean asCsv) {
        if (stores.isShared()) {
            return stores;
        }
        List<String> arguments = new ArrayList<>(List.of("sql", given.directory()));
        if (asCsv) {
            arguments.add("--csv");
        } else if (common.json) {
            arguments.add("--json");
        }
        if (common.debug) {
            arguments.add("--debug");
        }
        if (planningMillis != PLANNING_MILLIS) {
            arguments.add("--planning-millis=" + planningMillis);
        }
        arguments.add("--");
        arguments.add(text);
        return StoreAccess.opening(to, arguments.toArray(String[]::new));
    }

    private int run(StoreAccess access, Console to, String text, boolean asCsv) {
        boolean asJson = common.json && !asCsv;
        if (Sql.changes(text)) {
            requireThere();
            return access.change(
                    given,
                    store -> new SqlRun(to, asJson, asCsv, common.debug, planning())
                            .change(store, access.catalog(store, to.directory()), text));
        }
        return access.use(given, store -> {
            boolean spilled = store.environment().disk().exists(StoreFiles.SPILL);
            try (Snapshot snapshot = store.openSnapshot()) {
                return new SqlRun(to, asJson, asCsv, common.debug, planning())
                        .ask(store, access.catalog(store, to.directory()), snapshot, text);
            } finally {
                if (!spilled && !access.isShared()) {
                    leaveAsItWas(store.environment().disk());
                }
            }
        });
    }

    private Duration planning() {
        return Duration.ofMillis(planningMillis);
    }

    private String textOf(String path) {
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
        } catch (CharacterCodingException e) {
            throw new InvalidRequestException("--file %s is not UTF-8".formatted(path), e);
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
