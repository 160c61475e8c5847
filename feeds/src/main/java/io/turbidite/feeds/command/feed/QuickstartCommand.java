package io.turbidite.feeds.command.feed;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.file.RealDisk;
import io.turbidite.feeds.FeedDefinition;
import io.turbidite.feeds.FeedReport;
import io.turbidite.feeds.ShellWord;
import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.PathArgument;
import io.turbidite.feeds.command.common.Words;
import io.turbidite.feeds.command.plot.CellPicture;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.io.PrintStream;
import java.nio.file.Path;
import java.util.concurrent.Callable;

/** Shows the main job on real data. */
@Command(
        name = "quickstart",
        customSynopsis = "./turbidite quickstart [--store DIR] [--json] [--debug]",
        description = {
            "Load every flight that left New York in 2013 by a feed definition, then ask five questions.",
            "The last answer is drawn too, into a file beside the store. Running it again adds nothing and asks again.",
        },
        sortOptions = false)
public final class QuickstartCommand implements Callable<Integer> {
    public static final String SAMPLES = "feeds/samples";
    private static final String DEFINITION = "flights.yaml";

    private final Console console;
    private final Serving serving;

    @Option(
            names = "--store",
            paramLabel = "DIR",
            description = "Directory of the store, made if missing; default: turbidite-quickstart.")
    private String store = "turbidite-quickstart";

    @Mixin
    private final CommonOptions common = new CommonOptions();

    /**
     * @param serving of the store while it is filled
     */
    public QuickstartCommand(Console console, Serving serving) {
        this.console = console;
        this.serving = serving;
    }

    @Override
    public Integer call() {
        Path samples = console.home().resolve(SAMPLES);
        if (!RealDisk.isDirectory(samples)) {
            throw new InvalidRequestException(
                    "quickstart finds no %s in %s; run it as ./turbidite quickstart in the project"
                            .formatted(SAMPLES, console.home()));
        }
        FeedDefinition feed = FeedDefinition.load(samples.resolve(DEFINITION));
        if (!common.json) {
            console.out().println("Loading the flights of 2013 into a store");
            console.out().println("  definition  " + SAMPLES + "/" + DEFINITION);
            console.out().println("  store       " + store);
            console.out().flush();
        }
        return new FeedRunner(console, serving, feed, PathArgument.path("--store", store))
                .run(this::ask, this::print);
    }

    private void ask(Store opened, FeedReport report) {
        Dataset flights = opened.dataset(report.dataset());
        if (!common.json) {
            console.out().println("  " + FeedRunner.text(report));
            console.out().println();
            console.out().println("Five questions");
        }
        for (SampleQuery sample : SampleQuery.all()) {
            SampleQuery.Answer answer = sample.ask(flights, console.clock());
            if (common.json) {
                Json.line()
                        .put("step", "query")
                        .put("name", sample.name())
                        .put("rows", answer.rows())
                        .put("millis", answer.millis())
                        .put("access", answer.access())
                        .printTo(console.out());
            } else {
                print(sample, answer);
            }
            if (sample.isDrawn()) {
                draw(sample, flights);
            }
        }
    }

    private void draw(SampleQuery sample, Dataset flights) {
        String name = store + "-" + sample.name() + ".svg";
        SampleQuery.Answer answer;
        try {
            CellPicture picture =
                    CellPicture.to(console.directory().resolve(PathArgument.path("--plot", name)));
            answer = sample.draw(flights, picture, console.clock());
        } catch (InvalidRequestException noPicture) {
            console.err().println("turbidite: " + noPicture.getMessage());
            return;
        }
        if (common.json) {
            Json.line()
                    .put("step", "picture")
                    .put("name", sample.name())
                    .put("file", name)
                    .put("rows", answer.rows())
                    .put("millis", answer.millis())
                    .put("access", answer.access())
                    .printTo(console.out());
            return;
        }
        PrintStream out = console.out();
        out.println();
        out.println("  %-44s %-12s %-9s %s"
                .formatted(
                        "The same as a picture",
                        Words.count(answer.rows(), "cell"),
                        Words.millis(answer.millis()),
                        answer.access()));
        out.println("    $ ./turbidite query %s Flights %s --plot %s"
                .formatted(ShellWord.of(store), sample.options(), ShellWord.of(name)));
        out.flush();
    }

    private void print(SampleQuery sample, SampleQuery.Answer answer) {
        PrintStream out = console.out();
        out.println();
        out.println("  %-44s %-12s %-9s %s"
                .formatted(
                        sample.title(),
                        Words.count(answer.rows(), "row"),
                        Words.millis(answer.millis()),
                        answer.access()));
        out.println("    $ ./turbidite query %s Flights %s"
                .formatted(ShellWord.of(store), sample.options()));
        answer.firstRows().forEach(row -> out.println("    " + row));
        long more = answer.rows() - answer.firstRows().size();
        if (more > 0) {
            out.println("    … and %s more".formatted(Words.number(more)));
        }
        out.flush();
    }

    private void print(FeedReport report) {
        if (common.json) {
            FeedRunner.summary(report, store).printTo(console.out());
            return;
        }
        PrintStream out = console.out();
        if (!report.finished()) {
            out.println("  " + FeedRunner.text(report));
            return;
        }
        String quoted = ShellWord.of(store);
        out.println();
        out.println("Try next");
        out.println(
                "  ./turbidite query %s Flights --eq dest=BOS --range dep_delay_min=180.. --explain"
                        .formatted(quoted));
        out.println(
                "  ./turbidite query %s Flights --within place=-83,24,-79,28 --contains dest_name=intl --group dest_name"
                        .formatted(quoted));
        out.println("  ./turbidite inspect %s".formatted(quoted));
        out.println("  ./turbidite verify %s".formatted(quoted));
        out.println(
                "  ./turbidite run YOUR.yaml --store DIR      with a copy of %s/%s for your data"
                        .formatted(SAMPLES, DEFINITION));
        out.println(
                "  ./turbidite serve %s      and look at it in a browser, at http://127.0.0.1:8470/"
                        .formatted(quoted));
    }
}
