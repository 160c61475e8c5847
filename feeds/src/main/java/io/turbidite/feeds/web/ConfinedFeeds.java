package io.turbidite.feeds.web;

import io.turbidite.core.catalog.FeedCatalog;
import io.turbidite.core.catalog.FeedDescription;
import io.turbidite.core.catalog.FeedOption;
import io.turbidite.feeds.FeedDefinition;
import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.feeds.manage.FeedsOfManager;
import io.turbidite.feeds.web.http.Exchange;
import io.turbidite.feeds.web.http.Right;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * The feeds of a store as a client of a server meets them by SQL: with the rights that {@link
 * FeedRoutes} asks for, and files below those of the server alone. <em>Thread-safe.</em>
 */
final class ConfinedFeeds implements FeedCatalog {
    private final FeedManager manager;
    private final FeedCatalog all;
    private final FilesRoot files;
    private final Exchange exchange;

    ConfinedFeeds(FeedManager manager, FilesRoot files, Exchange exchange) {
        this.manager = manager;
        this.all = FeedsOfManager.of(manager, Path.of(""));
        this.files = files;
        this.exchange = exchange;
    }

    /**
     * Reads a definition of a client, who names no file that he may not.
     *
     * @throws io.turbidite.feeds.web.http.Problem with 403 if he does
     */
    static FeedDefinition read(FilesRoot files, String yaml) {
        FeedDefinition definition = FeedDefinition.parse(
                "definition", files.directory(), yaml, path -> files.resolve("path", path));
        String path = definition.source().options().get("path");
        if (path != null) {
            var _ = files.resolve("source.path", path);
        }
        for (String file : definition.source().files()) {
            var _ = files.resolve("source", file);
        }
        for (String file : definition.format().files()) {
            var _ = files.resolve("parser.schemas", file);
        }
        return definition;
    }

    @Override
    public List<FeedDescription> feeds() {
        return all.feeds().stream()
                .filter(one -> exchange.caller().may(Right.READ, "feed", one.name()))
                .toList();
    }

    @Override
    public boolean has(String feed) {
        exchange.require(Right.MANAGE, "feed", feed);
        return all.has(feed);
    }

    @Override
    public Map<String, String> definition(String feed) {
        exchange.require(Right.READ, "feed", feed);
        return all.definition(feed);
    }

    @Override
    public void create(String feed, List<FeedOption> options) {
        exchange.require(Right.MANAGE, "feed", feed);
        FeedsOfManager.of(manager, files.directory(), yaml -> read(files, yaml))
                .create(feed, options);
    }

    @Override
    public void drop(String feed) {
        exchange.require(Right.MANAGE, "feed", feed);
        all.drop(feed);
    }

    @Override
    public void start(String feed) {
        exchange.require(Right.MANAGE, "feed", feed);
        all.start(feed);
    }

    @Override
    public void stop(String feed) {
        exchange.require(Right.MANAGE, "feed", feed);
        all.stop(feed);
    }
}
