package io.turbidite.bench.feed;

import io.turbidite.core.Cleanup;
import io.turbidite.core.meter.Meters;
import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.feeds.manage.FeedState;
import io.turbidite.feeds.web.access.Gate;
import io.turbidite.feeds.web.access.Token;
import io.turbidite.feeds.web.tcp.TcpDoor;
import io.turbidite.feeds.web.tcp.TcpOptions;
import io.turbidite.feeds.web.tcp.TcpServer;
import io.turbidite.lsm.Store;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** A feed called {@code tweets} that takes lines of JSON at a port of loopback. */
final class TcpFeed implements AutoCloseable {
    private final FeedManager feeds;
    private final TcpServer server;

    private TcpFeed(FeedManager feeds, TcpServer server) {
        this.feeds = feeds;
        this.server = server;
    }

    /** Returns when it takes lines. */
    static TcpFeed start(Store store, String definition, Token.Made token) throws IOException {
        FeedManager feeds = FeedManager.open(store);
        try {
            feeds.start(definition, Path.of("."));
            FeedSuite.await(feeds, status -> status.state() == FeedState.WAITING);
            TcpServer.Parts parts = new TcpServer.Parts(
                    TcpOptions.defaults(),
                    Map.of("one", feeds),
                    Gate.of(List.of(token.kept()), false),
                    null,
                    new Meters());
            TcpDoor door = new TcpDoor("tweets", FeedSuite.anyPort(), false);
            return new TcpFeed(feeds, TcpServer.start(parts, List.of(door)));
        } catch (Throwable failed) {
            feeds.close();
            throw failed;
        }
    }

    InetSocketAddress address() {
        return server.addresses().values().iterator().next();
    }

    @Override
    public void close() {
        new Cleanup().add(server::close).add(feeds::close).run();
    }
}
