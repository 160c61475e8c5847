package io.turbidite.feeds.web.http;

import io.netty.buffer.Unpooled;

/** An answer that stays open for what may happen. <em>Thread-safe; never waits.</em> */
public final class EventPush {
    private final Exchange exchange;

    EventPush(Exchange exchange) {
        this.exchange = exchange;
    }

    /**
     * Sends some bytes.
     *
     * @return false if the client is too slow for them: they are not sent
     */
    public boolean send(byte[] bytes) {
        if (!exchange.isWritable()) {
            return false;
        }
        exchange.write(Unpooled.wrappedBuffer(bytes));
        return true;
    }

    /** Calls {@code stop} when the client has gone. */
    public void onGone(Runnable stop) {
        exchange.onGone(stop);
    }

    /** Ends the answer. */
    public void end() {
        exchange.end();
    }
}
