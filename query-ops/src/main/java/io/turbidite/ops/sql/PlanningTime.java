package io.turbidite.ops.sql;

import io.turbidite.core.time.Clock;

import org.jspecify.annotations.Nullable;

import java.math.BigDecimal;
import java.time.Duration;

/**
 * How long a statement may be planned: processor time of the thread that plans, so that a busy
 * machine refuses nothing that an idle one takes. <em>Immutable.</em>
 */
record PlanningTime(long nanosMax, Clock clock) {
    /** The thread's clock is slow, and its classes are many: it is read behind a tenth. */
    private static final int FIRST_LOOK_PART = 10;

    static final PlanningTime DEFAULT = of(Sql.PLANNING_MAX);

    /** The time, by the clocks of the system. */
    static PlanningTime of(Duration most) {
        if (!most.isPositive()) {
            throw SqlException.of("a statement needs time to be planned, not %s".formatted(most));
        }
        long seconds = Math.min(most.getSeconds(), Long.MAX_VALUE / 1_000_000_000 - 1);
        return new PlanningTime(seconds * 1_000_000_000 + most.getNano(), Clock.system());
    }

    Span begun() {
        return new Span(this);
    }

    /** One planning. <em>Confined to one thread.</em> */
    static final class Span {
        private final PlanningTime most;
        private final long startNanos;

        /** Of the clock of the wall: the time can't be used up before. */
        private long lookNanos;

        /** Of the thread's clock, at the begin; of short plannings nobody asks for it. */
        private @Nullable Long startThreadNanos;

        private Span(PlanningTime most) {
            this.most = most;
            this.startNanos = most.clock.monotonicNanos();
            this.lookNanos = startNanos + most.nanosMax / FIRST_LOOK_PART;
        }

        /** Whether the time is used up; reads one clock but where that may be so. */
        boolean isOver() {
            long now = most.clock.monotonicNanos();
            if (now - lookNanos < 0) {
                return false;
            }
            long threadNanos = most.clock.threadNanos();
            Long start = startThreadNanos;
            if (start == null) {
                // as if the thread had had the processor so far, but for a wait before this look
                start = threadNanos - Math.min(now - startNanos, most.nanosMax / FIRST_LOOK_PART);
                startThreadNanos = start;
            }
            long left = most.nanosMax - (threadNanos - start);
            if (left > 0) {
                lookNanos = now + left;
            }
            return left <= 0;
        }

        void check() {
            if (isOver()) {
                throw SqlException.of(
                        "the statement takes more than %s s to plan: write fewer terms, or allow more"
                                .formatted(BigDecimal.valueOf(most.nanosMax, 9)
                                        .stripTrailingZeros()
                                        .toPlainString()));
            }
        }
    }
}
