package io.turbidite.lsm.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.SimClock;

import org.junit.jupiter.api.Test;

class MergePaceTest {
    private static final long MILLI = 1_000_000;

    private final SimClock clock = new SimClock();
    private long slowest;

    private final MergePace pace = new MergePace(clock, () -> slowest);

    /** What merges write in a simulated second if a step is 1 MiB. */
    private long secondsWork() {
        long written = 0;
        for (int i = 0; i < 1_000; i++) {
            while (pace.mayGo() && written < 8L << 30) {
                pace.charge(1 << 20);
                written += 1 << 20;
            }
            clock.advanceMicros(1_000);
        }
        return written;
    }

    @Test
    void merges_run_free_while_no_commit_syncs() {
        assertThat(secondsWork()).isGreaterThan(3L << 30);
    }

    @Test
    void slow_syncs_bring_merges_down_to_the_least_rate_within_half_a_second() {
        slowest = 30 * MILLI;
        secondsWork();
        assertThat(pace.bytesPerSecond()).isEqualTo(MergePace.BYTES_PER_SECOND_MIN);
        assertThat(secondsWork()).isBetween(MergePace.BYTES_PER_SECOND_MIN - (2 << 20), 18L << 20);
    }

    @Test
    void the_rate_settles_where_syncs_are_as_fast_as_wanted() {
        long capacity = 200L << 20;
        long sum = 0;
        for (int i = 0; i < 2_000; i++) {
            // a device on which commits wait when merges take more than their part
            slowest = pace.bytesPerSecond() > capacity ? 20 * MILLI : MILLI;
            pace.mayGo();
            clock.advanceMicros(20_000);
            sum += i < 1_000 ? 0 : pace.bytesPerSecond();
        }
        assertThat(sum / 1_000.0).isBetween(0.7 * capacity, 1.05 * capacity);
    }

    @Test
    void the_rate_comes_back_when_commits_stop() {
        slowest = 30 * MILLI;
        secondsWork();
        slowest = 0;
        secondsWork();
        assertThat(pace.bytesPerSecond()).isEqualTo(MergePace.BYTES_PER_SECOND_MAX);
    }

    @Test
    void pieces_are_small_only_while_commits_wait() {
        assertThat(pace.pieceBytes(4 << 20)).isEqualTo(4 << 20);
        slowest = MILLI;
        secondsWork();
        assertThat(pace.pieceBytes(4 << 20)).isEqualTo(MergePace.PIECE_BYTES);
        assertThat(pace.pieceBytes(0)).isZero();
        slowest = 0;
        secondsWork();
        assertThat(pace.pieceBytes(4 << 20)).isEqualTo(4 << 20);
    }
}
