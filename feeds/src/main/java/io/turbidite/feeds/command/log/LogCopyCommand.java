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
import io.turbidite.hashlog.LogCopy;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;

/** Copies a log and looks at the copy: what backup and restore have in common. */
abstract class LogCopyCommand implements Callable<Integer> {
    private final Console console;
    private final String done;

    @Mixin
    private final CommonOptions common = new CommonOptions();

    private LogCopyCommand(Console console, String done) {
        this.console = console;
        this.done = done;
    }

    abstract Path from();

    abstract Path to();

    @Override
    public Integer call() {
        AtomicBoolean stopped = new AtomicBoolean();
        try (Interrupts.Watch watch = console.interrupts().watch(() -> stopped.set(true))) {
            LogCopy.Result copied = LogCare.copy(from(), to(), stopped::get);
            if (!copied.finished()) {
                console.err().println("stopped: %s holds no whole log; delete it".formatted(to()));
                return watch.interrupted() ? ExitCode.INTERRUPTED : ExitCode.FAILED;
            }
            LogCheck.Result check = LogCare.check(to(), stopped::get);
            print(copied, check);
            if (watch.interrupted()) {
                return ExitCode.INTERRUPTED;
            }
            if (!check.isSound()) {
                console.err()
                        .println(
                                "the copy has errors: ./turbidite log verify %s says whether the log has them too"
                                        .formatted(from()));
            }
            return check.isSound() ? ExitCode.OK : ExitCode.FAILED;
        }
    }

    private void print(LogCopy.Result copied, LogCheck.Result check) {
        if (common.json) {
            Json.line()
                    .put("ok", check.isSound() && check.finished())
                    .put("from", from().toString())
                    .put("to", to().toString())
                    .put("files", copied.files())
                    .put("bytes", copied.bytes())
                    .put("records", check.records())
                    .put("errors", check.errors())
                    .put("finished", check.finished())
                    .printTo(console.out());
            console.out().flush();
            return;
        }
        console.out()
                .println("%s to %s: %s, %s"
                        .formatted(
                                done,
                                to(),
                                Words.count(copied.files(), "file"),
                                Words.bytes(copied.bytes())));
        LogVerifyCommand.print(console, false, to().toString(), check);
    }

    /** Copies a log away. */
    @Command(
            name = "backup",
            customSynopsis = "./turbidite log backup LOGDIR DIR [--json] [--debug]",
            description = {
                "Copy a log that no process has open, and check the copy. The copy is a log.",
                "Positions of feeds into the log are copied too.",
            },
            sortOptions = false)
    static final class Backup extends LogCopyCommand {
        @Parameters(index = "0", paramLabel = "LOGDIR", description = "Directory of the log.")
        private String directory = "";

        @Parameters(
                index = "1",
                paramLabel = "DIR",
                description = "Directory of the backup; empty or not there yet.")
        private String target = "";

        Backup(Console console) {
            super(console, "backed up");
        }

        @Override
        Path from() {
            return PathArgument.path("LOGDIR", directory);
        }

        @Override
        Path to() {
            return PathArgument.path("DIR", target);
        }
    }

    /** Copies a log back. */
    @Command(
            name = "restore",
            customSynopsis = "./turbidite log restore DIR LOGDIR [--json] [--debug]",
            description = "Make a log from a backup, and check it.",
            sortOptions = false)
    static final class Restore extends LogCopyCommand {
        @Parameters(index = "0", paramLabel = "DIR", description = "Directory of the backup.")
        private String backup = "";

        @Parameters(
                index = "1",
                paramLabel = "LOGDIR",
                description = "Directory of the new log; empty or not there yet.")
        private String directory = "";

        Restore(Console console) {
            super(console, "restored");
        }

        @Override
        Path from() {
            return PathArgument.path("DIR", backup);
        }

        @Override
        Path to() {
            return PathArgument.path("LOGDIR", directory);
        }
    }
}
