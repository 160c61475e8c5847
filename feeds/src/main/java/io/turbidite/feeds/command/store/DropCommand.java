package io.turbidite.feeds.command.store;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.command.common.Answers;
import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.StoreArgument;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.util.concurrent.Callable;

/** Drops a dataset. */
@Command(
        name = "drop",
        customSynopsis = "./turbidite drop STORE DATASET [--yes] [--json] [--debug]",
        description = {
            "Drop a dataset with all its records and indexes, and delete its files.",
            "Asks first; where there is no terminal, only --yes drops.",
        },
        sortOptions = false)
public final class DropCommand implements Callable<Integer> {
    private final Console console;

    @Mixin
    private final StoreArgument given = new StoreArgument();

    @Parameters(index = "1", paramLabel = "DATASET", description = "Name of the dataset.")
    private String dataset = "";

    @Option(names = "--yes", description = "Drop without asking.")
    private boolean yes;

    @Mixin
    private final CommonOptions common = new CommonOptions();

    public DropCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        try (Store store = given.openToChange()) {
            Dataset found = StoreArgument.usersDataset(store, dataset);
            if (!yes && !isConfirmed(found)) {
                console.err().println("dataset %s stays as it is".formatted(dataset));
                return ExitCode.FAILED;
            }
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
        return ExitCode.OK;
    }

    /** Asks whoever sits there. */
    private boolean isConfirmed(Dataset found) {
        if (!console.terminal()) {
            throw new InvalidRequestException(
                    "drop deletes all records of dataset %s, and nobody can be asked: add --yes"
                            .formatted(found.name()));
        }
        console.err()
                .print("drop dataset %s of %s with all its records and indexes? [y/N] "
                        .formatted(found.name(), given.directory()));
        console.err().flush();
        String answer = Answers.line(console.in());
        return answer.equalsIgnoreCase("y") || answer.equalsIgnoreCase("yes");
    }
}
