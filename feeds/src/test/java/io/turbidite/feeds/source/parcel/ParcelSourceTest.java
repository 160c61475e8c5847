package io.turbidite.feeds.source.parcel;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.feeds.parse.RawRecordParser;
import io.turbidite.feeds.source.PartitionReader;
import io.turbidite.feeds.source.PartitionReader.Step;
import io.turbidite.feeds.source.PartitionState;
import io.turbidite.feeds.source.Rejection;
import io.turbidite.feeds.source.SourceHost;
import io.turbidite.feeds.source.SourcePosition;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Receipts of parcels, without a store. */
class ParcelSourceTest {
    private final SimClock clock = new SimClock();
    private final SourceHost host = new SourceHost(
            "f", new RawRecordParser(false), ',', new SimTasks(1, clock), clock, () -> false);

    private static Parcel lines(int count) {
        return Parcel.of("x\n".repeat(count).getBytes(StandardCharsets.UTF_8));
    }

    private PartitionReader open(ParcelSource source, String partition, @Nullable Long position) {
        return source.open(
                partition,
                position == null
                        ? null
                        : new PartitionState(SourcePosition.of(position), 1, position, 0),
                host);
    }

    private static List<Long> readAll(PartitionReader reader) {
        List<Long> numbers = new ArrayList<>();
        while (reader.next() == Step.RECORD) {
            numbers.add(reader.frame().offset());
        }
        return numbers;
    }

    @Test
    void a_receipt_comes_behind_the_last_record_that_is_durable() {
        ParcelSource source = new ParcelSource();
        source.begin(Map::of, host);
        Ticket first = source.offer(lines(3));
        Ticket second = source.offer(lines(2));
        assertThat(source.partitions()).containsExactly("plain");
        try (PartitionReader reader = open(source, "plain", 10L)) {
            assertThat(readAll(reader)).containsExactly(11L, 12L, 13L, 14L, 15L);
            assertThat(first.isSettled()).isFalse();
            source.durable("plain", SourcePosition.of(12));
            assertThat(first.isSettled()).isFalse();
            source.rejected("plain", new Rejection(14, 1, "of the second"));
            source.rejected("plain", new Rejection(13, 3, "of the first"));
            source.durable("plain", SourcePosition.of(14));
            assertThat(first.receipt())
                    .isEqualTo(new Receipt.Taken(
                            2, 1, 0, 0, 0, List.of(new Rejection(13, 3, "of the first"))));
            assertThat(second.isSettled()).isFalse();
            source.close();
            assertThat(second.receipt())
                    .isInstanceOfSatisfying(
                            Receipt.Cut.class, cut -> assertThat(cut.taken()).isEqualTo(1));
            assertThat(source.offer(lines(1)).receipt()).isInstanceOf(Receipt.Away.class);
        }
    }

    /** The bug: 0, while the run still delivered what an earlier one had left. */
    @Test
    void how_far_a_producer_is_is_not_known_before_the_run_begins() {
        ParcelSource source = new ParcelSource();
        PartitionState state = new PartitionState(SourcePosition.of(7), 1, 7, 0);
        assertThat(source.durableTo("t", "p")).isEqualTo(-1);
        source.begin(() -> Map.of("t/p", state), host);
        assertThat(source.durableTo("t", "p")).isEqualTo(7);
        assertThat(source.durableTo("t", "q")).isZero();
    }

    /** The bug: 0, so a client that asked where it stands began behind that, as repeats. */
    @Test
    void how_far_a_producer_is_is_known_though_something_of_it_came_before_the_run_began() {
        ParcelSource source = new ParcelSource();
        Ticket early = source.offer(lines(1).from("t", "p", 8));
        Ticket unknown = source.offer(lines(1).from("t", "q", 1));
        Ticket plain = source.offer(lines(1));
        assertThat(source.durableTo("t", "p")).isEqualTo(-1);
        PartitionState state = new PartitionState(SourcePosition.of(7), 1, 7, 0);
        source.begin(() -> Map.of("t/p", state, "plain", state), host);
        assertThat(source.durableTo("t", "p")).isEqualTo(7);
        assertThat(source.durableTo("t", "q")).isZero();
        assertThat(List.of(early, unknown, plain)).noneMatch(Ticket::isSettled);
        source.close();
    }

    @Test
    void what_comes_again_waits_for_what_came_first() {
        ParcelSource source = new ParcelSource();
        source.begin(Map::of, host);
        Ticket first = source.offer(lines(3).from("t", "p", 1));
        Ticket again = source.offer(lines(3).from("t", "p", 1));
        Ticket gap = source.offer(lines(3).from("t", "p", 5));
        assertThat(source.partitions()).containsExactly("t/p");
        try (PartitionReader reader = open(source, "t/p", null)) {
            assertThat(readAll(reader)).containsExactly(1L, 2L, 3L);
            assertThat(gap.receipt()).isEqualTo(new Receipt.Gap(4));
            assertThat(again.isSettled()).as("nothing is durable yet").isFalse();
            source.rejected("t/p", new Rejection(2, 2, "bad"));
            source.durable("t/p", SourcePosition.of(3));
            assertThat(first.receipt())
                    .isEqualTo(
                            new Receipt.Taken(2, 1, 0, 0, 3, List.of(new Rejection(2, 2, "bad"))));
            assertThat(again.receipt()).isEqualTo(new Receipt.Taken(0, 0, 0, 3, 3, List.of()));
        }
        source.close();
    }

    @Test
    void so_many_parcels_wait_and_no_more() {
        ParcelSource source = new ParcelSource();
        source.begin(Map::of, host);
        List<Ticket> waiting = new ArrayList<>();
        for (int i = 0; i < ParcelSource.PARCEL_COUNT_MAX; i++) {
            waiting.add(source.offer(lines(1)));
        }
        assertThat(source.offer(lines(1)).receipt()).isInstanceOf(Receipt.Full.class);
        assertThat(waiting.getFirst().giveUp("no time")).isEqualTo(new Receipt.Cut(0, "no time"));
        assertThat(source.offer(lines(1)).isSettled()).isFalse();
        assertThat(source.offer(lines(1)).isSettled()).isTrue();
        source.close();

        ParcelSource large = new ParcelSource();
        byte[] much = new byte[(int) ParcelSource.BYTES_MAX];
        assertThat(large.offer(Parcel.of(much)).isSettled()).isFalse();
        assertThat(large.offer(lines(1)).receipt()).isInstanceOf(Receipt.Full.class);
        large.close();
    }

    @Test
    void so_many_producers_are_known_and_no_more() {
        ParcelSource source = new ParcelSource(2);
        PartitionState state = new PartitionState(SourcePosition.of(7), 1, 7, 0);
        source.begin(() -> Map.of("t/old", state, "plain", state), host);
        Ticket second = source.offer(lines(1).from("t", "new", 1));
        assertThat(source.partitions()).containsExactly("t/new");
        Ticket third = source.offer(lines(1).from("t", "newer", 1));
        Ticket old = source.offer(lines(1).from("t", "old", 8));
        assertThat(source.partitions()).containsExactly("t/new", "t/old");
        assertThat(third.receipt()).isEqualTo(new Receipt.TooManyProducers(2));
        assertThat(second.isSettled() || old.isSettled()).isFalse();
        source.close();
    }
}
