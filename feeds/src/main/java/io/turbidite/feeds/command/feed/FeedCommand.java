package io.turbidite.feeds.command.feed;

import io.turbidite.feeds.DefinitionException;
import io.turbidite.feeds.FeedDefinition;
import io.turbidite.feeds.FeedReport;
import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Failures;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.PathArgument;
import io.turbidite.feeds.command.common.StoreAccess;
import io.turbidite.feeds.command.common.StoreArgument;
import io.turbidite.feeds.command.common.Words;
import io.turbidite.feeds.manage.FeedLetters;
import io.turbidite.feeds.manage.FeedLetters.Letter;
import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.feeds.manage.FeedStatus;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.function.BiFunction;

/** The feeds of a store that is served: over the socket of the process that serves it. */
@Command(
        name = "feed",
        customSynopsis =
                "./turbidite feed start|list|status|pause|resume|stop|drop|letters STORE ...",
        description = {
            "Start, watch and end the feeds of a store that ./turbidite serve serves.",
            "./turbidite run FEED.yaml runs one feed without a server.",
        },
        commandListHeading = "%nCommands:%n",
        sortOptions = false)
public final class FeedCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("UnusedVariable") // the parser knows its options by it
    private final CommonOptions common = new CommonOptions();

    @Spec
    private @Nullable CommandSpec spec;

    /** The command with its subcommands. */
    public static CommandLine of(Console console, StoreAccess stores) {
        return new CommandLine(new FeedCommand())
                .addSubcommand(new Start(console, stores))
                .addSubcommand(new Listing(console, stores))
                .addSubcommand(new Status(console, stores))
                .addSubcommand(new Pause(console, stores))
                .addSubcommand(new Resume(console, stores))
                .addSubcommand(new Stop(console, stores))
                .addSubcommand(new Drop(console, stores))
                .addSubcommand(new Letters(console, stores));
    }

    @Override
    public Integer call() {
        CommandLine line = Objects.requireNonNull(spec).commandLine();
        throw new ParameterException(
                line, "say what to do: start, list, status, pause, resume, stop, drop or letters");
    }

    /** What all of them have. */
    private abstract static class OfStore implements Callable<Integer> {
        final Console console;
        final StoreAccess stores;

        @Mixin
        final StoreArgument given = new StoreArgument();

        @Mixin
        final CommonOptions common = new CommonOptions();

        OfStore(Console console, StoreAccess stores) {
            this.console = console;
            this.stores = stores;
        }

        /** A line for each of many. */
        void print(FeedStatus status) {
            if (common.json) {
                json(status).printTo(console.out());
                return;
            }
            StringBuilder line = new StringBuilder("%s: %s since %s; %s into %s"
                    .formatted(
                            status.name(),
                            status.word(),
                            at(status.sinceMicros()),
                            Words.count(status.records(), "record"),
                            status.dataset().isEmpty() ? "no dataset" : status.dataset()));
            if (status.rejected() > 0) {
                line.append(", ").append(Words.number(status.rejected())).append(" rejected");
            }
            if (status.dropped() > 0) {
                line.append(", ").append(Words.number(status.dropped())).append(" dropped");
            }
            if (status.spillBytes() > 0) {
                line.append(", ").append(Words.bytes(status.spillBytes())).append(" spilled");
            }
            if (status.namesWorkers() && status.workers() > 0) {
                line.append(", ").append(Words.count(status.workers(), "worker"));
            }
            status.lagBytes()
                    .ifPresent(bytes ->
                            line.append(", ").append(Words.bytes(bytes)).append(" to read"));
            if (status.retryMicros().isPresent()) {
                line.append("; tries again at ").append(at(status.retryMicros().getAsLong()));
            }
            if (status.cause() != null) {
                line.append("; failed: ").append(Failures.oneLine(status.cause()));
            }
            console.out().println(line);
        }

        Json.Line json(FeedStatus status) {
            return Json.line()
                    .put("feed", status.name())
                    .put("dataset", status.dataset())
                    .put("state", status.state().label())
                    .put("stopped", status.stopped())
                    .put("since", at(status.sinceMicros()))
                    .put("records", status.records())
                    .put("rejected", status.rejected())
                    .put("dropped", status.dropped())
                    .put("spilled", status.spilled())
                    .put("spillBytes", status.spillBytes())
                    .put("workers", status.workers())
                    .put("bytes", status.bytes())
                    .put("lagBytes", number(status.lagBytes()))
                    .put(
                            "retryAt",
                            status.retryMicros().isPresent()
                                    ? at(status.retryMicros().getAsLong())
                                    : null)
                    .put("cause", status.cause());
        }

        private static @Nullable Long number(OptionalLong value) {
            return value.isPresent() ? value.getAsLong() : null;
        }

        private static Instant at(long wallMicros) {
            return Instant.EPOCH.plus(wallMicros, ChronoUnit.MICROS);
        }
    }

    @Command(
            name = "start",
            customSynopsis = "./turbidite feed start STORE FEED.yaml [--change] [--json] [--debug]",
            description = {
                "Keep a feed's definition in the store and start the feed.",
                "It is started again whenever the store is served, until it is stopped or dropped.",
            },
            sortOptions = false)
    private static final class Start extends OfStore {
        @Parameters(
                index = "1",
                paramLabel = "FEED.yaml",
                description = "The feed definition; relative paths in it are relative to it.")
        private String definition = "";

        @Option(
                names = "--change",
                description = "Let a feed that there is go on by this definition.")
        private boolean change;

        Start(Console console, StoreAccess stores) {
            super(console, stores);
        }

        @Override
        public Integer call() {
            return stores.feeds(given, feeds -> {
                Path file = console.directory()
                        .resolve(PathArgument.path("FEED.yaml", definition))
                        .toAbsolutePath();
                String text = FeedDefinition.text(file);
                Path directory = Objects.requireNonNull(file.getParent());
                List<FeedStatus> before = feeds.list();
                try {
                    FeedStatus now =
                            change ? feeds.change(text, directory) : feeds.start(text, directory);
                    print(now);
                    before.stream()
                            .filter(one -> one.name().equals(now.name()))
                            .forEach(one -> tellIfMoved(one, now));
                } catch (DefinitionException e) {
                    throw e.inFile(definition);
                }
                return ExitCode.OK;
            });
        }

        /** The same text means other files then. */
        private void tellIfMoved(FeedStatus before, FeedStatus now) {
            if (!before.directory().equals(now.directory())) {
                console.err()
                        .println(
                                "feed %s: relative paths in its definition are from %s now, and were from %s"
                                        .formatted(
                                                now.name(), now.directory(), before.directory()));
            }
        }
    }

    @Command(
            name = "list",
            customSynopsis = "./turbidite feed list STORE [--json] [--debug]",
            description = "List the feeds of a store, with states and counts since it is served.",
            sortOptions = false)
    private static final class Listing extends OfStore {
        Listing(Console console, StoreAccess stores) {
            super(console, stores);
        }

        @Override
        public Integer call() {
            return stores.feeds(given, feeds -> {
                List<FeedStatus> all = feeds.list();
                all.forEach(this::print);
                if (all.isEmpty() && !common.json) {
                    console.out().println("no feed");
                }
                return ExitCode.OK;
            });
        }
    }

    /** What is about one feed. */
    private abstract static class OfFeed extends OfStore {
        @Parameters(index = "1", paramLabel = "FEED", description = "Name of the feed.")
        String feed = "";

        OfFeed(Console console, StoreAccess stores) {
            super(console, stores);
        }

        int run(BiFunction<FeedManager, String, FeedStatus> what) {
            return stores.feeds(given, feeds -> {
                print(what.apply(feeds, feed));
                return ExitCode.OK;
            });
        }
    }

    @Command(
            name = "status",
            customSynopsis = "./turbidite feed status STORE FEED [--json] [--debug]",
            description = "Show how a feed is, what it failed of last, and its definition.",
            sortOptions = false)
    private static final class Status extends OfFeed {
        Status(Console console, StoreAccess stores) {
            super(console, stores);
        }

        @Override
        public Integer call() {
            return stores.feeds(given, feeds -> {
                FeedStatus status = feeds.status(feed);
                if (common.json) {
                    json(status)
                            .put("definition", status.definition())
                            .put("directory", status.directory())
                            .printTo(console.out());
                } else {
                    print(status);
                    console.out().println("its definition, with paths from " + status.directory());
                    status.definition().lines().forEach(line -> console.out().println("  " + line));
                }
                return ExitCode.OK;
            });
        }
    }

    @Command(
            name = "pause",
            customSynopsis = "./turbidite feed pause STORE FEED [--json] [--debug]",
            description = {
                "Pause a feed at the end of a batch, until it is resumed.",
                "It is paused, too, when the store is served again.",
            },
            sortOptions = false)
    private static final class Pause extends OfFeed {
        Pause(Console console, StoreAccess stores) {
            super(console, stores);
        }

        @Override
        public Integer call() {
            return run(FeedManager::pause);
        }
    }

    @Command(
            name = "resume",
            customSynopsis = "./turbidite feed resume STORE FEED [--json] [--debug]",
            description = {
                "Start a feed again that is paused, stopped, ended or failed.",
                "One that would try again later does so now.",
            },
            sortOptions = false)
    private static final class Resume extends OfFeed {
        Resume(Console console, StoreAccess stores) {
            super(console, stores);
        }

        @Override
        public Integer call() {
            return run(FeedManager::resume);
        }
    }

    @Command(
            name = "stop",
            customSynopsis = "./turbidite feed stop STORE FEED [--json] [--debug]",
            description = {
                "End a feed at the end of a batch.",
                "Its definition stays, but only ./turbidite feed resume starts it again.",
            },
            sortOptions = false)
    private static final class Stop extends OfFeed {
        Stop(Console console, StoreAccess stores) {
            super(console, stores);
        }

        @Override
        public Integer call() {
            return run(FeedManager::stop);
        }
    }

    @Command(
            name = "drop",
            customSynopsis = "./turbidite feed drop STORE FEED [--json] [--debug]",
            description = {
                "End a feed at the end of a batch and forget its definition.",
                "Its records, its dead letters and how far it is stay.",
            },
            sortOptions = false)
    private static final class Drop extends OfFeed {
        Drop(Console console, StoreAccess stores) {
            super(console, stores);
        }

        @Override
        public Integer call() {
            return stores.feeds(given, feeds -> {
                FeedStatus last = feeds.drop(feed);
                if (common.json) {
                    Json.line().put("dropped", last.name()).printTo(console.out());
                } else {
                    console.out().println("dropped feed " + last.name());
                }
                return ExitCode.OK;
            });
        }
    }

    @Command(
            name = "letters",
            customSynopsis =
                    "./turbidite feed letters STORE FEED [--from n] [--limit n] [--retry] [--json] [--debug]",
            description = {
                "Show the dead letters of a feed: where each came from, why, and its text.",
                "Those that were fed again are left out, unless --from says where to begin.",
            },
            sortOptions = false)
    private static final class Letters extends OfFeed {
        @Option(
                names = "--from",
                paramLabel = "n",
                description = "Begin at the letter at this place; 0: all that there are.")
        private @Nullable Long from;

        @Option(
                names = "--limit",
                paramLabel = "n",
                description = "Show at most so many; default: 20.")
        private int limit = 20;

        @Option(
                names = "--retry",
                description = {
                    "Feed them again, each once: the definition may take them by now.",
                    "What it does not take is a dead letter again."
                })
        private boolean retry;

        Letters(Console console, StoreAccess stores) {
            super(console, stores);
        }

        private int retry(FeedManager feeds) {
            FeedReport report = feeds.retryLetters(feed);
            if (common.json) {
                Json.line()
                        .put("feed", feed)
                        .put("records", report.records())
                        .put("rejected", report.rejected())
                        .printTo(console.out());
            } else {
                console.out()
                        .println("%s: %s fed again, %s rejected again"
                                .formatted(
                                        feed,
                                        Words.count(report.records(), "dead letter"),
                                        Words.number(report.rejected())));
            }
            return ExitCode.OK;
        }

        @Override
        public Integer call() {
            return stores.feeds(given, feeds -> {
                if (retry) {
                    return retry(feeds);
                }
                long begin = from == null ? feeds.letters(feed, 0, 1).retriedTo() : from;
                FeedLetters page = feeds.letters(feed, begin, limit);
                page.letters().forEach(this::print);
                boolean more = !feeds.letters(feed, page.next(), 1).letters().isEmpty();
                if (page.letters().isEmpty() && !common.json) {
                    console.out().println("no dead letter");
                }
                if (more) {
                    console.err().println("note: there are more: --from " + page.next());
                }
                return ExitCode.OK;
            });
        }

        private void print(Letter letter) {
            if (common.json) {
                Json.line()
                        .put("at", letter.at())
                        .put("source", letter.source())
                        .put("line", letter.line())
                        .put("offset", letter.offset())
                        .put("reason", letter.reason())
                        .put("raw", letter.raw())
                        .put("rawBase64", letter.rawBase64())
                        .put("rawBytes", letter.rawBytes() == 0 ? null : letter.rawBytes())
                        .printTo(console.out());
                return;
            }
            console.out()
                    .println("%s, line %d: %s"
                            .formatted(
                                    letter.source(),
                                    letter.line(),
                                    Failures.oneLine(letter.reason())));
            String text = letter.raw() == null ? letter.rawBase64() : letter.raw();
            console.out().println("  " + Failures.oneLine(String.valueOf(text)));
        }
    }
}
