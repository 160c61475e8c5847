package io.turbidite.feeds.command;

import io.turbidite.lsm.Store;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

import java.util.concurrent.Callable;

/** Drops a dataset. */
@Command(
        name = "drop",
        customSynopsis = "./turbidite drop STORE DATASET [--json] [--debug]",
        description = "Drop a dataset with all its records and indexes, and delete its files.",
        sortOptions = false)
final class DropCommand implements Callable<Integer> {
    private final Console console;

    @Parameters(index = "0", paramLabel = "STORE", description = "Directory of the store.")
    private String directory = "";

    @Parameters(index = "1", paramLabel = "DATASET", description = "Name of the dataset.")
    private String dataset = "";

    @Mixin
    private final CommonOptions common = new CommonOptions();

    DropCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        try (Store store = Stores.openExisting(directory)) {
            store.dropDataset(dataset);
        }
        if (common.json) {
            Json.line()
                    .put("ok", true)
                    .put("dataset", dataset)
                    .put("state", "dropped")
                    .printTo(console.out());
        } else {
            console.out().println("dataset %s is dropped".formatted(dataset));
        }
        return Main.EXIT_OK;
    }
}
