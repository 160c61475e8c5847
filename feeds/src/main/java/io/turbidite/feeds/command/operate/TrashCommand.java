package io.turbidite.feeds.command.operate;

import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.StoreAccess;
import io.turbidite.feeds.command.common.Words;
import io.turbidite.feeds.command.store.Inspection;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreDescription.TrashDescription;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.util.List;
import java.util.concurrent.Callable;

/** Lists what an opening put aside, or deletes it. */
@Command(
        name = "trash",
        customSynopsis = "./turbidite trash STORE [--empty] [--json] [--debug]",
        description = {
            "List the component files that the store's manifest does not name.",
            "Work that a crash cut short leaves such files; so does a MANIFEST that was replaced by an",
            "older one. They go when the store has been open for a day, when space gets short, or by --empty;",
            "when the MANIFEST that names them is back, the next command that writes puts them back.",
        },
        sortOptions = false)
public final class TrashCommand implements Callable<Integer> {
    private final Console console;
    private final StoreAccess stores;

    @Parameters(index = "0", paramLabel = "STORE", description = "Directory of the store.")
    private String directory = "";

    @Option(names = "--empty", description = "Delete them.")
    private boolean empty;

    @Mixin
    private final CommonOptions common = new CommonOptions();

    public TrashCommand(Console console, StoreAccess stores) {
        this.console = console;
        this.stores = stores;
    }

    @Override
    public Integer call() {
        return empty ? stores.change(directory, this::print) : stores.use(directory, this::print);
    }

    private int print(Store store) {
        List<TrashDescription> files =
                empty ? store.emptyTrash() : store.describe().trash();
        long bytes = TrashDescription.bytes(files);
        if (common.json) {
            Json.line()
                    .put("deleted", empty)
                    .put("bytes", bytes)
                    .put("files", Inspection.toList(files))
                    .printTo(console.out());
            return ExitCode.OK;
        }
        int kept = empty ? store.describe().trash().size() : 0;
        if (files.isEmpty() && kept == 0) {
            console.out().println("the trash is empty");
            return ExitCode.OK;
        }
        files.forEach(file ->
                console.out().println("%s, %s".formatted(file.name(), Words.bytes(file.bytes()))));
        console.out()
                .println("%s, %s%s"
                        .formatted(
                                Words.count(files.size(), "file"),
                                Words.bytes(bytes),
                                empty ? " deleted" : ""));
        if (kept > 0) {
            console.out()
                    .println("%s kept: MANIFEST names them".formatted(Words.count(kept, "file")));
        }
        return ExitCode.OK;
    }
}
