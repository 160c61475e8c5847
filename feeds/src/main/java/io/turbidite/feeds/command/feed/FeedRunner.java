package io.turbidite.feeds.command.feed;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.meter.StoreEvent.SourceContinued;
import io.turbidite.feeds.Feed;
import io.turbidite.feeds.FeedDefinition;
import io.turbidite.feeds.FeedReport;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.DisabledIndexes;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Failures;
import io.turbidite.feeds.command.common.Interrupts;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.Progress;
import io.turbidite.feeds.command.common.Words;
import io.turbidite.feeds.log.DirectoryKind;
import io.turbidite.feeds.source.parcel.HttpKind;
import io.turbidite.feeds.source.parcel.TcpKind;
import io.turbidite.feeds.source.stdin.StdinKind;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;

import org.jspecify.annotations.Nullable;

import java.io.PrintStream;
import java.nio.file.Path;
import java.util.function.Consumer;

/**
 * Runs a feed into a store while somebody watches: with progress, and until the source ends or the
 * user asks to stop. <em>Used once; stopping is thread-safe.</em>
 */
final class FeedRunner {
    private final Console console;
    private final Serving serving;
    private final FeedDefinition definition;
    private final Path directory;
    private @Nullable Feed running;
    private boolean stopped;

    FeedRunner(Console console, Serving serving, FeedDefinition definition, Path directory) {
        this.console = console;
        this.serving = serving;
        this.definition = definition;
        this.directory = directory;
    }

    /** What is done with the store when the feed has ended, before it is closed. */
    @FunctionalInterface
    interface Then {
        void run(Store store, FeedReport report);
    }

    /**
     * Runs the feed, then {@code then} unless the user asked to stop, then {@code summary}.
     *
     * @return the exit code
     */
    int run(Then then, Consumer<FeedReport> summary) {
        Feed.check(definition);
        try (Interrupts.Watch watch = console.interrupts().watch(this::stop)) {
            FeedReport report = load(then);
            summary.accept(report);
            console.out().flush();
            return report.finished() && !watch.interrupted()
                    ? Failures.codeOfLoad(report.records(), report.rejected(), console.err())
                    : ExitCode.INTERRUPTED;
        }
    }

    private FeedReport load(Then then) {
        String kind = definition.source().kind();
        if (kind.equals(HttpKind.NAME) || kind.equals(TcpKind.NAME)) {
            throw new InvalidRequestException(
                    "feed %s takes what clients send to a server: start it with ./turbidite serve"
                            .formatted(definition.feed()));
        }
        DirectoryKind.checkNoLog(directory);
        try (Store store = Store.open(directory, definition.storeOptions());
                Serving.Server server = serving.start(store, console.home());
                Feed feed = Feed.open(definition, store)) {
            server.problem().ifPresent(problem -> console.err().println("note: " + problem));
            DisabledIndexes.tell(
                    store,
                    store.dataset(definition.dataset().name()),
                    directory.toString(),
                    console,
                    index -> true);
            setRunning(feed);
            if (kind.equals(StdinKind.NAME)) {
                console.err()
                        .println(
                                "note: %s reads standard input, which cannot be read again: what was read and is not yet in the store is lost if this process dies; the end of the input or Ctrl-C ends it"
                                        .formatted(definition.feed()));
            } else if (feed.isEndless()) {
                console.err()
                        .println("note: %s follows its source until it is stopped; Ctrl-C ends it"
                                .formatted(definition.feed()));
            }
            FeedReport report;
            try (Progress progress = Progress.of(console, definition.feed())) {
                report = feed.run(progress);
                if (report.finished()) {
                    // else the next command would have to replay the log
                    flush(store);
                }
            }
            if (report.finished()) {
                then.run(store, report);
            }
            return report;
        }
    }

    private static void flush(Store store) {
        try {
            store.datasets().forEach(Dataset::flush);
        } catch (StorageIoException e) {
            if (e.kind() != StorageIoException.Kind.INTERRUPTED) {
                throw e;
            }
            // the user is in a hurry: the log has all, and the next command replays it
        }
    }

    private synchronized void setRunning(Feed feed) {
        running = feed;
        if (stopped) {
            feed.stopWithin(Interrupts.WAIT_MICROS_MAX);
        }
    }

    private synchronized void stop() {
        stopped = true;
        if (running != null) {
            running.stopWithin(Interrupts.WAIT_MICROS_MAX);
        }
    }

    /** The summary, which counts what waits only if something does. */
    static Json.Line summary(FeedReport report, String store) {
        Json.Line line = Json.line()
                .put("step", "summary")
                .put("feed", report.feed())
                .put("dataset", report.dataset())
                .put("records", report.records())
                .put("rejected", report.rejected());
        if (report.dropped() > 0) {
            line.put("dropped", report.dropped());
        }
        if (report.spilled() > 0) {
            line.put("spilled", report.spilled());
        }
        if (report.waiting() > 0) {
            line.put("waiting", report.waiting());
        }
        return line.put("seconds", Math.round(report.seconds() * 1e3) / 1e3).put("store", store);
    }

    /** Says where a source went on in the middle of a record that had been taken. */
    static void printContinued(FeedReport report, PrintStream err) {
        for (SourceContinued event : report.continued()) {
            String outcome = switch (event.outcome()) {
                case "replaced" -> "it has taken the old one's place";
                case "taken" -> "it is taken, the old one was rejected";
                default -> "it is rejected, the old one stays";
            };
            err.println(
                    "note: %s, line %d: the file went on in the middle of the record '%s', which is '%s' now; %s"
                            .formatted(
                                    event.file(),
                                    event.line(),
                                    Failures.oneLine(event.before()),
                                    Failures.oneLine(event.after()),
                                    outcome));
        }
    }

    /** One line on what was loaded from a source that can be read again. */
    static String text(FeedReport report) {
        return text(report, true);
    }

    /** One line on what was loaded. */
    static String text(FeedReport report, boolean canGoBack) {
        String waiting = report.waiting() == 0
                ? ""
                : ", %s unfinished (of Avro: a block of records): a file is being written, is cut, or ends within quotes, run it again for the rest"
                        .formatted(Words.count(report.waiting(), "record"));
        if (canGoBack
                && report.finished()
                && report.resumed()
                && report.records() + report.rejected() + report.dropped() == 0) {
            return "%s: nothing new, the source was loaded before%s"
                    .formatted(report.feed(), waiting);
        }
        return "%s: %s%s in %s (%s a second), %s rejected%s%s%s%s"
                .formatted(
                        report.feed(),
                        Words.count(report.records(), report.resumed() ? "more record" : "record"),
                        report.finished() ? "" : " before it was stopped",
                        Words.seconds(report.seconds()),
                        Words.number(
                                Math.round(report.records() / Math.max(report.seconds(), 1e-3))),
                        Words.number(report.rejected()),
                        report.dropped() == 0
                                ? ""
                                : ", %s left out".formatted(Words.number(report.dropped())),
                        report.spilled() == 0
                                ? ""
                                : ", %s spilled".formatted(Words.number(report.spilled())),
                        waiting,
                        report.finished() || !canGoBack ? "" : "; run it again to go on");
    }
}
