package io.turbidite.lsm.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class WritePaceTest {
    private static final long MIB = 1 << 20;

    private final WritePace pace = new WritePace(128 * MIB, 32);

    @Test
    void memory_costs_more_and_more_as_room_shrinks() {
        double before = 0;
        for (long unflushed = 64 * MIB; unflushed < 128 * MIB; unflushed += MIB) {
            double cost = pace.memoryNanosPerByte(unflushed, 64 * MIB, 100e6);
            assertThat(cost).isGreaterThan(before);
            before = cost;
        }
        assertThat(pace.memoryNanosPerByte(128 * MIB, 64 * MIB, 100e6)).isInfinite();
        assertThat(pace.isStopped(128 * MIB, 0)).isTrue();
        assertThat(pace.isStopped(128 * MIB - 1, 31)).isFalse();
    }

    @Test
    void a_flush_begins_when_what_is_left_is_what_writers_fill_meanwhile() {
        assertThat(pace.memoryBytesFree(0, 100e6)).isEqualTo(96 * MIB);
        assertThat(pace.memoryBytesFree(500e6, 100e6)).isEqualTo(64 * MIB);
        long free = pace.memoryBytesFree(50e6, 100e6);
        double filled = 50e6 * free / 100e6;
        assertThat((double) (128 * MIB - free)).isBetween(filled, 1.3 * filled);
        // so that writers that keep their rate pay nothing
        assertThat(1e9 / pace.memoryNanosPerByte(free, free, 100e6)).isGreaterThan(50e6);
    }

    @Test
    void a_flush_is_urgent_when_half_of_the_rest_is_filled() {
        assertThat(pace.memoryBytesUrgent(64 * MIB)).isEqualTo(96 * MIB);
        assertThat(pace.memoryBytesUrgent(96 * MIB)).isEqualTo(112 * MIB);
    }

    @Test
    void writers_that_keep_the_pace_have_memory_until_the_flush_is_over() {
        double flushBytesPerSecond = 100e6;
        double unflushed = 64.01 * MIB;
        double toFlush = 64 * MIB;
        while (toFlush > MIB) {
            double nanosPerByte =
                    pace.memoryNanosPerByte((long) unflushed, (long) toFlush, flushBytesPerSecond);
            double millisecond = 1e6;
            unflushed += millisecond / nanosPerByte;
            toFlush -= flushBytesPerSecond / 1e3;
            assertThat(unflushed).isLessThan(128 * MIB);
        }
        // nor were they held back for nothing: all of the memory was there to be used
        assertThat(unflushed).isGreaterThan(120 * MIB);
    }

    @Test
    void debt_costs_nothing_up_to_a_quarter_and_then_more_and_more() {
        double before = 0;
        for (int behind = 0; behind < 32; behind++) {
            double cost = pace.mergeNanosPerByte(behind, 50e6, 4);
            if (behind <= 8) {
                assertThat(cost).isZero();
            } else {
                assertThat(cost).isGreaterThan(before);
            }
            before = cost;
        }
        assertThat(pace.mergeNanosPerByte(32, 50e6, 4)).isInfinite();
        assertThat(pace.isStopped(0, 32)).isTrue();
        assertThat(pace.mergesKeepUp(8)).isTrue();
        assertThat(pace.mergesKeepUp(9)).isFalse();
    }

    @Test
    void in_the_middle_of_the_debt_writers_get_what_merges_can_sustain() {
        // 20 is 12 over the start and 12 under the stop; 50 MB/s of merging, 4 bytes for each byte
        double bytesPerSecond = 1e9 / pace.mergeNanosPerByte(20, 50e6, 4);
        assertThat(bytesPerSecond).isCloseTo(12.5e6, within(1.0));
    }
}
