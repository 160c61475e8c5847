package io.turbidite.feeds.command.operate;

import io.turbidite.core.CorruptionException;
import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.DisabledIndexes;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.StoreAccess;
import io.turbidite.feeds.command.common.StoreArgument;
import io.turbidite.feeds.command.common.Words;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.check.VerifyReport;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.util.List;
import java.util.concurrent.Callable;

/** Checks a store. */
@Command(
        name = "verify",
        customSynopsis = "./turbidite verify STORE [--quick] [--json] [--debug]",
        description = {
            "Check every checksum of a store, and every index against the primary.",
            "List what is wrong and where; exit code 1 if anything is.",
        },
        sortOptions = false)
public final class VerifyCommand implements Callable<Integer> {
    private final Console console;
    private final StoreAccess stores;

    @Mixin
    private final StoreArgument given = new StoreArgument();

    @Option(
            names = "--quick",
            description =
                    "Read no records: check the manifest, file sizes, and all of each component but its leaf pages.")
    private boolean quick;

    @Mixin
    private final CommonOptions common = new CommonOptions();

    public VerifyCommand(Console console, StoreAccess stores) {
        this.console = console;
        this.stores = stores;
    }

    @Override
    public Integer call() {
        try {
            return stores.use(given, store -> {
                store.datasets()
                        .forEach(dataset -> DisabledIndexes.tell(
                                store, dataset, given.directory(), console, index -> true));
                return print(quick ? store.verifyQuickly() : verify(store), advice());
            });
        } catch (CorruptionException e) {
            // damage that keeps the store from being opened is an error like others
            return print(
                    new VerifyReport(0, 0, 0, List.of(String.valueOf(e.getMessage()))),
                    "restore the store from a backup, or load it anew");
        }
    }

    private VerifyReport verify(Store store) {
        try (var _ = StoreProgress.verifying(stores, console, store)) {
            return store.verify();
        }
    }

    private String advice() {
        String store = given.shellWord();
        return "a damaged index is built anew: ./turbidite index rebuild %s DATASET NAME; damaged records (index primary) come from a backup: ./turbidite quarantine %s FILE --restore BACKUP; else restore the whole store from a backup, or load it anew"
                .formatted(store, store);
    }

    private int print(VerifyReport report, String advice) {
        if (common.json) {
            Json.line()
                    .put("ok", report.isOk())
                    .put("datasets", report.datasets())
                    .put("components", report.components())
                    .put("errors", report.errors())
                    .printTo(console.out());
        } else if (report.isOk()) {
            console.out().println(quick ? quickText(report) : text(report));
        } else {
            report.errors().forEach(console.out()::println);
        }
        if (report.isOk()) {
            return ExitCode.OK;
        }
        int errors = report.errors().size();
        console.err()
                .println("turbidite: %s%s in %s"
                        .formatted(
                                Words.count(errors, "error"),
                                errors == VerifyReport.ERROR_COUNT_MAX ? " (the first ones)" : "",
                                given.directory()));
        console.err().println("  " + advice);
        return ExitCode.FAILED;
    }

    private static String text(VerifyReport report) {
        return "ok: %s, %s, %s; every checksum and every index is right"
                .formatted(
                        Words.count(report.datasets(), "dataset"),
                        Words.count(report.components(), "component"),
                        Words.count(report.records(), "record"));
    }

    private static String quickText(VerifyReport report) {
        return "ok: %s, %s; manifest, file sizes and what describes the components are right"
                .formatted(
                        Words.count(report.datasets(), "dataset"),
                        Words.count(report.components(), "component"));
    }
}
