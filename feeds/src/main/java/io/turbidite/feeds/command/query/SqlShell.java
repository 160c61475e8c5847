package io.turbidite.feeds.command.query;

import io.turbidite.core.StorageException;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Interrupts;
import io.turbidite.feeds.command.common.Words;

import org.jline.reader.Candidate;
import org.jline.reader.EOFError;
import org.jline.reader.EndOfFileException;
import org.jline.reader.LineReader;
import org.jline.reader.LineReaderBuilder;
import org.jline.reader.ParsedLine;
import org.jline.reader.UserInterruptException;
import org.jline.reader.impl.DefaultParser;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Statements as somebody types them: over several lines until a semicolon, with history and
 * completion. Names of JLine stand here alone, so that no command loads it. <em>Confined to one
 * thread.</em>
 */
final class SqlShell {
    private static final List<String> WORDS = List.of("""
            select from where group by having order limit offset join left right full cross on
            using union intersect except all distinct as and or not in exists between like is null
            case when then else end cast insert into values upsert update set delete create drop
            dataset index show datasets indexes describe explain analyze over partition unnest
            count sum avg min max
            """.strip().split("\\s+", -1));
    private static final String HELP = """
            \\d            the datasets
            \\d NAME       the fields of a dataset
            \\plan         show how each statement is answered, or no more
            \\timing       show how long each statement takes, or no more
            \\q            end, as Ctrl-D does
            A statement ends with a semicolon. Ctrl-C drops the line, or ends the statement that runs.""";

    private final Console console;
    private final Terminal terminal;
    private final Statements statements;
    private final LineReader reader;
    private final Set<String> names = new TreeSet<>();
    private boolean isTimed;
    private boolean isPlanned;

    /** Runs statements. */
    interface Statements {
        /**
         * Runs one.
         *
         * @return the exit code of a command that runs it alone
         */
        int run(Console console, String text, boolean csv);
    }

    /**
     * @param history where lines are kept from one shell to the next
     */
    SqlShell(Console console, Terminal terminal, Statements statements, Path history) {
        this.terminal = terminal;
        this.statements = statements;
        PrintStream out = new PrintStream(terminal.output(), true, StandardCharsets.UTF_8);
        this.console = new Console(
                console.in(),
                out,
                out,
                console.terminal(),
                console.directory(),
                console.home(),
                interrupts(terminal),
                console.clock());
        this.reader = LineReaderBuilder.builder()
                .terminal(terminal)
                .appName("turbidite")
                .parser(new Lines())
                .completer((_, line, candidates) -> complete(line, candidates))
                .variable(LineReader.HISTORY_FILE, history)
                .variable(LineReader.SECONDARY_PROMPT_PATTERN, "   ...> ")
                .option(LineReader.Option.DISABLE_EVENT_EXPANSION, true)
                .option(LineReader.Option.CASE_INSENSITIVE, true)
                .build();
    }

