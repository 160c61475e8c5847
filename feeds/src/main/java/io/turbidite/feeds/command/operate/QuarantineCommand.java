package io.turbidite.feeds.command.operate;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.PathArgument;
import io.turbidite.feeds.command.common.StoreArgument;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.backup.QuarantineReport;
import io.turbidite.lsm.backup.QuarantineReport.Outcome;
import io.turbidite.lsm.version.StoreFiles;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;

/**
 * Lists components that are set aside, sets one aside by hand, and brings back what can be brought
 * back.
 */
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
    private static final Pattern NUMBER = Pattern.compile("\\d{1,18}");

    private final Console console;

    @Mixin
    private final StoreArgument given = new StoreArgument();

    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "FILE",
            description =
                    "A component of it: its path, its name, or the number that inspect shows.")
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
        try (Store store = given.openToChange()) {
            String named = backup;
            Path from = named == null
                    ? null
                    : console.directory().resolve(PathArgument.path("BACKUP", named));
            if (file != null) {
                String name = componentName(file);
                String damage = store.quarantine(name);
                if (!common.json) {
                    console.out().println("%s is set aside: %s".formatted(name, damage));
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

    /**
     * As the store calls it: people name a file by its path, its name, or by the number that
     * inspect shows.
     */
    private String componentName(String named) {
        if (NUMBER.matcher(named).matches()) {
            return StoreFiles.component(Long.parseLong(named));
        }
        Path path = PathArgument.path("FILE", named);
        if (!path.isAbsolute() && path.getNameCount() == 1) {
            return StoreFiles.DATA + "/" + named;
        }
        Path store = real(console.directory().resolve(given.directory()));
        for (Path start : List.of(store, console.directory())) {
            Path file = start.resolve(path);
            Path directoryOfFile = file.getParent();
            if (directoryOfFile != null && Files.exists(file)) {
                Path found = real(directoryOfFile).resolve(file.getFileName());
                if (found.startsWith(store)) {
                    return store.relativize(found).toString();
                }
            }
        }
        return named;
    }

    private static Path real(Path directory) {
        try {
            return directory.toRealPath();
        } catch (IOException e) {
            throw new InvalidRequestException(
                    "%s can't be read: %s".formatted(directory, e.getMessage()), e);
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
                                    backup == null && refusal.equals(outcome.cause())
                                            ? "the file is as it was; give --restore BACKUP to take it from there"
                                            : refusal));
        }
    }
}
