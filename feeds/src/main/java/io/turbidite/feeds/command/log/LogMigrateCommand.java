package io.turbidite.feeds.command.log;

import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Failures;
import io.turbidite.feeds.command.common.Interrupts;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.StoreArgument;
import io.turbidite.feeds.command.common.Words;
import io.turbidite.feeds.log.LogMigration;
import io.turbidite.feeds.log.OpenLog;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;

/** Copies records of a log into a dataset. */
@Command(
        name = "migrate",
        customSynopsis = "./turbidite log migrate LOGDIR STORE DATASET [options]",
        description = {
            "Upsert the JSON records that the options mean into a dataset, oldest first.",
            "The dataset must be there; records that are not of its type are counted and left out;",
            "exit code 1 if all are.",
        },
        sortOptions = false,
        footer = {
            "",
            "Example: ./turbidite log migrate events-log turbidite-store Issues --psf opened=true"
        })
final class LogMigrateCommand implements Callable<Integer> {
    private static final int TOLD_MAX = 5;

    private final Console console;

    @Mixin
    private final LogAndStore given = new LogAndStore();

    @Mixin
    private final LogQuestion question = new LogQuestion();

    @Mixin
    private final CommonOptions common = new CommonOptions();

    private int told;

    LogMigrateCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        AtomicBoolean stopped = new AtomicBoolean();
        try (Interrupts.Watch watch = console.interrupts().watch(() -> stopped.set(true));
                OpenLog open = given.log().openForReading();
                Store store = given.store().openToChange()) {
            Dataset dataset = StoreArgument.usersDataset(store, given.dataset());
            LogMigration migration = new LogMigration(open.log(), store, dataset, this::refused);
            boolean finished = migration.run(question.query(), stopped::get);
            dataset.flush();
            print(migration, finished);
            console.out().flush();
            if (finished && migration.migratedCount() + migration.refusedCount() == 0) {
                question.hintTo(console, open.log());
            }
            return finished && !watch.interrupted()
                    ? Failures.codeOfLoad(
                            migration.migratedCount(), migration.refusedCount(), console.err())
                    : ExitCode.INTERRUPTED;
        }
    }

    private void refused(String log, long address, String why) {
        if (told++ < TOLD_MAX) {
            console.err()
                    .println("refused: the record at address %d of %s: %s"
                            .formatted(address, log, Failures.oneLine(why)));
        }
    }

    private void print(LogMigration migration, boolean finished) {
        if (common.json) {
            Json.line()
                    .put("step", "summary")
                    .put("log", given.log().directory())
                    .put("dataset", given.dataset())
                    .put("records", migration.migratedCount())
                    .put("rejected", migration.refusedCount())
                    .put("store", given.store().directory())
                    .printTo(console.out());
        } else {
            console.out()
                    .println("%s%s, %s rejected; dataset %s in store %s"
                            .formatted(
                                    Words.count(migration.migratedCount(), "record"),
                                    finished ? "" : " before it was stopped",
                                    Words.number(migration.refusedCount()),
                                    given.dataset(),
                                    given.store().directory()));
        }
    }
}
