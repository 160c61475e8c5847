package io.turbidite.feeds.command.log;

import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.log.OpenLog;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

import java.util.concurrent.Callable;

/** Describes a log. */
@Command(
        name = "inspect",
        customSynopsis = "./turbidite log inspect LOGDIR [--json] [--debug]",
        description = "Print what a log consists of: addresses, segments, table, PSFs.",
        sortOptions = false)
final class LogInspectCommand implements Callable<Integer> {
    private final Console console;

    @Mixin
    private final LogArgument given = new LogArgument();

    @Mixin
    private final CommonOptions common = new CommonOptions();

    LogInspectCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        try (OpenLog open = given.openForReading()) {
            if (common.json) {
                console.out()
                        .println(Json.text(LogInspection.toMap(given.directory(), open.log())));
            } else {
                LogInspection.print(given.directory(), open.log(), console.out());
            }
        }
        return ExitCode.OK;
    }
}
