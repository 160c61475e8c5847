package io.turbidite.feeds.command.operate;

import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.PathArgument;
import io.turbidite.feeds.command.common.StoreAccess;
import io.turbidite.feeds.command.common.StoreArgument;
import io.turbidite.feeds.command.common.WatchedProgress;
import io.turbidite.feeds.command.common.Words;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.backup.RestoreReport;
import io.turbidite.lsm.check.VerifyReport;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

import java.nio.file.Path;
import java.util.concurrent.Callable;

/** Makes a store of a backup. */
@Command(
        name = "restore",
        customSynopsis = "./turbidite restore BACKUP DIR [--json] [--debug]",
        description = {
            "Copy a backup into a new or empty directory and verify the copy.",
            "Every checksum is checked, and every index against the primary. The backup stays as it is.",
        },
        sortOptions = false)
public final class RestoreCommand implements Callable<Integer> {
    private final Console console;

    @Parameters(index = "0", paramLabel = "BACKUP", description = "Directory of the backup.")
    private String backup = "";

    @Parameters(index = "1", paramLabel = "DIR", description = "Directory of the new store.")
    private String directory = "";

    @Mixin
    private final CommonOptions common = new CommonOptions();

    public RestoreCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        RestoreReport restored = restore();
        VerifyReport verified;
        try (Store store = StoreArgument.of(directory).openForReading();
                var _ = StoreProgress.verifying(
                        StoreAccess.opening(console, new String[0]), console, store)) {
            verified = store.verify();
        }
        if (common.json) {
            Json.line()
                    .put("ok", verified.isOk())
                    .put("store", directory)
                    .put("timestamp", restored.timestamp())
                    .put("components", restored.components())
                    .put("bytes", restored.bytes())
                    .put("errors", verified.errors())
                    .printTo(console.out());
        } else if (verified.isOk()) {
            console.out()
                    .println(
                            "restored %s as of timestamp %d: %s, %s; every checksum and every index is right"
                                    .formatted(
                                            directory,
                                            restored.timestamp(),
                                            Words.count(restored.components(), "component"),
                                            Words.count(verified.records(), "record")));
        } else {
            verified.errors().forEach(console.out()::println);
        }
        if (verified.isOk()) {
            return ExitCode.OK;
        }
        console.err()
                .println(
                        "turbidite: the indexes of %s don't agree: the backup was made of a damaged store"
                                .formatted(directory));
        console.err().println("  restore an older backup, or load the store anew");
        return ExitCode.FAILED;
    }

    private RestoreReport restore() {
        Path from = PathArgument.path("BACKUP", backup);
        Path to = PathArgument.path("DIR", directory);
        long bytes = console.terminal() ? StoreProgress.bytes(from) : 0;
        try (var _ = WatchedProgress.ofBytes(
                console, "restore", () -> StoreProgress.bytes(to), () -> bytes)) {
            return Store.restore(from, to);
        }
    }
}
