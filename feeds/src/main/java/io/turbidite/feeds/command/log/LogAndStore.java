package io.turbidite.feeds.command.log;

import io.turbidite.feeds.command.common.StoreArgument;

import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** The arguments of commands between a log and a dataset. <em>Set by the parser.</em> */
final class LogAndStore {
    @Mixin
    private final LogArgument log = new LogArgument();

    @Parameters(index = "1", paramLabel = "STORE", description = "Directory of the store.")
    private String store = "";

    @Parameters(index = "2", paramLabel = "DATASET", description = "Name of the dataset.")
    private String dataset = "";

    LogArgument log() {
        return log;
    }

    StoreArgument store() {
        return StoreArgument.of(store);
    }

    String dataset() {
        return dataset;
    }
}
