package io.turbidite.feeds.manage;

import io.turbidite.core.catalog.FeedCatalog;
import io.turbidite.core.catalog.FeedDescription;
import io.turbidite.core.catalog.FeedOption;
import io.turbidite.core.catalog.FeedRefusedException;
import io.turbidite.feeds.DefinitionException;
import io.turbidite.feeds.DefinitionText;

import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The feeds of a manager as SQL meets them:
 *
 * <pre>{@code
 * Catalog catalog = StoreCatalog.of(store, false).with(FeedsOfManager.of(feeds, directory));
 * Sql.on(catalog).statement("start feed flights").execute();
 * }</pre>
 *
 * <p><em>Thread-safe.</em>
 */
public final class FeedsOfManager implements FeedCatalog {
    private final FeedManager manager;
    private final Path directory;
    private final Consumer<String> check;

    private FeedsOfManager(FeedManager manager, Path directory, Consumer<String> check) {
        this.manager = manager;
        this.directory = directory;
        this.check = check;
    }

    /**
     * The feeds of a manager.
     *
     * @param directory to which paths in definitions are relative
     */
    public static FeedCatalog of(FeedManager manager, Path directory) {
        return of(manager, directory, _ -> {});
    }

    /**
     * As {@link #of(FeedManager, Path)}.
     *
     * @param check gets the text of each definition before it is used, and throws if it may not be
     */
    public static FeedCatalog of(FeedManager manager, Path directory, Consumer<String> check) {
        return new FeedsOfManager(manager, directory, check);
    }

    @Override
    public List<FeedDescription> feeds() {
        return manager.list().stream().map(FeedsOfManager::description).toList();
    }

    private static FeedDescription description(FeedStatus status) {
        return new FeedDescription(
                status.name(),
                status.dataset().isEmpty() ? null : status.dataset(),
                status.word(),
                Instant.EPOCH.plus(status.sinceMicros(), ChronoUnit.MICROS),
                status.records(),
                status.rejected(),
                status.dropped(),
                status.cause());
    }

    @Override
    public boolean has(String feed) {
        return manager.list().stream().anyMatch(one -> one.name().equals(feed));
    }

    @Override
    public Map<String, String> definition(String feed) {
        return DefinitionText.keys(manager.status(feed).definition());
    }

    @Override
    public void create(String feed, List<FeedOption> options) {
        try {
            String text = DefinitionText.of(feed, options);
            check.accept(text);
            var _ = manager.start(text, directory);
        } catch (DefinitionException e) {
            throw new FeedRefusedException(
                    e.problems().stream()
                            .map(one -> new FeedRefusedException.Problem(one.key(), one.message()))
                            .toList(),
                    e);
        }
    }

    @Override
    public void drop(String feed) {
        var _ = manager.drop(feed);
    }

    @Override
    public void start(String feed) {
        var _ = manager.resume(feed);
    }

    @Override
    public void stop(String feed) {
        var _ = manager.stop(feed);
    }
}
