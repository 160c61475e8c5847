package io.turbidite.feeds.command;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.NearestName;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.cluster.command.ClusterCommand;
import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Failures;
import io.turbidite.feeds.command.common.Interrupts;
import io.turbidite.feeds.command.common.StandardError;
import io.turbidite.feeds.command.common.StandardOutput;
import io.turbidite.feeds.command.common.StoreAccess;
import io.turbidite.feeds.command.copy.ExportCommand;
import io.turbidite.feeds.command.copy.ImportCommand;
import io.turbidite.feeds.command.feed.FeedCommand;
import io.turbidite.feeds.command.feed.QuickstartCommand;
import io.turbidite.feeds.command.feed.RunCommand;
import io.turbidite.feeds.command.log.LogCommand;
import io.turbidite.feeds.command.log.LogSalvageCommand;
import io.turbidite.feeds.command.operate.BackupCommand;
import io.turbidite.feeds.command.operate.QuarantineCommand;
import io.turbidite.feeds.command.operate.ReceiveCommand;
import io.turbidite.feeds.command.operate.RepairCommand;
import io.turbidite.feeds.command.operate.RestoreCommand;
import io.turbidite.feeds.command.operate.ShipCommand;
import io.turbidite.feeds.command.operate.TrashCommand;
import io.turbidite.feeds.command.operate.UpgradeCommand;
import io.turbidite.feeds.command.operate.VerifyCommand;
import io.turbidite.feeds.command.query.GetCommand;
import io.turbidite.feeds.command.query.JobCommand;
import io.turbidite.feeds.command.query.QueryCommand;
import io.turbidite.feeds.command.query.SqlCommand;
import io.turbidite.feeds.command.server.ServeCommand;
import io.turbidite.feeds.command.server.TokenCommand;
import io.turbidite.feeds.command.store.AdviseCommand;
import io.turbidite.feeds.command.store.DatasetCommand;
import io.turbidite.feeds.command.store.DeleteCommand;
import io.turbidite.feeds.command.store.DropCommand;
import io.turbidite.feeds.command.store.FlushCommand;
import io.turbidite.feeds.command.store.IndexCommand;
import io.turbidite.feeds.command.store.InspectCommand;
import io.turbidite.feeds.command.store.MergeCommand;
import io.turbidite.feeds.command.store.PutCommand;
import io.turbidite.feeds.command.watch.DoctorCommand;
import io.turbidite.feeds.command.watch.StatsCommand;
import io.turbidite.feeds.command.watch.TailCommand;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * The command {@code ./turbidite}: parses arguments, runs a subcommand, turns failures into lines.
 */
public final class Main {
    /** Where the project lies; set by the launcher. */
    private static final String HOME_PROPERTY = "turbidite.home";

    /** Whether standard error is a terminal; set by the launcher, which can tell. */
    private static final String TERMINAL_PROPERTY = "turbidite.terminal";

    /** Of the build; the first line of what bug reports need. */
    static final String VERSION = "0.1.0-SNAPSHOT";

    /** The launcher's own command. */
    static final String BENCH = "bench";

    /** As the parser tells it. */
    private static final Pattern EXCLUSIVE =
            Pattern.compile("^Error: (.+), (.+) are mutually exclusive.*", Pattern.DOTALL);

    /** Commands whose arguments may be negative numbers. */
    private static final Set<String> TAKE_KEYS = Set.of("get", "delete");

    /** Commands that tell of other ones. */
    private static final Set<String> TELL_OF_ALL = Set.of("help", "completion", "man");

    private Main() {}

    /** Runs a subcommand and ends the process with its exit code. */
    public static void main(String[] args) {
        // messages are English, and so are the numbers in them
        Locale.setDefault(Locale.Category.FORMAT, Locale.ROOT);
        StandardError.restore();
        StandardErrorLogging.install();
        StandardOutput standard = new StandardOutput(new FileOutputStream(FileDescriptor.out));
        PrintStream out = new PrintStream(standard, false, StandardCharsets.UTF_8);
        PrintStream err = new PrintStream(
                new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8);
        Console console = new Console(
                // of a channel, since a thread that waits in a file stream can't be released
                Channels.newInputStream(new FileInputStream(FileDescriptor.in).getChannel()),
                out,
                err,
                Boolean.getBoolean(TERMINAL_PROPERTY),
                Path.of("").toAbsolutePath(),
                home(),
                Interrupts.ofProcess(),
                Clock.system());
        int code = ExitCode.USAGE;
        String lost = GivenArguments.firstLost(args);
        if (lost == null) {
            code = run(args, console);
        } else {
            err.println(
                    "turbidite: '%s' lost characters: they are none of %s, the encoding of this locale"
                            .formatted(Failures.oneLine(lost), GivenArguments.encoding()));
            err.println("  set another locale, for example LC_ALL=C.UTF-8");
        }
        out.flush();
        if (out.checkError()) {
            code = standard.isReaderGone() ? ExitCode.FAILED : unwritable(err);
        }
        System.exit(code);
    }

