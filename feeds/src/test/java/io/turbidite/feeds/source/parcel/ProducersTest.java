package io.turbidite.feeds.source.parcel;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.SimClock;
import io.turbidite.feeds.source.PartitionState;
import io.turbidite.feeds.source.SourcePosition;

import org.junit.jupiter.api.Test;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** Who is forgotten, and when, without a store. */
class ProducersTest {
    private static final long HOUR = 3_600_000_000L;
    private static final long DAY = 24 * HOUR;

    private final SimClock clock = new SimClock();

    private PartitionState row(long number, long ageMicros) {
        return new PartitionState(
                SourcePosition.of(number), 1, number, 0, clock.wallMicros() - ageMicros);
    }

    private static Set<String> due(Producers producers, boolean isWanted) {
        return producers.due(isWanted, name -> true).keySet();
    }

    @Test
    void who_was_not_seen_for_seven_days_is_forgotten_the_longest_unseen_first() {
        Producers producers = new Producers(clock);
        // a row is up to a day older than when its producer was seen
        producers.begin(Map.of(
                "t/a", row(5, 9 * DAY), "t/b", row(6, 8 * DAY), "t/c", row(7, 8 * DAY - HOUR * 2)));
        assertThat(due(producers, false)).as("in the first hour").isEmpty();
        clock.advanceMicros(HOUR);
        assertThat(producers.isAnythingDue()).isTrue();
        Map<String, Producers.Producer> due = producers.due(false, name -> true);
        assertThat(due.keySet()).containsExactly("t/a", "t/b");
        assertThat(Producers.numbers(due)).isEqualTo(Map.of("t/a", 5L, "t/b", 6L));
        assertThat(producers.has("t/a")).isFalse();
        assertThat(producers.number("t/a")).isZero();
        assertThat(producers.isAnythingDue()).isFalse();
        clock.advanceMicros(HOUR);
        assertThat(due(producers, false)).containsExactly("t/c");
        assertThat(producers.count()).isZero();
    }

    @Test
    void who_is_at_work_stays_and_so_does_who_was_seen() {
        Producers producers = new Producers(clock);
        producers.begin(Map.of("t/a", row(5, 9 * DAY), "t/b", row(6, 9 * DAY)));
        producers.see("t/b");
        clock.advanceMicros(7 * DAY - 1);
        assertThat(producers.due(false, name -> !name.equals("t/a"))).isEmpty();
        clock.advanceMicros(HOUR);
        assertThat(due(producers, false)).containsExactly("t/a", "t/b");
    }

    @Test
    void who_has_no_row_goes_when_his_place_is_wanted() {
        Producers producers = new Producers(clock, 2);
        producers.begin(Map.of("t/a", row(5, 0)));
        assertThat(producers.admit("t/b")).isTrue();
        assertThat(producers.admit("t/c")).isFalse();
        assertThat(producers.due(true, name -> !name.equals("t/b")))
                .as("at work")
                .isEmpty();
        Map<String, Producers.Producer> due = producers.due(true, name -> true);
        assertThat(due.keySet()).containsExactly("t/b");
        assertThat(Producers.numbers(due)).isEmpty();
        assertThat(producers.admit("t/c")).isTrue();
        producers.durable("t/c", 3);
        assertThat(due(producers, true)).isEmpty();
        assertThat(producers.number("t/c")).isEqualTo(3);
    }

    @Test
    void who_wants_a_place_gets_that_of_one_who_is_to_be_forgotten_in_the_first_hour_too() {
        Producers producers = new Producers(clock, 1);
        producers.begin(Map.of("t/a", row(5, 8 * DAY)));
        assertThat(producers.admit("t/b")).isFalse();
        assertThat(due(producers, true)).containsExactly("t/a");
        assertThat(producers.admit("t/b")).isTrue();
    }

