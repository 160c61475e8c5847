package io.turbidite.feeds.command.operate;

import io.turbidite.core.FormatVersionException;
import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.StoreAccess;
import io.turbidite.feeds.command.common.StoreArgument;
import io.turbidite.feeds.command.common.Words;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.check.StoredFormat;
import io.turbidite.lsm.check.UpgradeReport;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.util.List;
import java.util.concurrent.Callable;

/** Writes a store's files in the formats of this release. */
@Command(
        name = "upgrade",
        customSynopsis = "./turbidite upgrade STORE [--check] [--json] [--debug]",
        description = {
            "Rewrite every file of an older format in that of this release, one after the other.",
            "Merges do the same by and by. Stopped at any moment, the store is good, and a second run goes on.",
        },
        sortOptions = false)
public final class UpgradeCommand implements Callable<Integer> {
    private final Console console;
    private final StoreAccess stores;

    @Mixin
    private final StoreArgument given = new StoreArgument();

    @Option(
            names = "--check",
            description =
                    "Change nothing: list the files and the versions of their formats. Exit code 1 if this release can't read one.")
    private boolean check;

    @Mixin
    private final CommonOptions common = new CommonOptions();

    public UpgradeCommand(Console console, StoreAccess stores) {
        this.console = console;
        this.stores = stores;
    }

    @Override
    public Integer call() {
        return check ? list(Store.formats(given.checkedPath())) : stores.change(given, this::run);
    }

    private int list(List<StoredFormat> files) {
        for (StoredFormat file : files) {
            if (common.json) {
                Json.line()
                        .put("file", file.file())
                        .put("format", file.format())
                        .put("version", file.version())
                        .put("newest", file.newest())
                        .put("bytes", file.bytes())
                        .put("outdated", file.isOutdated())
                        .put("readable", file.isReadable())
                        .printTo(console.out());
            } else {
                console.out()
                        .println("%-30s %s %d%s"
                                .formatted(
                                        file.file(), file.format(), file.version(), remark(file)));
            }
        }
        for (StoredFormat file : files) {
            if (!file.isReadable()) {
                throw new FormatVersionException(
                        file.file(), file.format(), file.version(), file.newest());
            }
        }
        List<StoredFormat> old = files.stream().filter(StoredFormat::isOutdated).toList();
        if (!common.json) {
            long bytes = old.stream().mapToLong(StoredFormat::bytes).sum();
            console.out()
                    .println(
                            old.isEmpty()
                                    ? "all %s of the formats of this release"
                                            .formatted(are(files.size()))
                                    : "%s of an older format, %s: ./turbidite upgrade %s"
                                            .formatted(
                                                    are(old.size()),
                                                    Words.bytes(bytes),
                                                    given.shellWord()));
        }
        return ExitCode.OK;
    }

    private static String remark(StoredFormat file) {
        if (!file.isReadable()) {
            return ", which this release can't read";
        }
        return file.isOutdated() ? ", would be " + file.newest() : "";
    }

    private static String are(int files) {
        return Words.count(files, "file") + (files == 1 ? " is" : " are");
    }

    private int run(Store store) {
        UpgradeReport report;
        try (var _ = StoreProgress.upgrading(stores, console, store)) {
            report = store.upgrade();
        }
        List<String> left = report.left().stream().map(StoredFormat::file).toList();
        if (common.json) {
            Json.line()
                    .put("rewritten", report.rewritten())
                    .put("bytes", report.bytes())
                    .put("left", left)
                    .printTo(console.out());
        } else if (report.rewritten() == 0 && left.isEmpty()) {
            console.out().println("nothing to do: all files are of the formats of this release");
        } else {
            console.out()
                    .println("%s rewritten, %s"
                            .formatted(
                                    Words.count(report.rewritten(), "file"),
                                    Words.bytes(report.bytes())));
        }
        if (left.isEmpty()) {
            return ExitCode.OK;
        }
        console.err().println("turbidite: of an older format still: " + String.join(", ", left));
        console.err()
                .println(
                        "  they are in quarantine (./turbidite quarantine %s), or an index is being built from them"
                                .formatted(given.shellWord()));
        return ExitCode.FAILED;
    }
}