    private static int unwritable(PrintStream err) {
        err.println("turbidite: standard output can't be written; is its disk full?");
        return ExitCode.FAILED;
    }

    /**
     * Runs a subcommand in this process, quietly: no progress bar, no watching for Ctrl-C.
     *
     * @return the exit code
     */
    public static int run(String[] args, PrintStream out, PrintStream err) {
        Path here = Path.of("").toAbsolutePath();
        return run(
                args,
                new Console(
                        InputStream.nullInputStream(),
                        out,
                        err,
                        false,
                        here,
                        home(),
                        Interrupts.none(),
                        Clock.system()));
    }

    static int run(String[] args, Console console) {
        return run(args, console, StoreAccess.opening(console, args));
    }

    static int run(String[] args, Console console, StoreAccess stores) {
        boolean debug = Arrays.asList(args).contains("--debug");
        PrintWriter out = new PrintWriter(console.out(), true, StandardCharsets.UTF_8);
        CommandLine commands = new CommandLine(new Root());
        subcommands(console, stores, args.length > 0 ? args[0] : "")
                .forEach(subcommand -> commands.addSubcommand(subcommand.get()));
        commands.setOut(out)
                .setExpandAtFiles(false) // a key may begin with @
                .setParameterExceptionHandler((e, given) -> misused(e, console.err(), debug))
                .setExecutionExceptionHandler((e, line, result) -> report(e, line, console, debug));
        try {
            boolean hasKeys = args.length > 0 && TAKE_KEYS.contains(args[0]);
            int code = commands.execute(hasKeys ? GetCommand.separate(args) : args);
            // what was printed and got lost was not done
            return code == ExitCode.OK && console.out().checkError() ? ExitCode.FAILED : code;
        } catch (OutOfMemoryError e) {
            return Failures.report(e, console.err(), debug);
        } finally {
            console.out().flush();
        }
    }

    /**
     * What the parser has to know: the one that is named first, or, where something else is, all.
     * It reads a command's options by reflection, 10 ms of CPU for each.
     */
    private static Collection<Supplier<Object>> subcommands(
            Console console, StoreAccess stores, String first) {
        Map<String, Supplier<Object>> commands = new LinkedHashMap<>();
        commands.put("quickstart", () -> new QuickstartCommand(console, StoreServer::serve));
        commands.put("run", () -> new RunCommand(console, StoreServer::serve));
        commands.put("feed", () -> FeedCommand.of(console, stores));
        commands.put("serve", () -> new ServeCommand(console, StoreServer::serve));
        commands.put("token", () -> new TokenCommand(console));
        commands.put("query", () -> new QueryCommand(console, stores));
        commands.put("sql", () -> new SqlCommand(console, stores));
        commands.put("job", () -> new JobCommand(console, stores));
        commands.put("get", () -> new GetCommand(console, stores));
        commands.put("put", () -> new PutCommand(console));
        commands.put("delete", () -> new DeleteCommand(console));
        commands.put("export", () -> new ExportCommand(console, stores));
        commands.put("import", () -> new ImportCommand(console));
        commands.put("inspect", () -> new InspectCommand(console, stores));
        commands.put("stats", () -> new StatsCommand(console, stores));
        commands.put("doctor", () -> new DoctorCommand(console, stores));
        commands.put("tail", () -> new TailCommand(console, stores));
        commands.put("verify", () -> new VerifyCommand(console, stores));
        commands.put("advise", () -> new AdviseCommand(console, stores));
        commands.put("trash", () -> new TrashCommand(console, stores));
        commands.put("dataset", () -> DatasetCommand.of(console, stores));
        commands.put("index", () -> IndexCommand.of(console));
        commands.put("drop", () -> new DropCommand(console));
        commands.put("flush", () -> new FlushCommand(console, stores));
        commands.put("merge", () -> new MergeCommand(console));
        commands.put("repair", () -> new RepairCommand(console));
        commands.put("quarantine", () -> new QuarantineCommand(console));
        commands.put("upgrade", () -> new UpgradeCommand(console, stores));
        commands.put("backup", () -> new BackupCommand(console, stores));
        commands.put("restore", () -> new RestoreCommand(console));
        commands.put("ship", () -> new ShipCommand(console, stores));
        commands.put("receive", () -> new ReceiveCommand(console));
        commands.put("log", () -> LogCommand.of(console));
        commands.put("cluster", () -> ClusterCommand.of(console));
        commands.put("help", () -> new HelpCommand());
        commands.put("completion", () -> new CompletionCommand(console));
        commands.put("man", () -> new ManCommand(console));
        if (first.equals("-V") || first.equals("--version")) {
            return List.of();
        }
        Supplier<Object> named = TELL_OF_ALL.contains(first) ? null : commands.get(first);
        return named == null ? commands.values() : List.of(named);
    }

