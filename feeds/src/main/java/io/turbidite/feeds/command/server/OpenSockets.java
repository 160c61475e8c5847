package io.turbidite.feeds.command.server;

import io.turbidite.core.Cleanup;
import io.turbidite.core.Undo;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.feed.Serving;
import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.lsm.Store;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** What lets other commands reach the stores of a server. <em>Confined to one thread.</em> */
final class OpenSockets implements AutoCloseable {
    private final List<Serving.Server> servers = new ArrayList<>();

    private OpenSockets() {}

    /** Starts one for each store, and says where that is not possible. */
    static OpenSockets open(
            Map<String, Store> stores,
            Map<String, FeedManager> feeds,
            ServedFeeds serving,
            Console console) {
        OpenSockets open = new OpenSockets();
        try (Undo undo = Undo.of(open::close)) {
            for (Map.Entry<String, Store> one : stores.entrySet()) {
                FeedManager manager = Objects.requireNonNull(feeds.get(one.getKey()));
                Serving.Server server = serving.start(one.getValue(), manager, console.home());
                open.servers.add(server);
                server.problem().ifPresent(problem -> console.err().println("note: " + problem));
            }
            return undo.keep(open);
        }
    }

    @Override
    public void close() {
        new Cleanup().addAll(servers, Serving.Server::close).run();
    }
}
