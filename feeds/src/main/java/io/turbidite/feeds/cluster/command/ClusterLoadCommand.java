package io.turbidite.feeds.cluster.command;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.cluster.door.ClusterDoor;
import io.turbidite.feeds.cluster.door.FileLoad;
import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Failures;
import io.turbidite.feeds.command.common.Interrupts;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.PathArgument;
import io.turbidite.feeds.command.common.Words;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;

/** Brings the records of a file to the nodes that own them. */
@Command(
        name = "load",
        customSynopsis = "./turbidite cluster load DATASET FILE --dir DIR [options]",
        description = {
            "Put the records of a file into a dataset: each goes to the node that owns it.",
            "A record replaces the one with its key, so that a load that ended may be run again.",
            "Exit code 1 if there were records and every one was rejected.",
        },
        sortOptions = false)
final class ClusterLoadCommand implements Callable<Integer> {
    private final ClusterAccess access;

    @Parameters(index = "0", paramLabel = "DATASET", description = "Name of the dataset.")
    private String dataset = "";

    @Parameters(
            index = "1",
            paramLabel = "FILE",
            description =
                    "CSV with a header, or a JSON object a line, by its name: .csv, .ndjson, .jsonl, .json, .gz behind it.")
    private String file = "";

    @Mixin
    private final DirectoryOption given = new DirectoryOption();

    @Mixin
    private final CommonOptions common = new CommonOptions();

    ClusterLoadCommand(ClusterAccess access) {
        this.access = access;
    }

    @Override
    public Integer call() {
        boolean isCsv = isCsv();
        List<String> arguments =
                new ArrayList<>(List.of("load", "--dir", given.directory, dataset, file));
        if (common.json) {
            arguments.add("--json");
        }
        return access.ask(given.directory, arguments, door -> load(door, isCsv));
    }

    private boolean isCsv() {
        String name = file.toLowerCase(Locale.ROOT).replaceFirst("\\.gz$", "");
        if (name.endsWith(".csv")) {
            return true;
        }
        if (name.endsWith(".ndjson") || name.endsWith(".jsonl") || name.endsWith(".json")) {
            return false;
        }
        throw new InvalidRequestException(
                "the name '%s' does not say how the file is written: it ends in .csv, .ndjson, .jsonl or .json, and .gz perhaps"
                        .formatted(file));
    }

    private int load(ClusterDoor door, boolean isCsv) {
        Console console = access.console();
        AtomicBoolean stopped = new AtomicBoolean();
        FileLoad load = door.load(dataset);
        try (Interrupts.Watch _ = console.interrupts().watch(() -> stopped.set(true))) {
            boolean isWhole;
            try {
                isWhole = load.run(
                        console.directory().resolve(PathArgument.path("FILE", file)),
                        isCsv,
                        stopped::get);
            } catch (RuntimeException e) {
                if (load.written() > 0) {
                    console.err()
                            .println("turbidite: %s loaded before it ended"
                                    .formatted(Words.count(load.written(), "record")));
                }
                throw e;
            }
            print(load, isWhole);
            return isWhole
                    ? Failures.codeOfLoad(load.written(), load.rejected(), console.err())
                    : ExitCode.INTERRUPTED;
        }
    }

    private void print(FileLoad load, boolean isWhole) {
        if (common.json) {
            Json.line()
                    .put("ok", isWhole)
                    .put("dataset", dataset)
                    .put("records", load.written())
                    .put("rejected", load.rejected())
                    .printTo(access.console().out());
        } else {
            access.console()
                    .out()
                    .println("%s loaded into %s, %s rejected"
                            .formatted(
                                    Words.count(load.written(), "record"),
                                    dataset,
                                    Words.number(load.rejected())));
        }
        if (load.firstRejected() != null) {
            access.console().err().println("the first rejected record: " + load.firstRejected());
        }
    }
}
