package io.turbidite.feeds.command.store;

import io.turbidite.core.StorageException;
import io.turbidite.core.index.TokenKeys;
import io.turbidite.core.memory.ByteSize;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.DisabledIndexes;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Failures;
import io.turbidite.feeds.command.common.Interrupts;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.StoreArgument;
import io.turbidite.feeds.command.common.WatchedProgress;
import io.turbidite.feeds.command.common.Words;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.IndexBuild;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreDescription.DatasetDescription;
import io.turbidite.lsm.component.Compression;
import io.turbidite.lsm.component.PageOptions;
import io.turbidite.lsm.schema.Maintenance;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiFunction;

/** Creates, drops, enables, disables and rebuilds secondary indexes of a dataset that is there. */
@Command(
        name = "index",
        customSynopsis =
                "./turbidite index create|drop|enable|disable|rebuild STORE DATASET NAME ...",
        description = {
            "Change the secondary indexes of a dataset.",
            "create and enable build the index from the records that are there; disable keeps its",
            "definition and gives its space back: it is not maintained until it is enabled.",
            "rebuild does both, one after the other, for an index that is damaged.",
        },
        commandListHeading = "%nCommands:%n",
        sortOptions = false)
public final class IndexCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("UnusedVariable") // the parser knows its options by it
    private final CommonOptions common = new CommonOptions();

    @Spec
    private @Nullable CommandSpec spec;

    /** The command with its subcommands. */
    public static CommandLine of(Console console) {
        return new CommandLine(new IndexCommand())
                .addSubcommand(new Create(console))
                .addSubcommand(new Drop(console))
                .addSubcommand(new Enable(console))
                .addSubcommand(new Disable(console))
                .addSubcommand(new Rebuild(console));
    }

    @Override
    public Integer call() {
        CommandLine line = Objects.requireNonNull(spec).commandLine();
        throw new ParameterException(
                line, "say what to do with the index: create, drop, enable, disable or rebuild");
    }

    /** What all five take. */
    private static final class Target {
        @Mixin
        private final StoreArgument given = new StoreArgument();

        @Parameters(index = "1", paramLabel = "DATASET", description = "Name of the dataset.")
        private String dataset = "";

        @Parameters(index = "2", paramLabel = "NAME", description = "Name of the index.")
        private String index = "";

        @Mixin
        private final CommonOptions common = new CommonOptions();

        /** Builds an index and says what came of it. */
        Integer build(Console console, BiFunction<Dataset, String, IndexBuild> starter) {
            AtomicReference<@Nullable IndexBuild> running = new AtomicReference<>();
            AtomicBoolean stopped = new AtomicBoolean();
            Runnable stop = () -> {
                stopped.set(true);
                stop(running.get());
            };
            try (Store store = given.openToChange();
                    Interrupts.Watch watch = console.interrupts().watch(stop)) {
                IndexBuild build;
                try {
                    build = starter.apply(StoreArgument.usersDataset(store, dataset), index);
                    running.set(build);
                    if (stopped.get()) {
                        build.stop();
                    }
                    await(console, build);
                } catch (StorageException e) {
                    int code = failed(console, store, e, !watch.interrupted());
                    return watch.interrupted() ? ExitCode.INTERRUPTED : code;
                }
                return done(
                        console,
                        "ready",
                        "; %s read"
                                .formatted(
                                        build.entriesRead() == 1
                                                ? "1 entry"
                                                : Words.number(build.entriesRead()) + " entries"));
            }
        }

        private void await(Console console, IndexBuild build) {
            try (var _ = WatchedProgress.ofEntries(
                    console, index, build::entriesRead, build::entriesTotal)) {
                build.await();
            }
        }

        private static void stop(@Nullable IndexBuild build) {
            if (build != null) {
                build.stop();
            }
        }

        /** Tells what became of an index that is still there. */
        private int failed(Console console, Store store, StorageException cause, boolean hasCause) {
            int code = Failures.report(cause, console.err(), common.debug);
            for (DatasetDescription described : store.describe().datasets()) {
                DisabledIndexes.of(described).stream()
                        .filter(there ->
                                described.name().equals(dataset) && there.name().equals(index))
                        .forEach(there -> console.err()
                                .println("  %s%s"
                                        .formatted(
                                                hasCause ? "mend the cause: " : "",
                                                DisabledIndexes.note(
                                                        given.directory(), dataset, there))));
            }
            return code;
        }

        Integer done(Console console, String state, String more) {
            if (common.json) {
                Json.line()
                        .put("ok", true)
                        .put("dataset", dataset)
                        .put("index", index)
                        .put("state", state)
                        .printTo(console.out());
            } else {
                console.out()
                        .println("index %s of %s is %s%s".formatted(index, dataset, state, more));
            }
            return ExitCode.OK;
        }
    }

    @Command(
            name = "create",
            customSynopsis = """
                    ./turbidite index create STORE DATASET NAME --on FIELD[,FIELD...] [--kind KIND] [--unique]
                      [--tokenizer NAME] [--param NAME=VALUE...] [--maintenance STRATEGY] [--page-bytes BYTES] [--compression KIND]
                      [--json] [--debug]""",
            description = {
                "Create an index and build it from the records that are there.",
                "If that fails, nothing is left of it.",
            },
            sortOptions = false)
    private static final class Create implements Callable<Integer> {
        private final Console console;

        @Mixin
        private final Target target = new Target();

        @Option(
                names = "--on",
                required = true,
                split = ",",
                paramLabel = "FIELD",
                description = "Declared fields, in key order.")
        private List<String> fields = List.of();

        @Option(
                names = "--kind",
                defaultValue = "btree",
                paramLabel = "KIND",
                description =
                        "btree, which is the default; rtree, for windows on a point or a rectangle; inverted, for the words or other tokens of a string; or pm, in byte-addressable memory or a mapped file.")
        private String kind = "btree";

        @Option(
                names = "--tokenizer",
                paramLabel = "NAME",
                description =
                        "Of an inverted index: word, which is the default; keyword, the text as it is; ngram(n), all n characters in a row; or analyzer(name), an analyzer of Lucene.")
        private @Nullable String tokenizer;

        @Option(
                names = "--param",
                paramLabel = "NAME=VALUE",
                description =
                        "Of an index of kind pm: mode (auto, dax, file or volatile), path, bytes and pageBytes.")
        private Map<String, String> parameters = Map.of();

        @Option(
                names = "--unique",
                description =
                        "Two records may not have the same key; null and missing are equal to nothing.")
        private boolean unique;

        @Option(
                names = "--maintenance",
                paramLabel = "STRATEGY",
                description =
                        "eager, validation, deleted-key, deferred or auto; without it, as the dataset's indexes are.")
        private @Nullable String maintenance;

        @Option(
                names = "--page-bytes",
                paramLabel = "BYTES",
                description =
                        "Of a page of its components, such as 16KiB; without it, as the dataset's.")
        private @Nullable String pageBytes;

        @Option(
                names = "--compression",
                paramLabel = "KIND",
                description = "none, lz4 or zstd; without it, as the dataset's.")
        private @Nullable String compression;

        Create(Console console) {
            this.console = console;
        }

        @Override
        public Integer call() {
            Maintenance strategy =
                    maintenance == null ? null : Maintenance.ofIndexLabel(maintenance);
            return target.build(console, (dataset, name) -> {
                PageOptions pages = pages(dataset.pages());
                IndexSpec spec = new IndexSpec(
                        name, IndexDescription.Kind.of(kind), fields, unique, pages, strategy);
                for (Map.Entry<String, String> parameter : parameters.entrySet()) {
                    spec = spec.withParameter(parameter.getKey(), parameter.getValue());
                }
                return dataset.startIndex(
                        tokenizer == null
                                ? spec
                                : spec.withParameter(TokenKeys.TOKENIZER, tokenizer));
            });
        }

        /** Null if nothing is said of them. */
        private @Nullable PageOptions pages(PageOptions ofDataset) {
            if (pageBytes == null && compression == null) {
                return null;
            }
            PageOptions pages = ofDataset;
            if (pageBytes != null) {
                long bytes = ByteSize.parse("--page-bytes", pageBytes);
                pages = pages.withPageBytes((int) Math.min(bytes, Integer.MAX_VALUE));
            }
            return compression == null
                    ? pages
                    : pages.withCompression(Compression.ofLabel(compression));
        }
    }

    @Command(
            name = "drop",
            customSynopsis = "./turbidite index drop STORE DATASET NAME [--json] [--debug]",
            description = "Drop an index and delete its files.",
            sortOptions = false)
    private static final class Drop implements Callable<Integer> {
        private final Console console;

        @Mixin
        private final Target target = new Target();

        Drop(Console console) {
            this.console = console;
        }

        @Override
        public Integer call() {
            try (Store store = target.given.openToChange()) {
                StoreArgument.usersDataset(store, target.dataset).dropIndex(target.index);
                return target.done(console, "dropped", "");
            }
        }
    }

    @Command(
            name = "enable",
            customSynopsis = "./turbidite index enable STORE DATASET NAME [--json] [--debug]",
            description = "Build a disabled index anew; it stays disabled if that fails.",
            sortOptions = false)
    private static final class Enable implements Callable<Integer> {
        private final Console console;

        @Mixin
        private final Target target = new Target();

        Enable(Console console) {
            this.console = console;
        }

        @Override
        public Integer call() {
            return target.build(console, Dataset::startEnableIndex);
        }
    }

    @Command(
            name = "rebuild",
            customSynopsis = "./turbidite index rebuild STORE DATASET NAME [--json] [--debug]",
            description = {
                "Build an index anew from the records, for one that is damaged.",
                "It is refused while a part of the records themselves is in quarantine.",
            },
            sortOptions = false)
    private static final class Rebuild implements Callable<Integer> {
        private final Console console;

        @Mixin
        private final Target target = new Target();

        Rebuild(Console console) {
            this.console = console;
        }

        @Override
        public Integer call() {
            return target.build(console, Dataset::startRebuildIndex);
        }
    }

    @Command(
            name = "disable",
            customSynopsis = "./turbidite index disable STORE DATASET NAME [--json] [--debug]",
            description = {
                "Keep an index's definition and give its space back.",
                "It is not maintained, not used, and a unique one is not enforced, until it is enabled.",
            },
            sortOptions = false)
    private static final class Disable implements Callable<Integer> {
        private final Console console;

        @Mixin
        private final Target target = new Target();

        Disable(Console console) {
            this.console = console;
        }

        @Override
        public Integer call() {
            try (Store store = target.given.openToChange()) {
                StoreArgument.usersDataset(store, target.dataset).disableIndex(target.index);
                return target.done(console, "disabled", "");
            }
        }
    }
}