    @Test
    void who_could_not_be_forgotten_is_looked_at_again() {
        Producers producers = new Producers(clock, 1);
        producers.begin(Map.of("t/a", row(5, 8 * DAY)));
        Map<String, Producers.Producer> due = producers.due(true, name -> true);
        due.forEach(producers::keep);
        assertThat(producers.number("t/a")).isEqualTo(5);
        assertThat(due(producers, true)).containsExactly("t/a");
        due.forEach(producers::keep);
        clock.advanceMicros(60_000_000);
        assertThat(due(producers, false)).containsExactly("t/a");
    }

    @Test
    void of_very_many_some_go_at_once_and_the_others_next() {
        Producers producers = new Producers(clock);
        Map<String, PartitionState> rows = new HashMap<>();
        for (int i = 0; i < 2_500; i++) {
            rows.put("t/" + i, row(1, 9 * DAY));
        }
        producers.begin(rows);
        clock.advanceMicros(HOUR);
        assertThat(due(producers, false)).hasSize(1_000);
        assertThat(producers.isAnythingDue()).isTrue();
        assertThat(due(producers, true)).hasSize(1_000);
        assertThat(due(producers, true)).hasSize(500);
        assertThat(due(producers, true)).isEmpty();
    }

    @Test
    void who_is_seen_is_noted_once_a_day_unless_his_row_was_written() {
        Producers producers = new Producers(clock);
        producers.begin(Map.of("t/a", row(5, DAY - HOUR), "t/b", row(6, DAY)));
        producers.see("t/a");
        producers.see("t/b");
        assertThat(producers.isAnythingDue()).isTrue();
        assertThat(producers.toNote(name -> true)).as("what comes writes it").isEmpty();
        assertThat(producers.toNote(name -> false)).isEqualTo(Map.of("t/b", 6L));
        clock.advanceMicros(HOUR - 1);
        producers.see("t/a");
        assertThat(producers.toNote(name -> false)).isEmpty();
        clock.advanceMicros(1);
        producers.durable("t/b", 7);
        producers.see("t/a");
        producers.see("t/b");
        assertThat(producers.toNote(name -> false)).isEqualTo(Map.of("t/a", 5L));
        assertThat(producers.toNote(name -> false)).isEmpty();
        producers.see("t/unknown");
        assertThat(producers.count()).isEqualTo(2);
    }

    @Test
    void a_row_without_a_time_or_of_the_future_is_of_now() {
        Producers producers = new Producers(clock);
        producers.begin(Map.of(
                "t/a",
                new PartitionState(SourcePosition.of(5), 1, 5, 0),
                "t/b",
                row(6, -9 * DAY),
                "t/c",
                row(7, -HOUR)));
        assertThat(producers.toNote(name -> false)).isEqualTo(Map.of("t/a", 5L, "t/b", 6L));
        clock.advanceMicros(7 * DAY - 1);
        assertThat(due(producers, false)).isEmpty();
        clock.advanceMicros(HOUR);
        assertThat(due(producers, false)).containsExactlyInAnyOrder("t/a", "t/b", "t/c");
    }

    @Test
    void nobody_is_forgotten_by_a_clock_that_is_set() {
        for (long jump : new long[] {HOUR, -HOUR, 8 * DAY, -8 * DAY}) {
            Producers producers = new Producers(clock);
            producers.begin(Map.of("t/a", row(5, 0)));
            clock.jumpWallMicros(jump);
            producers.see("t/a");
            clock.advanceMicros(2 * HOUR);
            assertThat(due(producers, false)).isEmpty();
            assertThat(due(producers, true)).isEmpty();
            // a run that begins anew, of the same process, whose rows have the stamps of that clock
            producers.begin(Map.of("t/a", row(5, 0)));
            clock.jumpWallMicros(-jump);
            producers.begin(Map.of("t/a", row(5, -jump)));
            clock.advanceMicros(2 * HOUR);
            assertThat(due(producers, false)).as("jump of %d", jump).isEmpty();
        }
    }
}
