package io.turbidite.feeds.cluster.command;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.feeds.cluster.ClusterWriteException;
import io.turbidite.feeds.cluster.door.ClusterDoor;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.PathArgument;
import io.turbidite.feeds.serve.SocketClient;
import io.turbidite.ops.cluster.ClusterException;
import io.turbidite.ops.job.HostedJobException;
import io.turbidite.ops.job.StaleJobException;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
import java.util.List;
import java.util.function.IntSupplier;
import java.util.function.ToIntFunction;

/**
 * How a command comes to its cluster: the controller's process runs it, and is given the door.
 * <em>Immutable.</em>
 *
 * @param door of this process; null: another one has it
 */
record ClusterAccess(Console console, @Nullable ClusterDoor door) {
    /** The path that an option names. */
    Path path(String directory) {
        return console.directory().resolve(PathArgument.path("--dir", directory));
    }

    /**
     * Works at the door.
     *
     * @param arguments by which the controller's process is asked for the same
     * @param work is not called if another process does it
     * @return the exit code
     */
    int ask(String directory, List<String> arguments, ToIntFunction<ClusterDoor> work) {
        ClusterDoor own = door;
        if (own != null) {
            return told(() -> work.applyAsInt(own));
        }
        ClusterDirectory of = ClusterDirectory.read(path(directory));
        return SocketClient.run(
                        of.of("controller"),
                        new SocketClient.Request(
                                console.directory().toString(), console.terminal(), arguments),
                        console.out(),
                        console.err())
                .orElseThrow(() -> new InvalidRequestException(
                        "no controller runs in %s; ./turbidite cluster start --dir %s starts it"
                                .formatted(directory, directory)));
    }

    /** Failures of clusters are told as they are: their text says what to know. */
    static int told(IntSupplier work) {
        try {
            return work.getAsInt();
        } catch (ClusterException
                | ClusterWriteException
                | HostedJobException
                | StaleJobException e) {
            throw new StoreFailedException(String.valueOf(e.getMessage()), null);
        } catch (NoClassDefFoundError e) {
            throw missing(e);
        }
    }

    /** What to say of a class of an optional library that is not there; rethrows any other. */
    static InvalidRequestException missing(NoClassDefFoundError e) {
        String name = String.valueOf(e.getMessage());
        String artifacts = name.startsWith("org/apache/hyracks")
                ? "org.apache.hyracks:hyracks-control-cc, hyracks-control-nc and hyracks-dataflow-std"
                : name.startsWith("org/bouncycastle") ? "org.bouncycastle:bcpkix-jdk18on" : "";
        if (artifacts.isEmpty()) {
            throw e;
        }
        return new InvalidRequestException(
                "a cluster needs %s, not on the class path".formatted(artifacts), e);
    }
}
