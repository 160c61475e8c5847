package io.turbidite.feeds.command.store;

import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.StoreAccess;
import io.turbidite.feeds.command.common.StoreArgument;
import io.turbidite.feeds.command.common.Words;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreDescription.PartitionDescription;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

import java.util.List;
import java.util.concurrent.Callable;

/** Writes what is in memory to disk components. */
@Command(
        name = "flush",
        customSynopsis = "./turbidite flush STORE [DATASET] [--json] [--debug]",
        description = {
            "Write memory components to disk, so that the next opening has no log to replay.",
            "Without DATASET all datasets are flushed.",
        },
        sortOptions = false)
public final class FlushCommand implements Callable<Integer> {
    private final Console console;
    private final StoreAccess stores;

    @Mixin
    private final StoreArgument given = new StoreArgument();

    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "DATASET",
            description = "Name of the dataset.")
    private @Nullable String datasetName;

    @Mixin
    private final CommonOptions common = new CommonOptions();

    public FlushCommand(Console console, StoreAccess stores) {
        this.console = console;
        this.stores = stores;
    }

    @Override
    public Integer call() {
        return stores.change(given, store -> {
            String name = datasetName;
            List<Dataset> datasets = name == null ? store.datasets() : List.of(store.dataset(name));
            for (Dataset dataset : datasets) {
                long bytes = memoryBytes(store, dataset);
                dataset.flush();
                print(dataset, bytes);
            }
            return ExitCode.OK;
        });
    }

    /** What records take; a memory component without any has some bytes too. */
    private static long memoryBytes(Store store, Dataset dataset) {
        return store.describe().datasets().stream()
                .filter(one -> one.name().equals(dataset.name()))
                .flatMap(one -> one.partitions().stream())
                .filter(partition -> partition.memoryEntries() > 0)
                .mapToLong(PartitionDescription::memoryBytes)
                .sum();
    }

    private void print(Dataset dataset, long bytes) {
        if (common.json) {
            Json.line().put("dataset", dataset.name()).put("bytes", bytes).printTo(console.out());
        } else {
            String what = bytes == 0 ? "nothing to flush" : Words.bytes(bytes) + " flushed";
            console.out().println(dataset.name() + ": " + what);
        }
    }
}
