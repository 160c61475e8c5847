package io.turbidite.feeds.command;

import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;

import org.jspecify.annotations.Nullable;

import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.util.Objects;
import java.util.concurrent.Callable;

/** Prints what lets a shell complete commands and options. */
@Command(
        name = "completion",
        hidden = true,
        customSynopsis = "./turbidite completion [bash|zsh|fish]",
        description = {
            "Print a script that completes commands and options in bash, zsh or fish:",
            "source <(./turbidite completion), ./turbidite completion fish | source",
        })
final class CompletionCommand implements Callable<Integer> {
    /** Named as people type them. */
    enum Shell {
        bash,
        zsh,
        fish
    }

    private final Console console;

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "SHELL",
            defaultValue = "bash",
            description = "bash, zsh (both take the same script), or fish.")
    private Shell shell = Shell.bash;

    @Spec
    private @Nullable CommandSpec spec;

    @Mixin
    @SuppressWarnings("UnusedVariable") // the parser knows its options by it
    private final CommonOptions common = new CommonOptions();

    CompletionCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        CommandSpec root = Objects.requireNonNull(spec).root();
        console.out()
                .print(
                        shell == Shell.fish
                                ? FishCompletion.of(root)
                                : AutoComplete.bash(root.name(), root.commandLine()));
        return ExitCode.OK;
    }
}
