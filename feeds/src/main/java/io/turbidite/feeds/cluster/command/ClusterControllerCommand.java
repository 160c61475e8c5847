package io.turbidite.feeds.cluster.command;

import io.turbidite.feeds.command.common.CommonOptions;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

import java.util.concurrent.Callable;

/** Runs the controller of a cluster in this process. */
@Command(
        name = "controller",
        customSynopsis = "./turbidite cluster controller --dir DIR [options]",
        description = {
            "Run the controller in this process until Ctrl-C or SIGTERM, as a service manager wants it.",
            "./turbidite cluster start runs it in a process of its own.",
        },
        sortOptions = false)
final class ClusterControllerCommand implements Callable<Integer> {
    private final ClusterAccess access;

    @Mixin
    private final DirectoryOption given = new DirectoryOption();

    @Mixin
    @SuppressWarnings("UnusedVariable") // the parser knows its options by it
    private final CommonOptions common = new CommonOptions();

    ClusterControllerCommand(ClusterAccess access) {
        this.access = access;
    }

    @Override
    public Integer call() {
        return RunningProcess.controller(
                access.console(), ClusterDirectory.read(access.path(given.directory)));
    }
}