    private static int report(Exception e, CommandLine line, Console console, boolean debug) {
        PrintStream err = console.err();
        CommandLine group = line.getParent();
        boolean isLog = group != null && group.getCommandName().equals("log");
        if (isLog && e instanceof CorruptionException) {
            return Failures.report(e, err, debug, LogSalvageCommand.ADVICE);
        }
        if (isLog
                && e instanceof StorageIoException io
                && io.kind() == StorageIoException.Kind.NO_SPACE) {
            return Failures.report(e, err, debug, "free some space, and ingest the rest again");
        }
        String misplaced = MisplacedStore.advice(e, line, console.directory());
        return misplaced == null
                ? Failures.report(e, err, debug)
                : Failures.report(e, err, debug, misplaced);
    }

    private static int misused(ParameterException e, PrintStream err, boolean debug) {
        CommandLine line = e.getCommandLine();
        if (debug) {
            e.printStackTrace(err);
        }
        boolean unknown = line.getParent() == null || !line.getSubcommands().isEmpty();
        String what = String.valueOf(e.getMessage());
        if (e instanceof UnmatchedArgumentException unmatched) {
            String meant = Mistyped.told(unmatched);
            what = meant != null
                    ? meant
                    : unknown ? unknown(unmatched.getUnmatched().getFirst(), line) : what;
        }
        if (e instanceof CommandLine.MutuallyExclusiveArgsException) {
            what = EXCLUSIVE
                    .matcher(what)
                    .replaceFirst("$1 and $2 don't go together; give only one");
        }
        err.println("turbidite: " + Failures.oneLine(what));
        err.println(
                "  %s --help says more".formatted("./" + line.getCommandSpec().qualifiedName(" ")));
        return ExitCode.USAGE;
    }

    static String unknown(String command, CommandLine line) {
        List<String> names = commandNames(line);
        return "unknown command '%s'; commands are %s%s"
                .formatted(command, String.join(", ", names), NearestName.hint(command, names));
    }

    private static List<String> commandNames(CommandLine line) {
        List<String> names = new ArrayList<>();
        line.getSubcommands().forEach((name, command) -> {
            if (!command.getCommandSpec().usageMessage().hidden()) {
                names.add(name);
            }
        });
        if (line.getParent() == null) {
            names.add(BENCH);
        }
        return names;
    }

    /** The nearest directory upwards that has the samples, where no launcher says it. */
    private static Path home() {
        String given = System.getProperty(HOME_PROPERTY);
        if (given != null) {
            return Path.of(given);
        }
        Path here = Path.of("").toAbsolutePath();
        for (Path up = here; up != null; up = up.getParent()) {
            if (RealDisk.isDirectory(up.resolve(QuickstartCommand.SAMPLES))) {
                return up;
            }
        }
        return here;
    }

    /** What is run without a subcommand. */
    @Command(
            name = "turbidite",
            customSynopsis = "./turbidite COMMAND [--help] [--json] [--debug] ...",
            description = {
                "Loads feeds of records into LSM stores and asks them.",
                "New here: ./turbidite quickstart",
            },
            versionProvider = VersionLines.class,
            commandListHeading = "%nCommands:%n",
            footer = {
                "  bench       Run an experiment suite.",
                "",
                "Exit codes: 0 done, 1 failed, 2 wrong arguments or feed definition, 130"
                        + " interrupted.",
            })
    private static final class Root implements Callable<Integer> {
        @Mixin
        @SuppressWarnings("UnusedVariable") // the parser knows its options by it
        private final CommonOptions common = new CommonOptions();

        @Option(
                names = {"-V", "--version"},
                versionHelp = true,
                description = "Print the version.")
        @SuppressWarnings("UnusedVariable") // the parser knows it
        private boolean version;

        @Spec
        private @Nullable CommandSpec spec;

        @Override
        public Integer call() {
            CommandLine line = Objects.requireNonNull(spec).commandLine();
            throw new ParameterException(
                    line,
                    "no command given; commands are " + String.join(", ", commandNames(line)));
        }
    }
}
