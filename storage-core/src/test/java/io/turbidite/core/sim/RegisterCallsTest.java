package io.turbidite.core.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.sim.RegisterCalls.Call;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.Map;
import java.util.SplittableRandom;

/** Histories whose verdict one can tell by hand, and random ones of which the order is known. */
class RegisterCallsTest {
    private final RegisterCalls calls = new RegisterCalls(3);

    private void write(int thread, long from, long to, Map<Integer, Integer> values) {
        calls.add(new Call(thread, from, to, "write", Map.of(), values));
    }

    private void read(int thread, long from, long to, Map<Integer, Integer> values) {
        calls.add(new Call(thread, from, to, "read", values, Map.of()));
    }

    private void assertRefused(String name) {
        assertThatThrownBy(calls::check)
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("no order explains")
                .hasMessageContaining(name);
    }

    @Test
    void a_read_beside_a_write_may_see_either_value() {
        write(0, 0, 10, Map.of(0, 1));
        write(0, 20, 40, Map.of(0, 2));
        read(1, 21, 25, Map.of(0, 2));
        read(2, 26, 30, Map.of(0, 2));
        calls.check();
    }

    @Test
    void a_value_that_was_seen_does_not_go_again() {
        write(0, 0, 10, Map.of(0, 1));
        write(0, 20, 40, Map.of(0, 2));
        read(1, 21, 25, Map.of(0, 2));
        read(2, 26, 30, Map.of(0, 1));
        assertRefused("read saw {0=1}");
    }

    @Test
    void a_stale_read_is_found() {
        write(0, 0, 10, Map.of(0, 1));
        write(0, 20, 30, Map.of(0, 2));
        read(1, 31, 35, Map.of(0, 1));
        assertRefused("thread 1, 31 to 35: read saw {0=1}");
    }

    @Test
    void a_lost_write_is_found() {
        write(0, 0, 10, Map.of(0, 1));
        write(1, 5, 30, Map.of(0, 2));
        read(0, 11, 12, Map.of(0, 2));
        read(0, 40, 41, Map.of(0, 1));
        assertRefused("40 to 41");
    }

    @Test
    void half_a_batch_is_found_though_each_register_for_itself_is_in_order() {
        write(0, 0, 100, Map.of(0, 1, 1, 1));
        read(1, 10, 20, Map.of(0, 1, 1, RegisterCalls.ABSENT));
        assertRefused("read");
    }

    @Test
    void two_readers_that_see_two_writes_in_opposite_orders_are_found() {
        write(0, 0, 100, Map.of(0, 1));
        write(1, 0, 100, Map.of(1, 1));
        read(2, 10, 20, Map.of(0, 1, 1, 0));
        read(3, 10, 20, Map.of(0, 0, 1, 1));
        assertRefused("read");
    }

    @Test
    void an_insert_that_is_refused_saw_something() {
        calls.add(new Call(0, 0, 10, "insert", Map.of(0, RegisterCalls.ABSENT), Map.of(0, 7)));
        calls.add(new Call(1, 11, 20, "refused", Map.of(0, RegisterCalls.PRESENT), Map.of()));
        calls.check();
        calls.add(new Call(1, 21, 30, "refused", Map.of(1, RegisterCalls.PRESENT), Map.of()));
        assertRefused("refused");
    }

    /**
     * Each call takes effect at a moment of its own between its two ends; one value too many spoils
     * it.
     */
    @Test
    @Timeout(30)
    void long_histories_are_in_order_until_one_value_is_changed() {
        SplittableRandom random = new SplittableRandom(Seeds.of("RegisterCallsTest"));
        for (int round = 0; round < 20; round++) {
            int spoilt = random.nextInt(400, 2_000);
            RegisterCalls good = new RegisterCalls(3);
            RegisterCalls bad = new RegisterCalls(3);
            int[] state = new int[3];
            long[] returned = new long[6];
            for (int i = 1; i < 2_000; i++) {
                int thread = random.nextInt(6);
                long effect = i * 100L;
                long from = Math.max(returned[thread] + 1, effect - random.nextInt(400));
                if (from > effect) {
                    continue;
                }
                long to = effect + random.nextInt(400);
                returned[thread] = to;
                int register = random.nextInt(3);
                boolean writes = random.nextInt(3) == 0;
                if (writes) {
                    state[register] = i;
                }
                Map<Integer, Integer> there = Map.of(register, state[register]);
                good.add(call(thread, from, to, writes, there));
                // a value of long ago
                bad.add(
                        i >= spoilt && !writes
                                ? call(thread, from, to, false, Map.of(register, 1))
                                : call(thread, from, to, writes, there));
                spoilt = i >= spoilt && !writes ? Integer.MAX_VALUE : spoilt;
            }
            good.check();
            assertThatThrownBy(bad::check).isInstanceOf(AssertionError.class);
            assertThat(bad.count()).isEqualTo(good.count());
        }
    }

    private static Call call(
            int thread, long from, long to, boolean writes, Map<Integer, Integer> values) {
        return writes
                ? new Call(thread, from, to, "write", Map.of(), values)
                : new Call(thread, from, to, "read", values, Map.of());
    }
}
