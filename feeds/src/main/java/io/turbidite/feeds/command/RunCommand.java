package io.turbidite.feeds.command;

import io.turbidite.feeds.FeedDefinition;
import io.turbidite.feeds.FeedReport;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.util.concurrent.Callable;

/** Runs a feed. */
@Command(
        name = "run",
        customSynopsis = "./turbidite run FEED.yaml [--store DIR] [--json] [--debug]",
        description = {
            "Run a feed until its source ends or Ctrl-C. Run it again to go on where it ended.",
            "Feed definitions to copy are in feeds/samples, all keys in docs/feed-definition.md.",
        },
        sortOptions = false)
final class RunCommand implements Callable<Integer> {
    private final Console console;

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

    RunCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        FeedDefinition feed = FeedDefinition.load(Stores.path("FEED.yaml", definition));
        return new FeedRunner(console, feed, Stores.path("--store", store))
                .run((opened, report) -> {}, this::print);
    }

    private void print(FeedReport report) {
        if (common.json) {
            FeedRunner.summary(report, store).printTo(console.out());
        } else {
            console.out()
                    .println("%s; dataset %s in store %s"
                            .formatted(FeedRunner.text(report), report.dataset(), store));
        }
        if (report.rejected() > 0) {
            console.err()
                    .println("rejected records are kept with their reasons in "
                            + report.deadLetters());
        }
    }
}
