package io.turbidite.feeds.web;

import com.fasterxml.jackson.databind.JsonNode;

import io.turbidite.core.time.Clock;
import io.turbidite.feeds.web.http.Exchange;
import io.turbidite.feeds.web.http.HttpOptions;
import io.turbidite.feeds.web.http.Problem;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * When what a client asks is to end: its time is over, or its client has gone.
 * <em>Thread-safe.</em>
 */
final class Deadline {
    private final Clock clock;
    private final long startNanos;
    private final long millisMax;
    private final boolean isOfServer;
    private final AtomicBoolean cancelled = new AtomicBoolean();

    private Deadline(Clock clock, long millisMax, boolean isOfServer) {
        this.clock = clock;
        this.startNanos = clock.monotonicNanos();
        this.millisMax = millisMax;
        this.isOfServer = isOfServer;
    }

    /**
     * Begins now, and ends when the client says so in {@code timeoutMs}, at the latest when the
     * server does.
     */
    static Deadline of(Exchange exchange, Clock clock, JsonNode body) {
        long ofServer = exchange.options().requestMillisMax();
        long asked = Bodies.number(body, "timeoutMs", ofServer, 1, HttpOptions.REQUEST_MILLIS_MAX);
        Deadline deadline = new Deadline(clock, Math.min(asked, ofServer), asked >= ofServer);
        exchange.onGone(() -> deadline.cancelled.set(true));
        return deadline;
    }

    boolean isOver() {
        return cancelled.get()
                || clock.monotonicNanos() - startNanos > TimeUnit.MILLISECONDS.toNanos(millisMax);
    }

    /** Since the beginning, to the microsecond. */
    double millis() {
        return Math.round((clock.monotonicNanos() - startNanos) / 1e3) / 1e3;
    }

    /** What the client is told when it is over. */
    Problem passed() {
        return Problem.of(504, "the answer took longer than %d ms".formatted(millisMax))
                .advise(
                        isOfServer
                                ? "no request has longer: --request-millis of the server"
                                : "give it more: timeoutMs");
    }
}
