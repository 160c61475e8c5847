package io.turbidite.feeds.web;

import io.turbidite.core.time.Clock;
import io.turbidite.feeds.web.http.Exchange;
import io.turbidite.feeds.web.http.Problem;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * When what a client asks is to end: its time is over, or its client has gone.
 * <em>Thread-safe.</em>
 */
final class Deadline {
    static final long MILLIS_MAX = 3_600_000;

    private final Clock clock;
    private final long startNanos;
    private final long millisMax;
    private final AtomicBoolean cancelled = new AtomicBoolean();

    private Deadline(Clock clock, long millisMax) {
        this.clock = clock;
        this.startNanos = clock.monotonicNanos();
        this.millisMax = millisMax;
    }

    /** Begins now. */
    static Deadline of(Exchange exchange, Clock clock, long millisMax) {
        Deadline deadline = new Deadline(clock, millisMax);
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
                .advise("give it more: timeoutMs");
    }
}
