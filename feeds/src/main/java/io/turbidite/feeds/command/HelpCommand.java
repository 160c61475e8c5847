package io.turbidite.feeds.command;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;

/** Prints what {@code --help} does, for who asks in front. */
@Command(
        name = "help",
        customSynopsis = "./turbidite help [COMMAND [COMMAND]]",
        description = "Print the help of all commands, or of one.",
        sortOptions = false)
final class HelpCommand implements Callable<Integer> {
    @Parameters(
            arity = "0..*",
            paramLabel = "COMMAND",
            description = "Such as query, or: index create.")
    private List<String> names = List.of();

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Print this help.")
    @SuppressWarnings("UnusedVariable") // the parser knows it
    private boolean help;

    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public Integer call() {
        CommandLine line = Objects.requireNonNull(spec).commandLine().getParent();
        for (String name : names) {
            CommandLine sub = line.getSubcommands().get(name);
            if (sub == null && line.getParent() == null && name.equals(Main.BENCH)) {
                line.getOut().println("./turbidite bench --help says what experiments there are");
                return CommandLine.ExitCode.OK;
            }
            if (sub == null && line.getSubcommands().isEmpty()) {
                break; // the word is an argument, as add of: log psf add
            }
            if (sub == null) {
                throw new ParameterException(line, Main.unknown(name, line));
            }
            line = sub;
        }
        line.usage(line.getOut());
        return CommandLine.ExitCode.OK;
    }
}
