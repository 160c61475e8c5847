package io.turbidite.feeds.cluster.command;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Json;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/** Ends the processes of a cluster. */
@Command(
        name = "stop",
        customSynopsis = "./turbidite cluster stop --dir DIR [options]",
        description = {
            "End the processes of the cluster, the controller last, and wait until they are gone.",
            "One that does not end within 20 s is killed; nothing that was acknowledged is lost.",
        },
        sortOptions = false)
final class ClusterStopCommand implements Callable<Integer> {
    private final ClusterAccess access;

    @Mixin
    private final DirectoryOption given = new DirectoryOption();

    @Mixin
    private final CommonOptions common = new CommonOptions();

    ClusterStopCommand(ClusterAccess access) {
        this.access = access;
    }

    @Override
    public Integer call() {
        ClusterDirectory cluster = ClusterDirectory.read(access.path(given.directory));
        List<String> ended = new ArrayList<>();
        for (String process : cluster.processes()) {
            Path own = cluster.of(process);
            ProcessFile.read(own).ifPresent(running -> {
                ProcessFile.end(running);
                // one that was killed leaves it; where none ran, one that starts may write it now
                ProcessFile.delete(own);
                ended.add(process);
            });
        }
        if (ended.isEmpty()) {
            throw new InvalidRequestException(
                    "no process of the cluster in %s runs".formatted(given.directory));
        }
        if (common.json) {
            Json.line()
                    .put("ok", true)
                    .put("ended", ended)
                    .printTo(access.console().out());
        } else {
            access.console().out().println("ended " + String.join(", ", ended));
        }
        return ExitCode.OK;
    }
}
