package io.turbidite.core.meter;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.meter.SlowOperations.Cause;
import io.turbidite.core.meter.SlowOperations.Kind;
import io.turbidite.core.sim.SimClock;

import org.junit.jupiter.api.Test;

class SlowOperationsTest {
    private static final long SECOND = 1_000_000_000;

    private final SlowOperations slow = new SlowOperations();
    private final SimClock clock = new SimClock();
    private final ReadTally tally = new ReadTally(slow, clock);

    @Test
    void buckets_have_eight_parts_for_each_power_of_two() {
        for (long nanos :
                new long[] {0, 1, 7, 8, 9, 15, 16, 17, 1_000, 123_456_789, Long.MAX_VALUE}) {
            int bucket = SlowOperations.bucketOf(nanos);
            assertThat(SlowOperations.endOf(bucket)).isGreaterThanOrEqualTo(nanos);
            assertThat(bucket == 0 ? -1 : SlowOperations.endOf(bucket - 1)).isLessThan(nanos);
            assertThat(SlowOperations.endOf(bucket) - nanos).isLessThanOrEqualTo(nanos / 8);
        }
    }

    @Test
    void what_is_above_the_running_percentile_is_kept_with_its_causes() {
        for (int i = 0; i < 10_000; i++) {
            long nanos = i % 2_000 == 7 ? 50_000 : 1_000;
            slow.ended(Kind.WRITE, SECOND, SECOND + nanos, 0, clock);
        }
        slow.ended(Kind.WRITE, 2 * SECOND, 2 * SECOND + 1_000, 0, clock);
        assertThat(slow.thresholdNanos(Kind.WRITE)).isBetween(1_000L, 1_125L);
        assertThat(slow.newest()).isEmpty();

        long start = 2 * SECOND + 10_000;
        slow.waited(Cause.LOCK, start - 1, 1_000_000); // of the operation before
        slow.waited(Cause.STALL, start, 3_000);
        slow.waited(Cause.PAGE_READS, start + 3_000, 200);
        slow.waited(Cause.PAGE_READS, start + 4_000, 300);
        slow.ended(Kind.WRITE, start, start + 9_000, 700, clock);
        slow.ended(Kind.WRITE, start + 9_000, start + 9_900, 0, clock);
        assertThat(slow.newest())
                .singleElement()
                .isEqualTo(new SlowOperations.Slow(
                        clock.wallMicros(),
                        "write",
                        9_000,
                        slow.thresholdNanos(Kind.WRITE),
                        0,
                        700,
                        3_000,
                        500,
                        0));
    }

    @Test
    void the_newest_1024_are_kept_and_the_percentile_follows() {
        for (int i = 0; i < 3_000; i++) {
            slow.ended(Kind.WRITE, SECOND, SECOND + 2_000_000 + i, 0, clock);
        }
        assertThat(slow.newest())
                .hasSize(SlowOperations.KEPT_COUNT_MAX)
                .allMatch(one -> one.thresholdNanos() == 1_000_000)
                .first()
                .returns(2_002_999L, SlowOperations.Slow::nanos);
        slow.ended(Kind.WRITE, 3 * SECOND, 3 * SECOND, 0, clock);
        assertThat(slow.thresholdNanos(Kind.WRITE)).isGreaterThan(2_000_000);
        slow.ended(Kind.WRITE, 3 * SECOND, 3 * SECOND + 2_000_000, 0, clock);
        assertThat(slow.newest().getFirst().nanos()).isEqualTo(2_002_999);
        for (int i = 5; i < 1_000; i++) { // little by little nobody remembers
            slow.ended(Kind.WRITE, i * SECOND, i * SECOND, 0, clock);
        }
        assertThat(slow.thresholdNanos(Kind.WRITE)).isEqualTo(1_000_000);
    }

    @Test
    void a_read_is_timed_from_its_first_wait_and_compared_with_reads_alone() {
        for (int i = 0; i < 10_000; i++) { // slower ones of another kind
            slow.ended(Kind.WRITE, SECOND, SECOND + 900_000, 0, clock);
        }
        for (int i = 0; i < 10_000; i++) {
            slow.endedRead(slow.waitCount(), clock);
        }
        clock.advanceMicros(3_000_000);
        readFor(1_000); // it folds
        int before = slow.newest().size();
        readFor(2_000);
        assertThat(slow.thresholdNanos(Kind.READ)).isLessThan(1_000);
        assertThat(slow.newest()).hasSize(before + 1);
        SlowOperations.Slow first = slow.newest().getFirst();
        assertThat(first.operation()).isEqualTo("read");
        assertThat(first.nanos()).isEqualTo(2_000_000);
        assertThat(first.pageReadNanos()).isEqualTo(1_999_000);

        slow.endedRead(slow.waitCount(), clock); // waited for nothing
        assertThat(slow.newest()).hasSize(before + 1);
    }

    private void readFor(long micros) {
        tally.begin();
        long start = clock.monotonicNanos();
        clock.advanceMicros(micros - 1);
        slow.waited(Cause.PAGE_READS, start, (micros - 1) * 1_000);
        clock.advanceMicros(1);
        tally.end();
    }
}
