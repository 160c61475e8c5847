package io.turbidite.feeds.cluster.command;

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

/** What is done with a cluster; its subcommands do the work. */
@Command(
        name = "cluster",
        customSynopsis = "./turbidite cluster COMMAND --dir DIR [--help] [--json] [--debug] ...",
        description = {
            "Keep datasets on several processes of this machine, and ask them in SQL.",
            "docs/cluster.md says what a cluster is, and what is not there yet.",
        },
        commandListHeading = "%nCommands:%n")
public final class ClusterCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("UnusedVariable") // the parser knows its options by it
    private final CommonOptions common = new CommonOptions();

    @Spec
    private @Nullable CommandSpec spec;

    private ClusterCommand() {}

    /** The commands as a user gives them. */
    public static CommandLine of(Console console) {
        return of(new ClusterAccess(console, null));
    }

    static CommandLine of(ClusterAccess access) {
        return new CommandLine(new ClusterCommand())
                .addSubcommand(new ClusterStartCommand(access))
                .addSubcommand(new ClusterStatusCommand(access))
                .addSubcommand(new ClusterSqlCommand(access))
                .addSubcommand(new ClusterLoadCommand(access))
                .addSubcommand(new ClusterStopCommand(access))
                .addSubcommand(new ClusterControllerCommand(access))
                .addSubcommand(new ClusterNodeCommand(access));
    }

    @Override
    public Integer call() {
        CommandLine line = Objects.requireNonNull(spec).commandLine();
        throw new ParameterException(
                line,
                "no command given; commands are "
                        + String.join(", ", line.getSubcommands().keySet()));
    }
}
