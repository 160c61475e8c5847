package io.turbidite.feeds.source.parcel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.feeds.parse.RawRecordParser;
import io.turbidite.feeds.source.PartitionReader;
import io.turbidite.feeds.source.PartitionState;
import io.turbidite.feeds.source.SourceHost;
import io.turbidite.feeds.source.SourcePosition;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What a source does beside a producer's end, without a store. */
class ParcelForgettingTest {
    private static final long HOUR = 3_600_000_000L;
    private static final long DAY = 24 * HOUR;

    private final SimClock clock = new SimClock();
    private final ParcelSource source = new ParcelSource();
    private final Rows rows = new Rows();

    /** Rows of which a test says what becomes of them. */
    private static final class Rows implements SourceHost.Rows {
        boolean areDelivered = true;
        final List<String> forgotten = new ArrayList<>();
        final Map<String, SourcePosition> kept = new HashMap<>();
        Runnable meanwhile = () -> {};

        @Override
        public boolean areDelivered() {
            return areDelivered;
        }

        @Override
        public Map<String, SourcePosition> forget(Map<String, SourcePosition> partitions) {
            meanwhile.run();
            forgotten.addAll(partitions.keySet());
            return kept;
        }

        @Override
        public void touch(Map<String, SourcePosition> partitions, long wallMicros) {
            assertThat(partitions).isNotEmpty();
        }

        @Override
        public void known(int partitions) {
            assertThat(partitions).isNotNegative();
        }
    }

    private SourceHost host() {
        return new SourceHost(
                "f",
                new RawRecordParser(false),
                ',',
                new SimTasks(1, clock),
                clock,
                () -> false,
                (partition, from, to) -> {},
                rows);
    }

    private static PartitionState state(long number, long writtenMicros) {
        return new PartitionState(SourcePosition.of(number), 1, number, 0, writtenMicros);
    }

    /** A feed whose producer t/p has five records, and was not seen for long. */
    private void begin() {
        source.begin(() -> Map.of("t/p", state(5, clock.wallMicros() - 9 * DAY)), host());
        clock.advanceMicros(HOUR);
    }

    private static Parcel parcel(long sequence) {
        return Parcel.of("x\n".getBytes(StandardCharsets.UTF_8)).from("t", "p", sequence);
    }

    /** The bug: 0, though the row stood; its records from 1 on were taken for repeats. */
    @Test
    void it_is_not_known_how_far_a_producer_is_while_its_row_is_deleted() {
        begin();
        rows.meanwhile = () -> {
            assertThat(source.durableTo("t", "p")).isEqualTo(-1);
            assertThat(source.offer(parcel(1)).isSettled()).isFalse();
            assertThat(source.durableTo("t", "p")).isEqualTo(-1);
        };
        rows.kept.put("t/p", SourcePosition.of(7));
        assertThat(source.partitions()).containsExactly("t/p");
        assertThat(rows.forgotten).containsExactly("t/p");
        assertThat(source.durableTo("t", "p")).as("its row stays").isEqualTo(7);
        source.close();
    }

    /** The bug: a reader of the life before acknowledged what it took for repeats. */
    @Test
    void where_a_row_could_not_be_deleted_nothing_is_acknowledged() {
        begin();
        source.offer(parcel(6));
        source.partitions();
        PartitionReader reader = source.open("t/p", state(5, 1), host());
        while (reader.next() == PartitionReader.Step.RECORD) {
            source.durable("t/p", SourcePosition.of(reader.frame().offset()));
        }
        clock.advanceMicros(8 * DAY);
        Ticket[] ticket = new Ticket[1];
        rows.meanwhile = () -> {
            ticket[0] = source.offer(parcel(1));
            throw new UncheckedIOException(new IOException("the disk is gone"));
        };
        assertThatThrownBy(source::partitions).hasMessageContaining("the disk is gone");
        assertThat(source.durableTo("t", "p")).isEqualTo(-1);
        assertThat(reader.next()).isNotEqualTo(PartitionReader.Step.RECORD);
        assertThat(ticket[0].isSettled()).isFalse();
        source.close();
        assertThat(ticket[0].receipt())
                .isInstanceOfSatisfying(
                        Receipt.Cut.class, cut -> assertThat(cut.taken()).isZero());
        reader.close();
    }

    /** The bug: "nothing was sent to t/p", and the feed failed. */
    @Test
    void who_has_taken_his_parcel_back_is_not_forgotten_before_it_is_looked_for() {
        begin();
        Ticket ticket = source.offer(parcel(6));
        clock.advanceMicros(8 * DAY); // the run was busy
        assertThat(ticket.giveUp("no time")).isEqualTo(new Receipt.Cut(0, "no time"));
        assertThat(source.partitions()).containsExactly("t/p");
        try (PartitionReader reader = source.open("t/p", state(5, 1), host())) {
            assertThat(reader.next()).isNotEqualTo(PartitionReader.Step.RECORD);
        }
        assertThat(source.gone()).isEmpty();
        source.close();
    }

    /** The bug: all producers were looked through in each turn, while a spill was full. */
    @Test
    void where_batches_wait_for_the_store_nobody_is_forgotten_and_it_is_looked_a_minute_later() {
        begin();
        rows.areDelivered = false;
        assertThat(source.hasNews()).isTrue();
        assertThat(source.partitions()).isEmpty();
        assertThat(source.hasNews()).isFalse();
        rows.areDelivered = true;
        clock.advanceMicros(60_000_000);
        assertThat(source.hasNews()).isTrue();
        assertThat(source.partitions()).isEmpty();
        assertThat(rows.forgotten).containsExactly("t/p");
        assertThat(source.gone()).containsExactly("t/p");
        source.close();
    }

    /** The bug: who was told to come again later was forgotten meanwhile. */
    @Test
    void who_is_refused_because_too_many_wait_or_the_run_has_ended_is_seen() {
        Producers known = new Producers(clock);
        source.remembers(known);
        source.begin(() -> Map.of("t/p", state(5, clock.wallMicros()), "t/q", state(5, 0)), host());
        for (int i = 0; i < ParcelSource.PARCEL_COUNT_MAX; i++) {
            source.offer(Parcel.of(new byte[0]).from("t", "other", 1));
        }
        clock.advanceMicros(6 * DAY);
        assertThat(source.offer(parcel(6)).receipt()).isInstanceOf(Receipt.Full.class);
        clock.advanceMicros(6 * DAY);
        source.partitions();
        assertThat(rows.forgotten).containsExactly("t/q");
        source.close();
        assertThat(source.offer(parcel(6)).receipt()).isInstanceOf(Receipt.Away.class);

        ParcelSource next = new ParcelSource();
        next.remembers(known);
        clock.advanceMicros(30 * DAY);
        next.begin(() -> Map.of("t/p", state(5, 1)), host());
        clock.advanceMicros(6 * DAY);
        next.partitions();
        assertThat(known.has("t/p")).isTrue();
        next.close();
    }
}
