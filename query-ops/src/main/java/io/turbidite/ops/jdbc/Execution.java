package io.turbidite.ops.jdbc;

import io.turbidite.core.time.Clock;

import org.jspecify.annotations.Nullable;

import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** One run of a statement: what may end it early. <em>Thread-safe.</em> */
final class Execution {
    private final Clock clock;
    private final int seconds;
    private final long startNanos;
    private final BooleanSupplier isGone;
    private volatile boolean cancelled;

    /** Told of it; null: nobody. */
    private volatile @Nullable Runnable listener;

    /**
     * @param seconds how long it may take, its rows included; 0: as long as it takes
     */
    Execution(Clock clock, int seconds) {
        this(clock, seconds, () -> false);
    }

    /** As {@link #Execution(Clock, int)}; it is cancelled too when nobody waits for it any more. */
    Execution(Clock clock, int seconds, BooleanSupplier isGone) {
        this.clock = clock;
        this.seconds = seconds;
        this.isGone = isGone;
        this.startNanos = seconds == 0 ? 0 : clock.monotonicNanos();
    }

    void cancel() {
        cancelled = true;
        Runnable told = listener;
        if (told != null) {
            told.run();
        }
    }

    /** Calls it when the run is cancelled, at once if it is. */
    void listen(Runnable newListener) {
        listener = newListener;
        if (cancelled) {
            newListener.run();
        }
    }

    /** How long it may take in all; 0: as long as it takes. */
    int seconds() {
        return seconds;
    }

    /** Whether it must end. */
    boolean mustEnd() {
        return cancelled || isLate() || isGone.getAsBoolean();
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
        return cancelled || seconds == 0
                ? Errors.of("the statement was cancelled", Errors.CANCELLED)
                : new SQLTimeoutException(
                        "the statement took longer than its timeout of %d s".formatted(seconds),
                        Errors.CANCELLED);
    }
}
