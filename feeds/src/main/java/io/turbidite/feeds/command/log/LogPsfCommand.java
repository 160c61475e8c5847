package io.turbidite.feeds.command.log;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.log.LogPsfs;
import io.turbidite.feeds.log.OpenLog;
import io.turbidite.hashlog.HashLog;
import io.turbidite.hashlog.HistoryIndexing;
import io.turbidite.hashlog.registry.RegisteredPsf;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/** Registers and removes PSFs of a log. */
@Command(
        name = "psf",
        customSynopsis = {
            "./turbidite log psf list LOGDIR",
            "./turbidite log psf add LOGDIR name=definition...",
            "./turbidite log psf remove LOGDIR name...",
            "./turbidite log psf index LOGDIR name...",
        },
        description = {
            "List, register or remove the PSFs of a log, or index what was there before them.",
            "Records that come are indexed by what is registered; what a removed PSF indexed stays so.",
        },
        sortOptions = false)
final class LogPsfCommand implements Callable<Integer> {
    private final Console console;

    @Parameters(index = "0", paramLabel = "ACTION", description = "list, add, remove or index.")
    private String action = "";

    @Parameters(index = "1", paramLabel = "LOGDIR", description = "Directory of the log.")
    private String directory = "";

    @Parameters(
            index = "2..*",
            paramLabel = "PSF",
            description = "name=definition to add, name to remove or index.")
    private List<String> psfs = new ArrayList<>();

    @Option(
            names = "--chains",
            paramLabel = "n",
            description =
                    "Spread each value of what is added over 1, 2, 4, 8 or 16 chains, if some are hot.")
    private int chains = 1;

    @Mixin
    private final CommonOptions common = new CommonOptions();

    LogPsfCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        if (!List.of("list", "add", "remove", "index").contains(action)) {
            throw new InvalidRequestException(
                    "unknown action '%s'; actions are list, add, remove, index".formatted(action));
        }
        if (action.equals("list") != psfs.isEmpty()) {
            throw new InvalidRequestException(
                    psfs.isEmpty()
                            ? "%s which PSF?".formatted(action)
                            : "list takes no PSF: it shows them all");
        }
        Map<String, String> definitions = new LinkedHashMap<>();
        if (action.equals("add")) {
            for (String psf : psfs) {
                String[] pair = LogCommand.pair("PSF", "name=definition", psf);
                definitions.put(pair[0], pair[1]);
            }
        }
        LogPsfs wanted = LogPsfs.parse(definitions);
        LogArgument log = LogArgument.of(directory);
        try (OpenLog open = action.equals("list") ? log.openForReading() : log.openToChange()) {
            wanted.registerMissing(open.log(), chains);
            if (action.equals("remove")) {
                named(open.log()).forEach(psf -> open.log().deregister(psf.id()));
            } else if (action.equals("index")) {
                named(open.log()).forEach(psf -> index(open.log(), psf.name()));
            }
            print(open.log().psfs());
        }
        return ExitCode.OK;
    }

    private static void index(HashLog log, String psf) {
        try (HistoryIndexing indexing = log.indexHistory(psf)) {
            indexing.await();
        }
    }

    private List<RegisteredPsf> named(HashLog log) {
        List<RegisteredPsf> found = new ArrayList<>();
        for (String name : psfs) {
            RegisteredPsf psf = LogPsfs.active(log, name);
            if (psf == null) {
                throw new InvalidRequestException(
                        "no PSF '%s' is registered in %s".formatted(name, directory));
            }
            found.add(psf);
        }
        return found;
    }

    private void print(List<RegisteredPsf> all) {
        for (RegisteredPsf psf : all) {
            if (common.json) {
                console.out().println(Json.text(LogInspection.toMap(psf)));
            } else {
                console.out().println(LogInspection.text(psf));
            }
        }
        if (all.isEmpty() && !common.json) {
            console.err().println("no PSF was registered yet");
        }
    }
}
