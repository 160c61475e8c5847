package io.turbidite.feeds.command.operate;

import io.turbidite.core.StoreFailedException;
import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Failures;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.PathArgument;
import io.turbidite.feeds.command.common.StoreAccess;
import io.turbidite.feeds.command.common.StoreArgument;
import io.turbidite.feeds.command.common.Words;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreDescription.ComponentDescription;
import io.turbidite.lsm.backup.BackupReport;
import io.turbidite.lsm.backup.CopyMode;
import io.turbidite.lsm.version.StoreFiles;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;

/** Copies a store as it is now. */
@Command(
        name = "backup",
        customSynopsis = "./turbidite backup STORE DIR [--link | --copy] [--json] [--debug]",
        description = {
            "Copy a store, as it is at one moment, into a new or empty directory. The copy is a store.",
            "Component files are shared with the store by hard links where the file system allows it,",
            "else copied and checked. docs/backup.md says more.",
        },
        sortOptions = false)
public final class BackupCommand implements Callable<Integer> {
    private final Console console;
    private final StoreAccess stores;

    @Mixin
    private final StoreArgument given = new StoreArgument();

    @Parameters(index = "1", paramLabel = "DIR", description = "Directory of the backup.")
    private String target = "";

    @ArgGroup
    private @Nullable Mode mode;

    @Mixin
    private final CommonOptions common = new CommonOptions();

    /** One of both, or none. */
    private static final class Mode {
        @SuppressWarnings("UnusedVariable") // the parser wants one of both
        @Option(names = "--link", description = "Hard links only; fail on another file system.")
        private boolean link;

        @Option(
                names = "--copy",
                description = "Copies only: damage to one spares the other; takes the space twice.")
        private boolean copy;
    }

    public BackupCommand(Console console, StoreAccess stores) {
        this.console = console;
        this.stores = stores;
    }

    @Override
    public Integer call() {
        try {
            return stores.use(given, store -> {
                print(backup(store));
                return ExitCode.OK;
            });
        } catch (StoreFailedException ended) {
            if (!Files.exists(to().resolve(StoreFiles.INCOMPLETE))) {
                throw ended;
            }
            // the process that made it has left no time to take it away
            return Failures.report(
                    ended,
                    console.err(),
                    common.debug,
                    "%s is no whole backup: delete it, then run the command again"
                            .formatted(target));
        }
    }

    private BackupReport backup(Store store) {
        long bytes = StoreProgress.sum(
                store, dataset -> true, index -> true, ComponentDescription::bytes);
        try (var _ = StoreProgress.copying(stores, console, "backup", to(), bytes)) {
            return store.backup(to(), copyMode());
        }
    }

    private Path to() {
        return console.directory().resolve(PathArgument.path("DIR", target));
    }

    private CopyMode copyMode() {
        if (mode == null) {
            return CopyMode.LINK_OR_COPY;
        }
        return mode.copy ? CopyMode.COPY : CopyMode.LINK;
    }

    private void print(BackupReport report) {
        if (common.json) {
            Json.line()
                    .put("ok", true)
                    .put("store", given.directory())
                    .put("backup", target)
                    .put("timestamp", report.timestamp())
                    .put("linked", report.linked())
                    .put("copied", report.copied())
                    .put("written", report.written())
                    .put("bytes", report.bytes())
                    .put("leftOut", report.leftOut())
                    .printTo(console.out());
        } else {
            console.out()
                    .println(
                            "backed up to %s as of timestamp %d: %s linked, %s copied, %s from memory"
                                    .formatted(
                                            target,
                                            report.timestamp(),
                                            Words.count(report.linked(), "component"),
                                            Words.number(report.copied()),
                                            Words.number(report.written())));
            report.leftOut()
                    .forEach(file -> console.err().println(Words.leftOut(file, given.directory())));
        }
    }
}
