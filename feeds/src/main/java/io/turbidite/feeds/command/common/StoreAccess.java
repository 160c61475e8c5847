package io.turbidite.feeds.command.common;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StoreInUseException;
import io.turbidite.core.catalog.Catalog;
import io.turbidite.core.file.RealDisk;
import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.feeds.manage.FeedsOfManager;
import io.turbidite.feeds.serve.SocketClient;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.catalog.StoreCatalog;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;

/**
 * How a command comes to its store: it opens it; or, if another process holds it, has its command
 * line run there; or it is being run so, and is given the store. Who only reads changes no byte of
 * it.
 */
public interface StoreAccess {
    /** What a process that holds a store runs for others, if it serves them. */
    List<String> SERVED = List.of(
            "query",
            "sql",
            "get",
            "export",
            "inspect",
            "stats",
            "doctor",
            "tail",
            "dataset list",
            "verify",
            "advise",
            "trash",
            "flush",
            "upgrade",
            "backup",
            "ship",
            "job");

    /** What it runs for others if it runs feeds. */
    String FEED = "feed";

    /** Whether a process that holds a store runs this command line for others. */
    static boolean isServed(List<String> arguments) {
        return Stream.concat(SERVED.stream(), Stream.of(FEED)).anyMatch(command -> {
            List<String> words = List.of(command.split(" ", -1));
            return arguments.size() >= words.size()
                    && arguments.subList(0, words.size()).equals(words);
        });
    }

    /**
     * Reads the store.
     *
     * @param work returns the exit code; is not called if another process does the work
     * @return the exit code
     */
    int use(StoreArgument given, ToIntFunction<Store> work);

    /** As {@link #use}, for work that changes the store. */
    int change(StoreArgument given, ToIntFunction<Store> work);

    /**
     * Works with the feeds of a store, in the process that serves it.
     *
     * @param work returns the exit code; is not called if another process does the work
     * @return the exit code
     * @throws InvalidRequestException if no process serves the store
     */
    int feeds(StoreArgument given, ToIntFunction<FeedManager> work);

    /**
     * What statements meet of a store that {@link #use} or {@link #change} gave.
     *
     * @param directory to which paths in definitions of feeds are relative
     */
    Catalog catalog(Store store, Path directory);

    /** Whether others may be using the same opening of the store. */
    boolean isShared();

    /** A bar of work, unless it is done for another process. */
    default WatchedProgress progress(
            Console console, String task, LongSupplier doneBytes, LongSupplier totalBytes) {
        return isShared()
                ? WatchedProgress.none()
                : WatchedProgress.ofBytes(console, task, doneBytes, totalBytes);
    }

    /** Opens stores, and goes to the process that holds one. */
    static StoreAccess opening(Console console, String[] arguments) {
        return new StoreAccess() {
            @Override
            public int use(StoreArgument given, ToIntFunction<Store> work) {
                return with(given, StoreArgument::openForReading, work);
            }

            @Override
            public int change(StoreArgument given, ToIntFunction<Store> work) {
                return with(given, StoreArgument::openToChange, work);
            }

            private int with(
                    StoreArgument given,
                    Function<StoreArgument, Store> opening,
                    ToIntFunction<Store> work) {
                try (Store store = opening.apply(given)) {
                    return work.applyAsInt(store);
                } catch (StoreInUseException inUse) {
                    return askHolder(given, inUse);
                }
            }

            private int askHolder(StoreArgument given, StoreInUseException inUse) {
                return ask(given).orElseThrow(() -> inUse);
            }

            @Override
            public int feeds(StoreArgument given, ToIntFunction<FeedManager> work) {
                RealDisk.checkDirectory(console.directory().resolve(given.path()));
                return ask(given)
                        .orElseThrow(() -> new InvalidRequestException(
                                "no process serves the store %s, so no feed of it runs: ./turbidite serve %s runs them"
                                        .formatted(given.directory(), given.shellWord())));
            }

            private OptionalInt ask(StoreArgument given) {
                return SocketClient.run(
                        console.directory().resolve(given.path()),
                        new SocketClient.Request(
                                console.directory().toString(),
                                console.terminal(),
                                List.of(arguments)),
                        console.out(),
                        console.err());
            }

            @Override
            public Catalog catalog(Store store, Path directory) {
                return StoreCatalog.of(store, false);
            }

            @Override
            public boolean isShared() {
                return false;
            }
        };
    }

    /**
     * Gives a store that is held; for commands of other processes.
     *
     * @param manager of its feeds, or null if this process runs none
     */
    static StoreAccess sharing(Store held, @Nullable FeedManager manager) {
        return new StoreAccess() {
            @Override
            public int use(StoreArgument given, ToIntFunction<Store> work) {
                return work.applyAsInt(held);
            }

            @Override
            public int change(StoreArgument given, ToIntFunction<Store> work) {
                return work.applyAsInt(held);
            }

            @Override
            public int feeds(StoreArgument given, ToIntFunction<FeedManager> work) {
                if (manager == null) {
                    throw new InvalidRequestException(
                            "the process that holds the store %s runs no feeds beside its own work; wait until it has ended, then ./turbidite serve %s runs them"
                                    .formatted(given.directory(), given.shellWord()));
                }
                return work.applyAsInt(manager);
            }

            @Override
            public Catalog catalog(Store store, Path directory) {
                Catalog catalog = StoreCatalog.of(store, false);
                return manager == null
                        ? catalog
                        : catalog.with(FeedsOfManager.of(manager, directory));
            }

            @Override
            public boolean isShared() {
                return true;
            }
        };
    }
}
