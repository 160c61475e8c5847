package io.turbidite.feeds.cluster.command;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.file.Disk;
import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.Words;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;

/** Starts the processes of a cluster on this machine. */
@Command(
        name = "start",
        customSynopsis =
                "./turbidite cluster start --dir DIR [--nodes N] [--port PORT] [--memory SIZE] [options]",
        description = {
            "Start a controller and nodes, each a process of its own, and wait until all serve.",
            "A directory that is empty or not there becomes a cluster's, with keys for its processes.",
        },
        sortOptions = false)
final class ClusterStartCommand implements Callable<Integer> {
    private static final int NODES = 3;
    private static final String MEMORY = "256m";

    private final ClusterAccess access;

    @Mixin
    private final DirectoryOption given = new DirectoryOption();

    @Option(
            names = "--nodes",
            paramLabel = "N",
            description = "Of a new cluster: how many nodes, 1 to 64; default: 3.")
    private @Nullable Integer nodes;

    @Option(
            names = "--port",
            paramLabel = "PORT",
            description =
                    "Of a new cluster: on which its nodes find the controller; default: a free one.")
    private @Nullable Integer port;

    @Option(
            names = "--memory",
            paramLabel = "SIZE",
            description = "Of a new cluster: heap of each process, as 512m; default: 256m.")
    private @Nullable String memory;

    @Mixin
    private final CommonOptions common = new CommonOptions();

    ClusterStartCommand(ClusterAccess access) {
        this.access = access;
    }

    @Override
    public Integer call() {
        Path path = access.path(given.directory);
        checkGiven();
        ClusterDirectory cluster;
        try (Disk.Lock _ = ClusterDirectory.lock(path)) {
            cluster = ClusterDirectory.isOne(path) ? read(path) : make(path);
            new ProcessStarter(access.console(), cluster).startAll();
        } catch (CancellationException e) {
            return ExitCode.INTERRUPTED;
        } catch (NoClassDefFoundError e) {
            throw ClusterAccess.missing(e);
        }
        if (common.json) {
            Json.line()
                    .put("ok", true)
                    .put("nodes", cluster.nodes())
                    .put("port", cluster.port())
                    .printTo(access.console().out());
        } else {
            access.console()
                    .out()
                    .println("%s of the cluster in %s serve"
                            .formatted(Words.count(cluster.nodeCount(), "node"), given.directory));
        }
        return ExitCode.OK;
    }

    private ClusterDirectory read(Path path) {
        ClusterDirectory read = ClusterDirectory.read(path);
        if (nodes != null && nodes != read.nodeCount()) {
            throw new InvalidRequestException("the cluster in %s has %s; that can't be changed yet"
                    .formatted(given.directory, Words.count(read.nodeCount(), "node")));
        }
        if (port != null || memory != null) {
            throw new InvalidRequestException(
                    "--port and --memory are of a new cluster; %s has them"
                            .formatted(path.resolve(ClusterDirectory.FILE)));
        }
        return read;
    }

    private void checkGiven() {
        if (nodes != null && (nodes < 1 || nodes > ClusterDirectory.NODES_MAX)) {
            throw new InvalidRequestException(
                    "--nodes %d must be 1 to %d".formatted(nodes, ClusterDirectory.NODES_MAX));
        }
        if (memory != null && !memory.matches("[1-9][0-9]{0,9}[kmgKMG]")) {
            throw new InvalidRequestException(
                    "--memory '%s' must be as 512m or 2g".formatted(memory));
        }
        if (port != null && (port < 1 || port > 65_535)) {
            throw new InvalidRequestException("--port %d must be 1 to 65535".formatted(port));
        }
    }

    private ClusterDirectory make(Path path) {
        return ClusterDirectory.make(
                path,
                nodes == null ? NODES : nodes,
                port == null ? 0 : port,
                memory == null ? MEMORY : memory);
    }
}
