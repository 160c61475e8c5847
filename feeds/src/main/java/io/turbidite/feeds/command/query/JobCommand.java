package io.turbidite.feeds.command.query;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.PathArgument;
import io.turbidite.feeds.command.common.StoreAccess;
import io.turbidite.feeds.command.common.StoreArgument;
import io.turbidite.lsm.Store;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.function.ToIntFunction;

/** Runs a job of a user's own. */
@Command(
        name = "job",
        customSynopsis = "./turbidite job STORE FILE.json [options]",
        description = {
            "Run a job, a graph of operators, and print the rows of its result, one JSON object a line. Its insert, upsert and delete change datasets, and count what they did.",
            "The file is JSON: docs/operators.md says what is in it.",
        },
        sortOptions = false,
        footer = {
            "",
            "Example: ./turbidite job turbidite-quickstart feeds/samples/jobs/late-by-destination.json"
        })
public final class JobCommand implements Callable<Integer> {
    private static final long FILE_BYTES_MAX = 16 << 20;

    private final Console console;
    private final StoreAccess stores;

    @Mixin
    private final StoreArgument given = new StoreArgument();

    @Parameters(index = "1", paramLabel = "FILE.json", description = "The job.")
    private String file = "";

    @Option(
            names = "--explain",
            description =
                    "Draw the job as text, with its stages and exchanges, and do not run it; with --json, print it as it is read.")
    private boolean explain;

    @Mixin
    private final CommonOptions common = new CommonOptions();

    public JobCommand(Console console, StoreAccess stores) {
        this.console = console;
        this.stores = stores;
    }

    @Override
    public Integer call() {
        String text = text();
        ToIntFunction<Store> work = store -> {
            try (SpillDirectory _ = SpillDirectory.of(store, stores.isShared())) {
                JobAnswer answer = new JobAnswer(console, store, text);
                return explain ? answer.explain(common.json) : answer.print(common.json);
            }
        };
        return !explain && JobAnswer.changes(text)
                ? stores.change(given, work)
                : stores.use(given, work);
    }

    private String text() {
        Path at = console.directory().resolve(PathArgument.path("FILE.json", file));
        try {
            if (Files.size(at) > FILE_BYTES_MAX) {
                throw new InvalidRequestException(
                        "%s is longer than the limit of %d bytes".formatted(file, FILE_BYTES_MAX));
            }
            return Files.readString(at);
        } catch (IOException e) {
            throw new InvalidRequestException(
                    "%s can't be read: %s".formatted(file, e.getMessage()), e);
        }
    }
}
