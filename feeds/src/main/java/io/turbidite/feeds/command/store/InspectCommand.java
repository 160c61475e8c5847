package io.turbidite.feeds.command.store;

import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.StoreAccess;
import io.turbidite.feeds.command.common.StoreArgument;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreDescription;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.util.concurrent.Callable;

/** Shows what a store consists of. */
@Command(
        name = "inspect",
        customSynopsis = "./turbidite inspect STORE [--statistics] [--json] [--debug]",
        description =
                "Show the datasets, partitions, indexes and components of a store, and its log.",
        sortOptions = false)
public final class InspectCommand implements Callable<Integer> {
    private final Console console;
    private final StoreAccess stores;

    @Mixin
    private final StoreArgument given = new StoreArgument();

    @Option(
            names = "--statistics",
            description = {
                "What the planner knows of each field, from the sample that the components keep:",
                "about how many values, the smallest, the largest, the most frequent."
            })
    private boolean statistics;

    @Mixin
    private final CommonOptions common = new CommonOptions();

    public InspectCommand(Console console, StoreAccess stores) {
        this.console = console;
        this.stores = stores;
    }

    @Override
    public Integer call() {
        return stores.use(given, this::print);
    }

    private int print(Store store) {
        if (statistics) {
            StatisticsReport.print(store, common.json, console.out());
            return ExitCode.OK;
        }
        StoreDescription description = store.describe();
        if (common.json) {
            console.out()
                    .println(Json.text(Inspection.toMap(
                            given.directory(),
                            description,
                            name -> store.dataset(name).type())));
        } else {
            Inspection.print(given.directory(), description, console.out());
        }
        return ExitCode.OK;
    }
}
