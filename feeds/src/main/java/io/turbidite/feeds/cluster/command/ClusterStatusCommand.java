package io.turbidite.feeds.cluster.command;

import io.turbidite.feeds.cluster.door.ClusterDoor;
import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.Words;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/** Says how a cluster is. */
@Command(
        name = "status",
        customSynopsis = "./turbidite cluster status --dir DIR [options]",
        description = {
            "Print the nodes, how each is, its partitions, and the number of the last change.",
            "Exit code 1 if not all nodes serve.",
        },
        sortOptions = false)
final class ClusterStatusCommand implements Callable<Integer> {
    private final ClusterAccess access;

    @Mixin
    private final DirectoryOption given = new DirectoryOption();

    @Mixin
    private final CommonOptions common = new CommonOptions();

    ClusterStatusCommand(ClusterAccess access) {
        this.access = access;
    }

    @Override
    public Integer call() {
        List<String> arguments = new ArrayList<>(List.of("status", "--dir", given.directory));
        if (common.json) {
            arguments.add("--json");
        }
        return access.ask(given.directory, arguments, this::print);
    }

    private int print(ClusterDoor door) {
        ClusterDoor.Status status = door.status();
        boolean isWell = status.stopped() == null
                && status.nodes().stream().allMatch(node -> node.state().equals("serves"));
        if (common.json) {
            Json.line()
                    .put("ok", isWell)
                    .put("change", status.change())
                    .put("stopped", status.stopped())
                    .put(
                            "nodes",
                            status.nodes().stream()
                                    .map(node -> Map.of(
                                            "name", node.name(),
                                            "state", node.state(),
                                            "partitions", node.partitions()))
                                    .toList())
                    .put("datasets", status.partitionsByDataset())
                    .printTo(access.console().out());
        } else {
            text(status, access.console().out());
        }
        return isWell ? ExitCode.OK : ExitCode.FAILED;
    }

    private static void text(ClusterDoor.Status status, PrintStream out) {
        out.println("change %d".formatted(status.change()));
        if (status.stopped() != null) {
            out.println("the controller makes no changes: " + status.stopped());
        }
        status.nodes()
                .forEach(node -> out.println("node %s %s, %s"
                        .formatted(
                                node.name(),
                                node.state(),
                                Words.count(node.partitions(), "partition"))));
        status.partitionsByDataset()
                .forEach((name, count) -> out.println(
                        "dataset %s, %s".formatted(name, Words.count(count, "partition"))));
    }
}
