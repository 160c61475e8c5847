package io.turbidite.feeds.command.log;

import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Interrupts;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.PathArgument;
import io.turbidite.feeds.command.common.Words;
import io.turbidite.feeds.log.LogCare;
import io.turbidite.hashlog.LogCheck;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;

/** Looks at all of a log. */
@Command(
        name = "verify",
        customSynopsis = "./turbidite log verify LOGDIR [--json] [--debug]",
        description = {
            "Check every file of a log, and its index against its records. Nothing is changed.",
            "The exit code is 1 if anything is wrong.",
        },
        sortOptions = false)
final class LogVerifyCommand implements Callable<Integer> {
    private final Console console;

    @Parameters(index = "0", paramLabel = "LOGDIR", description = "Directory of the log.")
    private String directory = "";

    @Mixin
    private final CommonOptions common = new CommonOptions();

    LogVerifyCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        AtomicBoolean stopped = new AtomicBoolean();
        try (Interrupts.Watch watch = console.interrupts().watch(() -> stopped.set(true))) {
            LogCheck.Result result =
                    LogCare.check(PathArgument.path("LOGDIR", directory), stopped::get);
            print(console, common.json, directory, result);
            if (watch.interrupted()) {
                return ExitCode.INTERRUPTED;
            }
            return result.isSound() ? ExitCode.OK : ExitCode.FAILED;
        }
    }

    /** Prints what is wrong with a log, and what was looked at. */
    static void print(Console console, boolean json, String log, LogCheck.Result result) {
        if (json) {
            Json.line()
                    .put("ok", result.isSound() && result.finished())
                    .put("log", log)
                    .put("records", result.records())
                    .put("bytes", result.bytes())
                    .put("keyPointers", result.keyPointers())
                    .put("chains", result.chains())
                    .put("errorCount", result.errorCount())
                    .put("errors", result.errors())
                    .put("finished", result.finished())
                    .printTo(console.out());
            console.out().flush();
            return;
        }
        result.errors().forEach(console.out()::println);
        long more = result.errorCount() - result.errors().size();
        if (more > 0) {
            console.out().println("and %s more".formatted(Words.number(more)));
        }
        String seen = "%s (%s), %s"
                .formatted(
                        Words.count(result.records(), "record"),
                        Words.bytes(result.bytes()),
                        result.chains() < 0
                                ? "index not looked at"
                                : Words.count(result.keyPointers(), "key pointer"));
        console.out()
                .println(
                        !result.isSound()
                                ? "%s in %s: %s"
                                        .formatted(
                                                Words.count(result.errorCount(), "error"),
                                                log,
                                                seen)
                                : result.finished()
                                        ? "%s is sound: %s".formatted(log, seen)
                                        : "stopped: %s so far, nothing wrong".formatted(seen));
        console.out().flush();
    }
}
