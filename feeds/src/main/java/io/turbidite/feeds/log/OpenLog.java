package io.turbidite.feeds.log;

import io.turbidite.core.Cleanup;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Undo;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.hashlog.HashLog;
import io.turbidite.hashlog.HashLogOptions;
import io.turbidite.hashlog.log.LogOptions;
import io.turbidite.hashlog.log.LogShape;
import io.turbidite.hashlog.log.LogSite;

import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.function.Function;

/**
 * A hash log in a directory of its own, with the threads and the memory that it runs on.
 * <em>Thread-safe as the log is.</em>
 */
public final class OpenLog implements AutoCloseable {
    /** On top of pages and table: buffers of readers. */
    private static final long READER_BYTES = 256L << 20;

    private final HashLog log;
    private final Tasks tasks;
    private final StoreEvents events;
    private final Path directory;

    private OpenLog(HashLog log, Tasks tasks, StoreEvents events, Path directory) {
        this.log = log;
        this.tasks = tasks;
        this.events = events;
        this.directory = directory;
    }

    /**
     * Pages of 4 MiB, 128 MiB of them in memory, segments of 256 MiB, a table that may grow to 1
     * GiB.
     */
    public static HashLogOptions defaults() {
        return HashLogOptions.defaults().withLog(LogOptions.of(new LogShape(4 << 20, 32, 64)));
    }

    /**
     * Opens the log in {@code directory}, or makes one there if the directory is empty or missing.
     */
    public static OpenLog openOrCreate(Path directory, HashLogOptions options) {
        return opened(
                directory,
                options,
                site -> HashLog.openOrCreate(site, options, new SecureRandom().nextLong()));
    }

    /**
     * Makes a log in {@code directory}, which is empty or missing.
     *
     * @throws InvalidRequestException if there is one
     */
    public static OpenLog create(Path directory, HashLogOptions options) {
        return opened(
                directory,
                options,
                site -> HashLog.create(site, options, new SecureRandom().nextLong()));
    }

    /**
     * Opens the log in {@code directory}.
     *
     * @throws InvalidRequestException if there is none; nothing is created
     */
    public static OpenLog openExisting(Path directory, HashLogOptions options) {
        RealDisk.checkDirectory(directory);
        return opened(directory, options, site -> HashLog.open(site, options));
    }

    /**
     * Opens the log in {@code directory} to read it: no file in it changes but the lock's.
     *
     * @throws InvalidRequestException if there is none; nothing is created
     */
    public static OpenLog openForReading(Path directory, HashLogOptions options) {
        RealDisk.checkDirectory(directory);
        return opened(directory, options, site -> HashLog.openForReading(site, options));
    }

    private static OpenLog opened(
            Path directory, HashLogOptions options, Function<LogSite, HashLog> opening) {
        DirectoryKind.checkNoStore(directory);
        Tasks tasks = ThreadTasks.create("hashlog");
        StoreEvents events = new StoreEvents();
        try (Undo undo = Undo.of(tasks::close)) {
            LogSite site = site(directory, options, tasks, events);
            return undo.keep(new OpenLog(opening.apply(site), tasks, events, directory));
        }
    }

    /** Where a log of these options in {@code directory} lives, with memory for it. */
    static LogSite site(Path directory, HashLogOptions options, Tasks tasks, StoreEvents events) {
        return new LogSite(
                directory.toString(),
                RealDisk.open(directory),
                "log",
                tasks,
                Clock.system(),
                MemoryBudget.of(
                        options.log().shape().ringBytes() + options.tableBytesMax() + READER_BYTES),
                new Meters(),
                events);
    }

    /** The log; it is closed with this. */
    public HashLog log() {
        return log;
    }

    /** Where background work of the log runs; who works with it may start more. */
    public Tasks tasks() {
        return tasks;
    }

    /** What the log, and feeds into it, have to tell. */
    public StoreEvents events() {
        return events;
    }

    /** Where it lies. */
    public Path directory() {
        return directory;
    }

    /** Makes everything durable and lets go. */
    @Override
    public void close() {
        new Cleanup().add(log::close).add(tasks::close).run();
    }
}
