package io.turbidite.feeds.cluster.command;

import io.turbidite.feeds.command.common.CommonOptions;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

import java.util.concurrent.Callable;

/** Runs a node of a cluster in this process. */
@Command(
        name = "node",
        customSynopsis = "./turbidite cluster node NAME --dir DIR [options]",
        description = {
            "Run a node in this process until Ctrl-C or SIGTERM, as a service manager wants it.",
            "The controller has to run. ./turbidite cluster start runs each in a process of its own.",
        },
        sortOptions = false)
final class ClusterNodeCommand implements Callable<Integer> {
    private final ClusterAccess access;

    @Parameters(index = "0", paramLabel = "NAME", description = "Of the node: n1, n2, …")
    private String name = "";

    @Mixin
    private final DirectoryOption given = new DirectoryOption();

    @Mixin
    @SuppressWarnings("UnusedVariable") // the parser knows its options by it
    private final CommonOptions common = new CommonOptions();

    ClusterNodeCommand(ClusterAccess access) {
        this.access = access;
    }

    @Override
    public Integer call() {
        ClusterDirectory cluster = ClusterDirectory.read(access.path(given.directory));
        cluster.checkNode(name);
        return RunningProcess.node(access.console(), cluster, name);
    }
}
