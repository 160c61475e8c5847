package io.turbidite.feeds.command.operate;

import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.Stores;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.backup.QuarantineReport;
import io.turbidite.lsm.backup.QuarantineReport.Outcome;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.nio.file.Path;
import java.util.concurrent.Callable;

/** Lists components that are set aside, sets one aside by hand, and brings back what can be brought back. */
@Command(
        name = "quarantine",
        customSynopsis =
                "./turbidite quarantine STORE [FILE] [--restore BACKUP] [--json] [--debug]",
        description = {
            "List the components that were found damaged and are set aside, and what is lost with them.",
            "One whose file is whole again is used again. With --restore the very files are taken from a",
            "backup, marks of later deletes stay those of the store. Indexes: ./turbidite index rebuild.",
            "With FILE, a component that verify has found damaged is set aside first: every byte of it is read,",
            "and a whole one is refused.",
            "It ends with 1 as long as something is in quarantine.",
        },
        sortOptions = false)
public final class QuarantineCommand implements Callable<Integer> {
    private final Console console;

    @Parameters(index = "0", paramLabel = "STORE", description = "Directory of the store.")
    private String directory = "";

    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "FILE",
            description = "A component of it, as verify and inspect name it.")
    private @Nullable String file;

    @Option(
            names = "--restore",
            paramLabel = "BACKUP",
            description = "Directory of a backup of this store that has the files.")
    private @Nullable String backup;

    @Mixin
    private final CommonOptions common = new CommonOptions();

    public QuarantineCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        try (Store store = Stores.openExisting(directory)) {
            String named = backup;
            Path from = named == null
                    ? null
                    : console.directory().resolve(Stores.path("BACKUP", named));
            if (file != null) {
                String damage = store.quarantine(file);
                if (!common.json) {
                    console.out().println("%s is set aside: %s".formatted(file, damage));
                }
            }
            QuarantineReport report = store.restoreQuarantined(from);
            report.components().forEach(this::print);
            if (report.components().isEmpty() && !common.json) {
                console.out().println("nothing is in quarantine");
            }
            return report.isEmptied() ? ExitCode.OK : ExitCode.FAILED;
        }
    }

    private void print(Outcome outcome) {
        String refusal = outcome.refusal();
        if (common.json) {
            Json.line()
                    .put("file", outcome.file())
                    .put("of", outcome.whose())
                    .put("cause", outcome.cause())
                    .put("holds", outcome.lost())
                    .put("restored", refusal == null)
                    .put("refused", refusal)
                    .printTo(console.out());
        } else if (refusal == null) {
            console.out()
                    .println("%s (%s) is in use again: %s"
                            .formatted(outcome.file(), outcome.whose(), outcome.lost()));
        } else {
            console.out()
                    .println("%s (%s) is in quarantine: %s\n  out of reach: %s\n  not restored: %s"
                            .formatted(
                                    outcome.file(),
                                    outcome.whose(),
                                    outcome.cause(),
                                    outcome.lost(),
                                    refusal));
        }
    }
}
