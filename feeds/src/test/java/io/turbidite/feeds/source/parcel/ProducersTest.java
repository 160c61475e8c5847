package io.turbidite.feeds.source.parcel;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.SimClock;
import io.turbidite.feeds.source.PartitionState;
import io.turbidite.feeds.source.SourcePosition;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
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
        return producers.isLookDue(isWanted) ? producers.due(name -> true).keySet() : Set.of();
    }

    @Test
    void who_was_not_seen_for_seven_days_is_forgotten() {
        Producers producers = new Producers(clock);
        // a row is up to a day older than when its producer was seen
        producers.begin(Map.of(
                "t/a", row(5, 9 * DAY), "t/b", row(6, 8 * DAY), "t/c", row(7, 8 * DAY - HOUR * 2)));
        assertThat(due(producers, false)).as("in the first hour").isEmpty();
        clock.advanceMicros(HOUR);
        assertThat(producers.isAnythingDue()).isTrue();
        Map<String, Producers.Producer> due = producers.due(name -> true);
        assertThat(due.keySet()).containsExactlyInAnyOrder("t/a", "t/b");
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
        assertThat(producers.due(name -> !name.equals("t/a"))).isEmpty();
        clock.advanceMicros(HOUR);
        assertThat(due(producers, false)).containsExactlyInAnyOrder("t/a", "t/b");
    }

    /** The bug: each new name looked through all, and took a thousand out for one place. */
    @Test
    void who_has_no_row_goes_when_his_place_is_wanted_as_many_as_are() {
        Producers producers = new Producers(clock, 4);
        producers.begin(Map.of("t/a", row(5, 9 * DAY)));
        for (String name : List.of("t/b", "t/c", "t/d")) {
            assertThat(producers.admit(name)).isTrue();
        }
        assertThat(producers.admit("t/e")).isFalse();
        List<String> asked = new ArrayList<>();
        assertThat(producers.vacate(1, name -> {
                    asked.add(name);
                    return !name.equals("t/b"); // at work
                }))
                .containsExactly("t/c");
        assertThat(asked).containsExactly("t/b", "t/c");
        assertThat(producers.count()).isEqualTo(3);
        producers.durable("t/b", 3);
        assertThat(producers.vacate(9, name -> true)).containsExactly("t/d");
        assertThat(producers.number("t/b")).isEqualTo(3);
        assertThat(producers.has("t/a")).isTrue();
    }

    /** The bug: whoever came as the 100,001st, or could not be forgotten, ended the first hour. */
    @Test
    void in_the_first_hour_of_a_run_nobody_who_has_a_row_is_forgotten() {
        Producers producers = new Producers(clock, 2);
        Map<String, PartitionState> rows = Map.of("t/a", row(5, 9 * DAY), "t/b", row(5, 9 * DAY));
        for (int run = 0; run < 3; run++) {
            producers.begin(rows);
            producers.keep("t/b", new Producers.Producer(), 5);
            producers.lookLater();
            clock.advanceMicros(HOUR - 1);
            assertThat(due(producers, true)).isEmpty();
            assertThat(producers.isAnythingDue()).isFalse();
            producers.end();
        }
        producers.begin(rows);
        clock.advanceMicros(HOUR);
        assertThat(due(producers, false)).containsExactly("t/a");
    }

    /** The bug: behind the first hour a new one had to wait for the next look. */
    @Test
    void who_wants_a_place_gets_that_of_one_who_is_to_be_forgotten() {
        Producers producers = new Producers(clock, 1);
        producers.begin(Map.of("t/a", row(5, 8 * DAY - HOUR - 5)));
        clock.advanceMicros(HOUR);
        assertThat(producers.due(name -> true)).isEmpty();
        assertThat(due(producers, true)).isEmpty();
        clock.advanceMicros(60_000_000); // it is not looked at each turn
        assertThat(due(producers, false)).isEmpty();
        assertThat(due(producers, true)).containsExactly("t/a");
    }

    /** The bug: it was tried again with the old number, for ever. */
    @Test
    void whose_row_says_another_number_stays_with_that_and_counts_as_seen() {
        Producers producers = new Producers(clock);
        producers.begin(Map.of("t/a", row(5, 9 * DAY)));
        clock.advanceMicros(HOUR);
        Map<String, Producers.Producer> due = producers.due(name -> true);
        due.forEach((name, one) -> producers.keep(name, one, 7));
        assertThat(producers.number("t/a")).isEqualTo(7);
        clock.advanceMicros(7 * DAY - 1);
        assertThat(due(producers, false)).isEmpty();
        clock.advanceMicros(HOUR);
        Map<String, Producers.Producer> again = producers.due(name -> true);
        assertThat(Producers.numbers(again)).isEqualTo(Map.of("t/a", 7L));
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

    /** The bug: where a spill was not drained, all were looked through in each turn. */
    @Test
    void when_nobody_can_be_forgotten_it_is_looked_a_minute_later() {
        Producers producers = new Producers(clock);
        producers.begin(Map.of("t/a", row(5, 9 * DAY)));
        clock.advanceMicros(HOUR);
        producers.lookLater();
        assertThat(producers.isAnythingDue()).isFalse();
        assertThat(due(producers, true)).isEmpty();
        clock.advanceMicros(60_000_000);
        assertThat(due(producers, false)).containsExactly("t/a");
    }

    /** The bug: behind a pause of eight days everybody was forgotten. */
    @Test
    void nobody_grows_older_while_there_is_no_run() {
        Producers producers = new Producers(clock);
        producers.begin(Map.of("t/a", row(5, 0), "t/b", row(6, 0)));
        clock.advanceMicros(DAY);
        producers.see("t/a");
        producers.toNote(name -> false);
        producers.end();
        clock.advanceMicros(30 * DAY);
        producers.begin(Map.of("t/a", row(5, 30 * DAY), "t/b", row(6, 31 * DAY)));
        clock.advanceMicros(6 * DAY - 1);
        assertThat(due(producers, false)).isEmpty();
        assertThat(producers.toNote(name -> false))
                .as("so that no other process counts the time either")
                .isEqualTo(Map.of("t/a", 5L));
        clock.advanceMicros(HOUR);
        assertThat(due(producers, false)).containsExactly("t/b");
        clock.advanceMicros(DAY);
        assertThat(due(producers, false)).containsExactly("t/a");
    }

    /** The bug: the time before the first run of a process counted as if there had been one. */
    @Test
    void nobody_grows_older_before_the_first_run() {
        Producers producers = new Producers(clock);
        clock.advanceMicros(9 * DAY);
        producers.begin(Map.of("t/a", row(5, 9 * DAY), "t/b", row(6, 15 * DAY)));
        clock.advanceMicros(HOUR);
        assertThat(due(producers, false)).isEmpty();
        clock.advanceMicros(2 * DAY);
        assertThat(due(producers, false)).containsExactly("t/b");
        clock.advanceMicros(6 * DAY);
        assertThat(due(producers, false)).containsExactly("t/a");
    }

    @Test
    void who_is_refused_while_there_is_no_run_is_seen() {
        Producers producers = new Producers(clock);
        producers.begin(
                Map.of("t/a", row(5, 6 * DAY), "t/b", row(6, 6 * DAY), "t/c", row(7, 6 * DAY)));
        producers.end();
        producers.see(Parcel.of(new byte[0]).from("t", "a", 6));
        producers.see(Parcel.of(new byte[0]));
        assertThat(producers.ask("t", "b")).isEqualTo(-1);
        producers.begin(
                Map.of("t/a", row(5, 6 * DAY), "t/b", row(6, 6 * DAY), "t/c", row(7, 6 * DAY)));
        clock.advanceMicros(3 * DAY);
        assertThat(due(producers, false)).containsExactly("t/c");
    }

    /** The bug: what an earlier run had left was delivered, and its senders forgotten. */
    @Test
    void whose_row_was_written_since_counts_as_seen() {
        Producers producers = new Producers(clock);
        producers.begin(Map.of("t/a", row(5, 0), "t/b", row(6, 0)));
        clock.advanceMicros(7 * DAY - HOUR);
        producers.begin(Map.of("t/a", row(5, 7 * DAY), "t/b", row(8, 0)));
        clock.advanceMicros(2 * DAY);
        assertThat(due(producers, false)).containsExactly("t/a");
        producers.durable("t/b", 9);
        clock.advanceMicros(6 * DAY);
        assertThat(due(producers, false)).isEmpty();
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

    /** The bug: such rows were written at once, with the time of a clock that was not set yet. */
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
        assertThat(producers.toNote(name -> false)).isEmpty();
        clock.advanceMicros(HOUR);
        assertThat(due(producers, false)).isEmpty();
        assertThat(producers.toNote(name -> false)).isEqualTo(Map.of("t/a", 5L));
        clock.advanceMicros(7 * DAY - HOUR - 1);
        assertThat(due(producers, false)).isEmpty();
        clock.advanceMicros(HOUR);
        assertThat(due(producers, false)).containsExactlyInAnyOrder("t/a", "t/b", "t/c");
    }

    /** The bug: who was known by his row alone was forgotten, by the clock of the start. */
    @Test
    void a_clock_that_is_wrong_at_the_start_and_set_then_forgets_nobody() {
        for (long wrong : new long[] {8 * DAY, -8 * DAY, -20_000 * DAY}) {
            clock.jumpWallMicros(wrong);
            Producers producers = new Producers(clock);
            producers.begin(Map.of("t/a", row(5, DAY + wrong), "t/b", row(6, wrong)));
            producers.admit("t/new");
            producers.durable("t/new", 1);
            clock.jumpWallMicros(-wrong);
            clock.advanceMicros(HOUR);
            assertThat(due(producers, false)).as("set by %d", wrong).isEmpty();
            // a new one's row says the wrong time: it gets a right one, though he is silent
            assertThat(producers.toNote(name -> false).keySet())
                    .isEqualTo(wrong < 0 ? Set.of("t/new") : Set.of());
            clock.advanceMicros(5 * DAY);
            assertThat(due(producers, true)).isEmpty();
        }
    }

    /** The bug: rows said the time of a clock that was behind. */
    @Test
    void a_row_is_to_say_no_earlier_time_than_the_start_of_the_process_and_what_went_by() {
        Producers producers = new Producers(clock);
        long start = clock.wallMicros();
        producers.begin(Map.of());
        clock.jumpWallMicros(-9 * DAY);
        clock.advanceMicros(HOUR);
        assertThat(producers.stampMicros()).isEqualTo(start + HOUR);
        producers.admit("t/a");
        producers.durable("t/a", 3);
        assertThat(producers.toNote(name -> false)).isEqualTo(Map.of("t/a", 3L));
        clock.jumpWallMicros(18 * DAY);
        assertThat(producers.stampMicros()).isEqualTo(start + HOUR + 9 * DAY);
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
