package io.turbidite.feeds;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.flow.RecordPolicy;
import io.turbidite.feeds.flow.ThrottlePolicy;
import io.turbidite.feeds.store.KeyThrottle;
import io.turbidite.lsm.Dataset;

import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The policy {@code throttle} of a run, whose workers have one decision together. Each decision is
 * noted by the record's ID, and held against the promises: no window takes more than its share of
 * the rate, and none is left out in a window that got no more, behind one that got no more either.
 */
final class WatchedThrottle {
    private final Dataset dataset;
    private final ThrottlePolicy policy;
    private final Clock clock;
    private final Map<Long, Boolean> decided;
    private final long windowNanos;
    private final long shareMin;
    private final long shareMax;

    private long beganNanos = -1;
    private long window;
    private long seenBefore;
    private long seen;
    private long taken;

    /** Windows that were begun. */
    int windows;

    /** @param decided is told of each record whether it is taken, by its ID */
    WatchedThrottle(
            Dataset dataset, int recordsPerSecond, Clock clock, Map<Long, Boolean> decided) {
        this.dataset = dataset;
        this.policy = new ThrottlePolicy(recordsPerSecond);
        this.clock = clock;
        this.decided = decided;
        boolean isFine = recordsPerSecond >= 100;
        this.windowNanos = TimeUnit.SECONDS.toNanos(1) / (isFine ? 10 : 1);
        this.shareMin = isFine ? recordsPerSecond / 10 : recordsPerSecond;
        this.shareMax = isFine ? (recordsPerSecond + 9) / 10 : recordsPerSecond;
    }

    /** That of a worker. */
    RecordPolicy ofWorker() {
        KeyThrottle own = new KeyThrottle(dataset, policy, clock);
        RecordView view = new RecordView(dataset.type());
        return new RecordPolicy() {
            @Override
            public boolean takes(Slice record) {
                long id = view.wrap(record).getLong(0);
                boolean takes = own.takes(record);
                decided.put(id, takes);
                check(id, takes);
                return takes;
            }
        };
    }

    private void check(long id, boolean takes) {
        long now = clock.monotonicNanos();
        beganNanos = beganNanos < 0 ? now : beganNanos;
        long at = (now - beganNanos) / windowNanos;
        if (at != window || windows == 0) {
            seenBefore = at == window + 1 ? seen : 0;
            window = at;
            seen = 0;
            taken = 0;
            windows++;
        }
        seen++;
        taken += takes ? 1 : 0;
        assertThat(taken).as("taken in window %d, with %d", at, id).isLessThanOrEqualTo(shareMax);
        assertThat(takes || seen > shareMin || seenBefore > shareMin)
                .as(
                        "%d is left out in window %d, which got %d, and %d before",
                        id, at, seen, seenBefore)
                .isTrue();
    }

    long droppedCount() {
        return policy.droppedCount();
    }
}
