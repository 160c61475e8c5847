package io.turbidite.bench.feed;

import io.turbidite.feeds.web.access.Token;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** Asks what an open page of the console asks: the events, and every second the feeds. */
final class Console implements AutoCloseable {
    private static final long ASK_NANOS = 1_000_000_000;

    private final Asker events;
    private final Asker feeds;
    private final AtomicLong eventBytes = new AtomicLong();
    private volatile boolean isClosed;

    private Console(Asker events, Asker feeds) {
        this.events = events;
        this.feeds = feeds;
    }

    /** The page's files and the store's description are there when this returns. */
    static Console open(InetSocketAddress at, Token.Made token) throws IOException {
        Asker feeds = Asker.open(at, token);
        feeds.get("/");
        feeds.get("/v1/stores");
        feeds.get("/v1/stores/store?since=0");
        Console console = new Console(Asker.open(at, token), feeds);
        Thread.ofPlatform().daemon().name("events").start(console::hear);
        Thread.ofPlatform().daemon().name("feeds").start(console::ask);
        return console;
    }

    /** How much has been heard. */
    long eventBytes() {
        return eventBytes.get();
    }

    private void hear() {
        byte[] piece = new byte[8_192];
        try {
            InputStream in = events.stream("/v1/events");
            for (int read = in.read(piece); read >= 0; read = in.read(piece)) {
                eventBytes.addAndGet(read);
            }
            failUnlessClosed(null);
        } catch (IOException ended) {
            failUnlessClosed(ended);
        }
    }

    private void ask() {
        try {
            while (!isClosed) {
                feeds.get("/v1/feeds");
                LockSupport.parkNanos(ASK_NANOS);
            }
        } catch (IOException ended) {
            failUnlessClosed(ended);
        }
    }

    private void failUnlessClosed(@Nullable IOException ended) {
        if (!isClosed) {
            throw new IllegalStateException("the server let the console go", ended);
        }
    }

    @Override
    public void close() throws IOException {
        isClosed = true;
        events.close();
        feeds.close();
    }
}
