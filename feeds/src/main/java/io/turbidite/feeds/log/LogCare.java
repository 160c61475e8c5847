package io.turbidite.feeds.log;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.hashlog.HashLogOptions;
import io.turbidite.hashlog.LogCheck;
import io.turbidite.hashlog.LogCopy;
import io.turbidite.hashlog.log.LogSite;

import java.nio.file.Path;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/**
 * Looks at and copies a log of a directory that no process has open. <em>Static, without
 * state.</em>
 */
public final class LogCare {
    /** Where feeds into the log keep their positions. */
    private static final List<String> BESIDE = List.of("feeds");

    private LogCare() {}

    /**
     * Looks at all of the log in {@code directory}; no file in it changes but the lock's.
     *
     * @throws InvalidRequestException if there is none
     */
    public static LogCheck.Result check(Path directory, BooleanSupplier stopped) {
        HashLogOptions options = OpenLog.defaults();
        return with(directory, site -> LogCheck.run(site, options, stopped));
    }

    /**
     * Copies a log with the positions of its feeds, durably.
     *
     * @param to new or empty
     * @throws InvalidRequestException if there is no log in {@code from}, or {@code to} has files
     */
    public static LogCopy.Result copy(Path from, Path to, BooleanSupplier stopped) {
        return with(from, site -> {
            Disk target = RealDisk.open(to);
            if (!target.list("").isEmpty()) {
                throw new InvalidRequestException(
                        "%s has files already: name a directory that is new or empty"
                                .formatted(to));
            }
            return LogCopy.run(site, BESIDE, target, stopped);
        });
    }

    private static <T> T with(Path directory, Function<LogSite, T> work) {
        RealDisk.checkDirectory(directory);
        DirectoryKind.checkNoStore(directory);
        try (Tasks tasks = ThreadTasks.create("log-care")) {
            return work.apply(
                    OpenLog.site(directory, OpenLog.defaults(), tasks, new StoreEvents()));
        }
    }
}
