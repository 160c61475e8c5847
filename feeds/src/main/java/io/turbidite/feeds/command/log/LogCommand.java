package io.turbidite.feeds.command.log;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

import java.util.Objects;
import java.util.concurrent.Callable;

/** What is done with a hash log; its subcommands do the work. */
@Command(
        name = "log",
        customSynopsis = "./turbidite log COMMAND [--help] [--json] [--debug] ...",
        description = {
            "Keep raw records in a hash log, and find them again by properties.",
            "docs/hashlog.md says what a hash log and a PSF are.",
        },
        commandListHeading = "%nCommands:%n")
public final class LogCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("UnusedVariable") // the parser knows its options by it
    private final CommonOptions common = new CommonOptions();

    @Spec
    private @Nullable CommandSpec spec;

    private LogCommand() {}

    public static CommandLine of(Console console) {
        return new CommandLine(new LogCommand())
                .addSubcommand(new LogIngestCommand(console))
                .addSubcommand(new LogQueryCommand(console))
                .addSubcommand(new LogPsfCommand(console))
                .addSubcommand(new LogInspectCommand(console))
                .addSubcommand(new LogMigrateCommand(console))
                .addSubcommand(new LogVerifyCommand(console))
                .addSubcommand(new LogCopyCommand.Backup(console))
                .addSubcommand(new LogCopyCommand.Restore(console))
                .addSubcommand(new LogSalvageCommand(console))
                .addSubcommand(new LogJoinCommand(console));
    }

    @Override
    public Integer call() {
        CommandLine line = Objects.requireNonNull(spec).commandLine();
        throw new ParameterException(
                line,
                "no command given; commands are "
                        + String.join(", ", line.getSubcommands().keySet()));
    }

    /**
     * Both sides of {@code name=value}.
     *
     * @param option as it is called, for the complaint
     */
    static String[] pair(String option, String form, String text) {
        int at = text.indexOf('=');
        if (at <= 0 || at == text.length() - 1) {
            throw new InvalidRequestException(
                    "%s '%s' must have the form %s".formatted(option, text, form));
        }
        return new String[] {
            text.substring(0, at).strip(), text.substring(at + 1).strip()
        };
    }
}
