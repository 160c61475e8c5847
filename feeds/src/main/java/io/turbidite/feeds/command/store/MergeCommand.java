package io.turbidite.feeds.command.store;

import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.StoreArgument;
import io.turbidite.feeds.command.common.Words;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreDescription.ComponentDescription;
import io.turbidite.lsm.StoreDescription.DatasetDescription;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.util.List;
import java.util.concurrent.Callable;

/** Merges the components of datasets into one each. */
@Command(
        name = "merge",
        customSynopsis = "./turbidite merge STORE [DATASET] [--flush-only] [--json] [--debug]",
        description = {
            "Write memory components to disk, and merge the components of each index into one.",
            "Scans and gets become faster, and superseded records and deletes give their space back.",
            "Without DATASET all datasets are merged.",
        },
        sortOptions = false)
public final class MergeCommand implements Callable<Integer> {
    private final Console console;

    @Mixin
    private final StoreArgument given = new StoreArgument();

    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "DATASET",
            description = "Name of the dataset.")
    private @Nullable String datasetName;

    @Option(
            names = "--flush-only",
            description = "Write memory components to disk, and merge nothing.")
    private boolean flushOnly;

    @Mixin
    private final CommonOptions common = new CommonOptions();

    private record Size(long components, long bytes) {}

    public MergeCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        try (Store store = given.openToChange()) {
            String name = datasetName;
            List<Dataset> datasets = name == null ? store.datasets() : List.of(store.dataset(name));
            for (Dataset dataset : datasets) {
                Size before = size(store, dataset);
                dataset.flush();
                if (!flushOnly) {
                    dataset.mergeAll();
                }
                print(dataset, before, size(store, dataset));
            }
        }
        return ExitCode.OK;
    }

    private static Size size(Store store, Dataset dataset) {
        DatasetDescription described = store.describe().datasets().stream()
                .filter(one -> one.name().equals(dataset.name()))
                .findFirst()
                .orElseThrow();
        List<ComponentDescription> components = described.partitions().stream()
                .flatMap(partition -> partition.indexes().stream())
                .flatMap(index -> index.components().stream())
                .toList();
        return new Size(
                components.size(),
                components.stream().mapToLong(ComponentDescription::bytes).sum());
    }

    private void print(Dataset dataset, Size before, Size after) {
        if (common.json) {
            Json.line()
                    .put("dataset", dataset.name())
                    .put("componentsBefore", before.components())
                    .put("components", after.components())
                    .put("bytesBefore", before.bytes())
                    .put("bytes", after.bytes())
                    .printTo(console.out());
        } else {
            console.out()
                    .println("%s: %s, %s; before %s, %s"
                            .formatted(
                                    dataset.name(),
                                    Words.count(after.components(), "component"),
                                    Words.bytes(after.bytes()),
                                    Words.number(before.components()),
                                    Words.bytes(before.bytes())));
        }
    }
}
