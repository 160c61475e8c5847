package io.turbidite.feeds.command.store;

import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.StoreAccess;
import io.turbidite.feeds.command.common.StoreArgument;
import io.turbidite.feeds.command.common.Words;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreDescription.ComponentDescription;
import io.turbidite.lsm.StoreDescription.DatasetDescription;
import io.turbidite.lsm.StoreDescription.IndexDescription;
import io.turbidite.lsm.StoreDescription.PartitionDescription;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;

/** Creates, drops and lists datasets. */
@Command(
        name = "dataset",
        customSynopsis = "./turbidite dataset create|drop|list STORE ...",
        description = {
            "Create, drop or list the datasets of a store.",
            "A feed creates its dataset by itself: ./turbidite run.",
        },
        commandListHeading = "%nCommands:%n",
        sortOptions = false)
public final class DatasetCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("UnusedVariable") // the parser knows its options by it
    private final CommonOptions common = new CommonOptions();

    @Spec
    private @Nullable CommandSpec spec;

    /** The command with its subcommands. */
    public static CommandLine of(Console console, StoreAccess stores) {
        CommandLine drop = new CommandLine(new DropCommand(console));
        var _ = drop.getCommandSpec()
                .usageMessage()
                .customSynopsis(
                        "./turbidite dataset drop STORE DATASET [--yes] [--json] [--debug]");
        return new CommandLine(new DatasetCommand())
                .addSubcommand(new DatasetCreateCommand(console))
                .addSubcommand(drop)
                .addSubcommand(new Listing(console, stores));
    }

    @Override
    public Integer call() {
        CommandLine line = Objects.requireNonNull(spec).commandLine();
        throw new ParameterException(line, "say what to do: create, drop or list");
    }

    @Command(
            name = "list",
            customSynopsis = "./turbidite dataset list STORE [--json] [--debug]",
            description = {
                "List the datasets of a store, with fields, keys, indexes and sizes.",
                "./turbidite inspect STORE says all of them.",
            },
            sortOptions = false)
    private static final class Listing implements Callable<Integer> {
        private final Console console;
        private final StoreAccess stores;

        @Mixin
        private final StoreArgument given = new StoreArgument();

        @Mixin
        private final CommonOptions common = new CommonOptions();

        Listing(Console console, StoreAccess stores) {
            this.console = console;
            this.stores = stores;
        }

        @Override
        public Integer call() {
            return stores.use(given, store -> {
                List<DatasetDescription> datasets = store.describe().datasets().stream()
                        .filter(dataset -> !dataset.name().startsWith("_"))
                        .toList();
                datasets.forEach(dataset -> print(store, dataset));
                if (datasets.isEmpty() && !common.json) {
                    console.out().println("no dataset");
                }
                return ExitCode.OK;
            });
        }

        private void print(Store store, DatasetDescription dataset) {
            List<IndexDescription> indexes = dataset.partitions().getFirst().indexes();
            List<IndexDescription> ofAll = dataset.partitions().stream()
                    .flatMap(partition -> partition.indexes().stream())
                    .toList();
            long diskBytes = ofAll.stream()
                    .flatMap(index -> index.components().stream())
                    .mapToLong(ComponentDescription::bytes)
                    .sum();
            // an empty component has memory of its own too, but nothing that is not on disk
            long memoryBytes = dataset.partitions().stream()
                    .filter(partition -> partition.memoryEntries() > 0)
                    .mapToLong(PartitionDescription::memoryBytes)
                    .sum();
            if (common.json) {
                Json.Line fields = Json.line();
                store.dataset(dataset.name())
                        .type()
                        .declared()
                        .forEach(field -> fields.put(field.name(), field.typeLabel()));
                Json.line()
                        .put("dataset", dataset.name())
                        .put("type", fields.toMap())
                        .put("primaryKey", dataset.primaryKey())
                        .put("filter", dataset.filterFields())
                        .put("partitions", dataset.partitions().size())
                        .put(
                                "indexes",
                                indexes.stream()
                                        .skip(1)
                                        .map(IndexDescription::name)
                                        .toList())
                        .put("diskBytes", diskBytes)
                        .put("memoryBytes", memoryBytes)
                        .printTo(console.out());
                return;
            }
            List<String> secondaries = indexes.stream()
                    .skip(1) // the primary
                    .map(index ->
                            "%s on %s".formatted(index.name(), String.join(", ", index.fields())))
                    .toList();
            console.out()
                    .println("%s: key %s; %s%s; %s on disk, %s in memory"
                            .formatted(
                                    dataset.name(),
                                    String.join(", ", dataset.primaryKey()),
                                    Words.count(dataset.partitions().size(), "partition"),
                                    secondaries.isEmpty()
                                            ? ""
                                            : "; indexed by " + String.join(", by ", secondaries),
                                    Words.bytes(diskBytes),
                                    Words.bytes(memoryBytes)));
        }
    }
}
