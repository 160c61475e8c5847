package io.turbidite.feeds.command.operate;

import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.StoreAccess;
import io.turbidite.feeds.command.common.StoreArgument;
import io.turbidite.feeds.command.common.Words;
import io.turbidite.feeds.command.store.Inspection;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreDescription.TrashDescription;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

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

    @Mixin
    private final StoreArgument given = new StoreArgument();

    @Option(
            names = "--empty",
            description =
                    "Delete them, but for those that the present opening of the store found and moved to the trash.")
    private boolean empty;

    @Mixin
    private final CommonOptions common = new CommonOptions();

    public TrashCommand(Console console, StoreAccess stores) {
        this.console = console;
        this.stores = stores;
    }

    @Override
    public Integer call() {
        return empty ? stores.change(given, this::empty) : stores.use(given, this::list);
    }

    private int list(Store store) {
        List<TrashDescription> files = store.describe().trash();
        if (common.json) {
            line(files).printTo(console.out());
        } else if (files.isEmpty()) {
            console.out().println("the trash is empty");
        } else {
            print(files);
            console.out().println(sum(files));
        }
        return ExitCode.OK;
    }

    private int empty(Store store) {
        boolean isEmpty = store.describe().trash().isEmpty();
        List<TrashDescription> deleted = store.emptyTrash();
        List<TrashDescription> kept = store.describe().trash();
        if (common.json) {
            line(deleted).put("kept", Inspection.toList(kept)).printTo(console.out());
            return ExitCode.OK;
        }
        if (isEmpty) {
            console.out().println("the trash is empty");
            return ExitCode.OK;
        }
        print(deleted);
        console.out().println(sum(deleted) + " deleted");
        List<TrashDescription> found =
                kept.stream().filter(TrashDescription::isFound).toList();
        int named = kept.size() - found.size();
        if (named > 0) {
            console.out()
                    .println("%s kept: MANIFEST names them".formatted(Words.count(named, "file")));
        }
        if (!found.isEmpty()) {
            print(found);
            console.out()
                    .println(
                            "%s kept: %s found them in data and moved them to the trash. If MANIFEST is not the right one, they may be the only copy; if it is, run this command again%s to delete them"
                                    .formatted(
                                            sum(found),
                                            stores.isShared()
                                                    ? "the process that holds the store"
                                                    : "this command",
                                            stores.isShared()
                                                    ? " when that process has ended"
                                                    : ""));
        }
        return ExitCode.OK;
    }

    private Json.Line line(List<TrashDescription> files) {
        return Json.line()
                .put("deleted", empty)
                .put("bytes", TrashDescription.bytes(files))
                .put("files", Inspection.toList(files));
    }

    private void print(List<TrashDescription> files) {
        files.forEach(file -> console.out()
                .println("%s, %s%s"
                        .formatted(
                                file.name(),
                                Words.bytes(file.bytes()),
                                file.isInData()
                                        ? ", still in data: the next command that writes moves it to the trash"
                                        : "")));
    }

    private static String sum(List<TrashDescription> files) {
        return "%s, %s"
                .formatted(
                        Words.count(files.size(), "file"),
                        Words.bytes(TrashDescription.bytes(files)));
    }
}
