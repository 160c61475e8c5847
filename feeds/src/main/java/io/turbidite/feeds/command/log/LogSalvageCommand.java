package io.turbidite.feeds.command.log;

import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Interrupts;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.PathArgument;
import io.turbidite.feeds.command.common.Words;
import io.turbidite.feeds.log.Salvage;
import io.turbidite.hashlog.LogSalvage;
import io.turbidite.hashlog.log.SoundRecords.Loss;
import io.turbidite.hashlog.parse.ParserSpec;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;

/** Saves what is sound of a damaged log. */
@Command(
        name = "salvage",
        customSynopsis = "./turbidite log salvage LOGDIR NEWDIR [options]",
        description = {
            "Read what is sound of a damaged log into a new one, and say what is lost.",
            "LOGDIR is only read. PSFs are registered again and index all of the new log.",
            "The exit code is 1 if the disk gave an error for a file: the others are read.",
        },
        sortOptions = false)
public final class LogSalvageCommand implements Callable<Integer> {
    /** Losses that are told one by one; the rest is counted. */
    private static final int TOLD_MAX = 50;

    /** What to do about a damaged log. */
    public static final String ADVICE =
            "./turbidite log salvage LOGDIR NEWDIR reads what is sound of a damaged log into a new one";

    private final Console console;

    @Parameters(index = "0", paramLabel = "LOGDIR", description = "Directory of the damaged log.")
    private String directory = "";

    @Parameters(
            index = "1",
            paramLabel = "NEWDIR",
            description = "Directory of the new log; empty or not there yet.")
    private String target = "";

    @Option(
            names = "--parser",
            paramLabel = "SPEC",
            description =
                    "How records are read, if the log can't say it any more: json (the default) or csv(...).")
    private String parser = "";

    @Mixin
    private final CommonOptions common = new CommonOptions();

    private int told;

    LogSalvageCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        @Nullable ParserSpec spec = parser.isEmpty() ? null : ParserSpec.parse(parser);
        AtomicBoolean stopped = new AtomicBoolean();
        try (Interrupts.Watch watch = console.interrupts().watch(() -> stopped.set(true))) {
            LogSalvage.Result result = Salvage.run(
                    PathArgument.path("LOGDIR", directory),
                    PathArgument.path("NEWDIR", target),
                    spec,
                    this::tell,
                    stopped::get);
            print(result);
            console.out().flush();
            if (watch.interrupted()) {
                return ExitCode.INTERRUPTED;
            }
            return result.unreadFiles().isEmpty() ? ExitCode.OK : ExitCode.FAILED;
        }
    }

    private void tell(Loss loss) {
        if (++told <= TOLD_MAX) {
            console.err().println("lost: " + loss);
        }
    }

    private void print(LogSalvage.Result result) {
        if (told > TOLD_MAX) {
            console.err().println("lost: %s places more".formatted(Words.number(told - TOLD_MAX)));
        }
        result.psfsLeft()
                .forEach(name -> console.err()
                        .println("PSF %s is not registered: it names a function of a program"
                                .formatted(name)));
        if (!result.unreadFiles().isEmpty()) {
            console.err()
                    .println(
                            "could not be read: %s; a second try, into another directory, may read more"
                                    .formatted(String.join(", ", result.unreadFiles())));
        }
        if (common.json) {
            Json.line()
                    .put("log", target)
                    .put("records", result.records())
                    .put("bytes", result.bytes())
                    .put("deleted", result.deleted())
                    .put("lostBytes", result.lostBytes())
                    .put("losses", told)
                    .put("psfsLeft", result.psfsLeft())
                    .put("finished", result.finished())
                    .put("unreadFiles", result.unreadFiles())
                    .printTo(console.out());
        } else {
            console.out()
                    .println("%s (%s)%s in %s; %s of the log are lost"
                            .formatted(
                                    Words.count(result.records(), "record"),
                                    Words.bytes(result.bytes()),
                                    result.finished() ? "" : " before it was stopped",
                                    target,
                                    Words.bytes(result.lostBytes())));
        }
    }
}