    /** Statements that are typed into the terminal of this process; returns the exit code. */
    static int run(Console console, Statements statements) {
        Path history = Path.of(System.getProperty("user.home", "."), ".turbidite_history");
        try (Terminal terminal =
                TerminalBuilder.builder().system(true).nativeSignals(true).build()) {
            return new SqlShell(console, terminal, statements, history).run();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Ctrl-C ends what runs, and not the shell. */
    private static Interrupts interrupts(Terminal terminal) {
        return stop -> {
            AtomicBoolean asked = new AtomicBoolean();
            Terminal.SignalHandler before = terminal.handle(Terminal.Signal.INT, _ -> {
                if (asked.compareAndSet(false, true)) {
                    stop.run();
                }
            });
            return new Interrupts.Watch() {
                @Override
                public boolean interrupted() {
                    return asked.get();
                }

                @Override
                public void close() {
                    terminal.handle(Terminal.Signal.INT, before);
                }
            };
        };
    }

    /** Statements until the end; returns the exit code. */
    int run() {
        learnNames();
        while (true) {
            String line;
            try {
                line = reader.readLine("sql> ");
            } catch (UserInterruptException _) {
                continue;
            } catch (EndOfFileException _) {
                return ExitCode.OK;
            }
            String text = line.strip();
            if (text.equals("\\q")) {
                return ExitCode.OK;
            }
            if (text.startsWith("\\")) {
                command(text);
            } else {
                all(text);
            }
            terminal.flush();
        }
    }

    private void command(String text) {
        String[] words = text.split("\\s+", 2);
        switch (words[0]) {
            case "\\d" ->
                show(
                        words.length == 1
                                ? "show datasets"
                                : "describe " + words[1].replaceAll(";$", ""));
            case "\\timing" -> {
                isTimed = !isTimed;
                console.out().println(isTimed ? "times are shown" : "times are not shown");
            }
            case "\\plan" -> {
                isPlanned = !isPlanned;
                console.out().println(isPlanned ? "plans are shown" : "plans are not shown");
            }
            case "\\?" -> console.out().println(HELP);
            default ->
                console.out()
                        .println("there is no %s; \\? lists what there is".formatted(words[0]));
        }
    }

    private void all(String text) {
        StatementReader each = new StatementReader(new StringReader(text));
        for (String statement = each.next(); statement != null; statement = each.next()) {
            String first = statement.strip().toLowerCase(Locale.ROOT);
            if (isPlanned && (first.startsWith("select") || first.startsWith("with"))) {
                show("explain " + statement);
            }
            long startNanos = console.clock().monotonicNanos();
            if (show(statement) != ExitCode.OK) {
                return;
            }
            if (isTimed) {
                console.out()
                        .println(Words.millis(
                                Words.toMillis(console.clock().monotonicNanos() - startNanos)));
            }
            if (first.startsWith("create") || first.startsWith("drop")) {
                learnNames();
            }
        }
    }

    /** Runs a statement; what is wrong is told, and the shell goes on. */
    private int show(String statement) {
        try {
            return statements.run(console, statement, false);
        } catch (StorageException e) {
            console.out().println("turbidite: " + e.getMessage());
            return ExitCode.FAILED;
        }
    }

    /** The names of datasets and of their fields, for completion. */
    private void learnNames() {
        names.clear();
        List<String> datasets = firstColumn("show datasets");
        names.addAll(datasets);
        for (String dataset : datasets) {
            names.addAll(firstColumn("describe \"" + dataset.replace("\"", "\"\"") + "\""));
        }
    }

    private List<String> firstColumn(String statement) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);
        Console quiet = new Console(
                console.in(),
                out,
                new PrintStream(OutputStream.nullOutputStream(), true, StandardCharsets.UTF_8),
                false,
                console.directory(),
                console.home(),
                Interrupts.none(),
                console.clock());
        try {
            if (statements.run(quiet, statement, true) != ExitCode.OK) {
                return List.of();
            }
        } catch (StorageException _) {
            // there is nothing to complete by; the statements themselves are told what is wrong
            return List.of();
        }
        List<String> cells = new ArrayList<>();
        for (String row : bytes.toString(StandardCharsets.UTF_8).lines().skip(1).toList()) {
            int end = row.indexOf(',');
            cells.add(end < 0 ? row : row.substring(0, end));
        }
        return cells;
    }

    private void complete(ParsedLine line, List<Candidate> candidates) {
        String word = line.word().substring(0, line.wordCursor());
        String before = word.substring(0, word.lastIndexOf('.') + 1);
        for (String name : names) {
            candidates.add(new Candidate(before + name, name, null, null, null, null, true));
        }
        if (before.isEmpty()) {
            for (String known : WORDS) {
                candidates.add(new Candidate(known, known, null, null, null, null, true));
            }
        }
    }

    /** A line is whole with a semicolon, or if it is a command of the shell. */
    private static final class Lines extends DefaultParser {
        Lines() {
            setEscapeChars(new char[0]);
            setQuoteChars(new char[0]);
        }

        @Override
        public ParsedLine parse(String line, int cursor, ParseContext context) {
            String text = line.strip();
            if (context == ParseContext.ACCEPT_LINE
                    && !text.startsWith("\\")
                    && !StatementReader.isWhole(text)) {
                throw new EOFError(-1, -1, "the statement goes on");
            }
            return super.parse(line, cursor, context);
        }
    }
}
