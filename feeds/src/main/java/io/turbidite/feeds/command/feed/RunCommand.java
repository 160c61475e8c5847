package io.turbidite.feeds.command.feed;

import io.turbidite.core.StorageException;
import io.turbidite.feeds.FeedDefinition;
import io.turbidite.feeds.FeedReport;
import io.turbidite.feeds.LogFeed;
import io.turbidite.feeds.LogFeedDefinition;
import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Failures;
import io.turbidite.feeds.command.common.Interrupts;
import io.turbidite.feeds.command.common.PathArgument;
import io.turbidite.feeds.command.common.Progress;
import io.turbidite.feeds.source.stdin.StdinKind;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

/** Runs a feed. */
@Command(
        name = "run",
        customSynopsis = "./turbidite run FEED.yaml [--store DIR] [--json] [--debug]",
        description = {
            "Run a feed until its source ends or Ctrl-C. Run it again to go on where it ended.",
            "Exit code 1 if there were new records and every one was rejected.",
            "Feed definitions to copy are in feeds/samples, all keys in docs/feed-definition.md.",
        },
        sortOptions = false)
public final class RunCommand implements Callable<Integer> {
    private final Console console;
    private final Serving serving;

    @Parameters(
            index = "0",
            paramLabel = "FEED.yaml",
            description = "The feed definition; relative paths in it are relative to it.")
    private String definition = "";

    @Option(
            names = "--store",
            paramLabel = "DIR",
            description = "Directory of the store, made if missing; default: turbidite-store.")
    private String store = "turbidite-store";

    @Mixin
    private final CommonOptions common = new CommonOptions();

    /**
     * @param serving of the store while it is filled
     */
    public RunCommand(Console console, Serving serving) {
        this.console = console;
        this.serving = serving;
    }

    @Override
    public Integer call() {
        Path file = PathArgument.path("FEED.yaml", definition);
        if (LogFeedDefinition.isOfLog(file)) {
            return runIntoLog(LogFeedDefinition.load(file));
        }
        FeedDefinition feed = FeedDefinition.load(file);
        return new FeedRunner(console, serving, feed, PathArgument.path("--store", store))
                .run(
                        (opened, report) -> {},
                        report -> print(
                                report, "dataset", !feed.source().kind().equals(StdinKind.NAME)));
    }

    private int runIntoLog(LogFeedDefinition feed) {
        AtomicBoolean stopped = new AtomicBoolean();
        AtomicReference<@Nullable LogFeed> running = new AtomicReference<>();
        Runnable stop = () -> {
            stopped.set(true);
            LogFeed now = running.get();
            if (now != null) {
                now.endWaitsWithin(Interrupts.WAIT_MICROS_MAX);
            }
        };
        try (Interrupts.Watch watch = console.interrupts().watch(stop)) {
            FeedReport report;
            try (LogFeed opened = LogFeed.open(feed, PathArgument.path("--store", store));
                    Progress progress = Progress.of(console, feed.feed())) {
                running.set(opened);
                report = opened.run(progress, stopped::get);
            } catch (StorageException e) {
                if (!watch.interrupted()) {
                    throw e;
                }
                console.err()
                        .println("stopped before the device had taken all; the next run goes on: "
                                + Failures.oneLine(String.valueOf(e.getMessage())));
                return ExitCode.INTERRUPTED;
            }
            print(report, "log", true);
            console.out().flush();
            return report.finished() && !watch.interrupted()
                    ? Failures.codeOfLoad(report.records(), report.rejected(), console.err())
                    : ExitCode.INTERRUPTED;
        }
    }

    private void print(FeedReport report, String target, boolean canGoBack) {
        if (common.json) {
            FeedRunner.summary(report, store).printTo(console.out());
        } else {
            console.out()
                    .println("%s; %s %s in store %s"
                            .formatted(
                                    FeedRunner.text(report, canGoBack),
                                    target,
                                    report.dataset(),
                                    store));
        }
        FeedRunner.printContinued(report, console.err());
        if (report.rejected() > 0) {
            console.err()
                    .println("rejected records are kept with their reasons in "
                            + report.deadLetters());
        }
    }
}
