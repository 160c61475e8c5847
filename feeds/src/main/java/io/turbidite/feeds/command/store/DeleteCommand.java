package io.turbidite.feeds.command.store;

import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.StoreArgument;
import io.turbidite.feeds.command.common.Words;
import io.turbidite.feeds.command.query.KeyArgument;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.VersionedRecord;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/** Deletes records by their keys. */
@Command(
        name = "delete",
        customSynopsis = "./turbidite delete STORE DATASET KEY... [--json] [--debug]",
        description = {
            "Delete the records with these primary keys; exit code 1 if one was not there.",
        },
        sortOptions = false)
public final class DeleteCommand implements Callable<Integer> {
    private final Console console;

    @Mixin
    private final StoreArgument given = new StoreArgument();

    @Parameters(index = "1", paramLabel = "DATASET", description = "Name of the dataset.")
    private String datasetName = "";

    @Parameters(
            index = "2..*",
            arity = "1..*",
            paramLabel = "KEY",
            description =
                    "The key's value; a JSON array such as '[\"UA\",1545]' if the key has several fields.")
    private List<String> keys = List.of();

    @Mixin
    private final CommonOptions common = new CommonOptions();

    public DeleteCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        long deleted = 0;
        try (Store store = given.openToChange()) {
            Dataset dataset = StoreArgument.usersDataset(store, datasetName);
            List<Object[]> parsed = new ArrayList<>();
            for (String key : keys) {
                parsed.add(KeyArgument.parse(dataset.type(), dataset.primaryKey(), key)
                        .toArray());
            }
            for (int i = 0; i < parsed.size(); i++) {
                if (delete(dataset, parsed.get(i))) {
                    deleted++;
                } else {
                    console.err()
                            .println("turbidite: %s has no record with key %s"
                                    .formatted(datasetName, keys.get(i)));
                }
            }
        }
        boolean all = deleted == keys.size();
        if (common.json) {
            Json.line()
                    .put("ok", all)
                    .put("dataset", datasetName)
                    .put("deleted", deleted)
                    .printTo(console.out());
        } else {
            console.out()
                    .println("%s deleted from %s"
                            .formatted(Words.count(deleted, "record"), datasetName));
        }
        return all ? ExitCode.OK : ExitCode.FAILED;
    }

    private static boolean delete(Dataset dataset, Object[] key) {
        VersionedRecord there = dataset.getVersioned(key);
        return there != null && dataset.deleteIf(there.version(), key);
    }
}
