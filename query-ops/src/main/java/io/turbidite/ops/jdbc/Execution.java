package io.turbidite.ops.jdbc;

import io.turbidite.core.time.Clock;

import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.util.concurrent.TimeUnit;

/** One run of a statement: what may end it early. <em>Thread-safe.</em> */
final class Execution {
    private final Clock clock;
    private final int seconds;
    private final long startNanos;
    private volatile boolean cancelled;

    /**
     * @param seconds how long it may take, its rows included; 0: as long as it takes
     */
    Execution(Clock clock, int seconds) {
        this.clock = clock;
        this.seconds = seconds;
        this.startNanos = seconds == 0 ? 0 : clock.monotonicNanos();
    }

    void cancel() {
        cancelled = true;
    }

    /** Whether it must end. */
    boolean mustEnd() {
        return cancelled || isLate();
    }

    private boolean isLate() {
        return seconds > 0
                && clock.monotonicNanos() - startNanos >= TimeUnit.SECONDS.toNanos(seconds);
    }

    /** Refuses to go on if it must end. */
    void check() throws SQLException {
        if (mustEnd()) {
            throw ended();
        }
    }

    /** Why it ended. */
    SQLException ended() {
        return cancelled
                ? Errors.of("the statement was cancelled", Errors.CANCELLED)
                : new SQLTimeoutException(
                        "the statement took longer than its timeout of %d s".formatted(seconds),
                        Errors.CANCELLED);
    }
}
