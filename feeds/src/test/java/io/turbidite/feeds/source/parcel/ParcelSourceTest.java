package io.turbidite.feeds.source.parcel;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.type.RecordType;
import io.turbidite.feeds.parse.CsvFormat;
import io.turbidite.feeds.parse.CsvRecordParser;
import io.turbidite.feeds.parse.MalformedFrameException;
import io.turbidite.feeds.parse.RawRecordParser;
import io.turbidite.feeds.parse.RecordFrame;
import io.turbidite.feeds.parse.RecordParser;
import io.turbidite.feeds.parse.TransformAids;
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

        ParcelSource held = new ParcelSource();
        assertThat(held.offer(Parcel.of(List.of(much), 2)).isSettled()).isFalse();
        assertThat(held.offer(lines(1)).receipt()).isInstanceOf(Receipt.Full.class);
        held.close();
    }

    @Test
    void so_many_producers_are_known_and_no_more() {
        ParcelSource source = new ParcelSource();
        source.remembers(new Producers(clock, 2));
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

    /** Gives out {@code count} records as a run does, and all of them are delivered. */
    private static void readSome(
            ParcelSource source, String partition, PartitionReader reader, int count) {
        for (int i = 0; i < count; i++) {
            assertThat(reader.next()).isEqualTo(Step.RECORD);
        }
        if (count > 0) {
            source.durable(partition, reader.position());
        }
    }

    @Test
    void a_parcel_whose_reader_is_closed_at_any_record_goes_on_there_with_the_next_one() {
        int[] counts = {4, 1, 3};
        for (boolean isPlain : List.of(true, false)) {
            String partition = isPlain ? "plain" : "t/p";
            for (int first = 0; first <= 8; first++) {
                for (int second = 0; first + second <= 8; second++) {
                    ParcelSource source = new ParcelSource();
                    source.begin(Map::of, host);
                    List<Ticket> tickets = new ArrayList<>();
                    long from = 1;
                    for (int count : counts) {
                        Parcel parcel = lines(count);
                        tickets.add(source.offer(isPlain ? parcel : parcel.from("t", "p", from)));
                        from += count;
                    }
                    String as = "%s, closed behind %d and %d".formatted(partition, first, second);
                    try (PartitionReader reader = open(source, partition, null)) {
                        readSome(source, partition, reader, first);
                        assertThat(reader.isBetween()).isTrue();
                    }
                    if (first > 1) {
                        source.rejected(partition, new Rejection(1, 1, "bad")); // of the first
                    }
                    try (PartitionReader reader = open(source, partition, (long) first)) {
                        readSome(source, partition, reader, second);
                    }
                    assertThat(source.partitions()).as(as).containsExactly(partition);
                    int at = first + second;
                    try (PartitionReader reader = open(source, partition, (long) at)) {
                        List<Long> rest = readAll(reader);
                        assertThat(rest).as(as).hasSize(8 - at);
                        for (int i = 0; i < rest.size(); i++) {
                            assertThat(rest.get(i)).as(as).isEqualTo(at + i + 1L);
                        }
                        for (int i = 0; i < counts.length; i++) {
                            int before = i == 0 ? 4 : i == 1 ? 5 : 8;
                            assertThat(tickets.get(i).isSettled()).as(as).isEqualTo(before <= at);
                        }
                        source.durable(partition, SourcePosition.of(8));
                    }
                    for (int i = 0; i < counts.length; i++) {
                        Receipt.Taken taken = (Receipt.Taken) tickets.get(i).receipt();
                        boolean hasBad = i == 0 && first > 1 && first <= 4;
                        assertThat(taken.rejected()).as(as).isEqualTo(hasBad ? 1 : 0);
                        assertThat(taken.accepted()).as(as).isEqualTo(counts[i] - taken.rejected());
                        assertThat(taken.repeated()).as(as).isZero();
                    }
                    assertThat(source.partitions()).as(as).isEmpty();
                    open(source, partition, 8L).close();
                    for (int i = 0; i < ParcelSource.PARCEL_COUNT_MAX; i++) {
                        assertThat(source.offer(lines(1)).isSettled()).as(as).isFalse();
                    }
                    assertThat(source.offer(lines(1)).isSettled())
                            .as("%s: counted", as)
                            .isTrue();
                    source.close();
                }
            }
        }
    }

    @Test
    void nothing_is_settled_before_all_is_durable_though_it_was_read_by_two() {
        ParcelSource source = new ParcelSource();
        source.begin(Map::of, host);
        Ticket ticket = source.offer(lines(3));
        try (PartitionReader reader = open(source, "plain", null)) {
            readSome(source, "plain", reader, 2);
        }
        try (PartitionReader reader = open(source, "plain", 2L)) {
            assertThat(readAll(reader)).containsExactly(3L);
            assertThat(ticket.isSettled()).isFalse();
            source.durable("plain", SourcePosition.of(2));
            assertThat(ticket.isSettled()).isFalse();
            source.durable("plain", SourcePosition.of(3));
            assertThat(ticket.receipt()).isEqualTo(new Receipt.Taken(3, 0, 0, 0, 0, List.of()));
        }
        source.close();
    }

    @Test
    void whoever_gives_up_while_no_reader_has_his_parcel_is_told_what_was_taken() {
        ParcelSource source = new ParcelSource();
        source.begin(Map::of, host);
        Ticket ticket = source.offer(lines(3).from("t", "p", 1));
        Ticket behind = source.offer(lines(2).from("t", "p", 4));
        try (PartitionReader reader = open(source, "t/p", null)) {
            readSome(source, "t/p", reader, 2);
        }
        assertThat(ticket.giveUp("no time")).isEqualTo(new Receipt.Cut(2, "no time"));
        try (PartitionReader reader = open(source, "t/p", 2L)) {
            assertThat(readAll(reader)).as("it is taken all the same").containsExactly(3L, 4L, 5L);
            source.durable("t/p", SourcePosition.of(5));
        }
        assertThat(behind.receipt()).isEqualTo(new Receipt.Taken(2, 0, 0, 0, 5, List.of()));
        source.close();
    }

    @Test
    void what_was_begun_is_cut_where_another_run_has_read_on() {
        ParcelSource source = new ParcelSource();
        source.begin(Map::of, host);
        Ticket ticket = source.offer(lines(3));
        Ticket behind = source.offer(lines(1));
        try (PartitionReader reader = open(source, "plain", 10L)) {
            readSome(source, "plain", reader, 2);
        }
        try (PartitionReader reader = open(source, "plain", 14L)) {
            assertThat(ticket.receipt())
                    .isEqualTo(new Receipt.Cut(2, "another run of the feed has read on meanwhile"));
            assertThat(readAll(reader)).containsExactly(15L);
            source.durable("plain", SourcePosition.of(15));
        }
        assertThat(behind.receipt()).isInstanceOf(Receipt.Taken.class);
        source.close();
    }

    @Test
    void a_source_that_is_run_again_cuts_what_the_run_before_had_begun() {
        ParcelSource source = new ParcelSource();
        source.begin(Map::of, host);
        Ticket ticket = source.offer(lines(3).from("t", "p", 1));
        Ticket behind = source.offer(lines(3).from("t", "p", 1));
        try (PartitionReader reader = open(source, "t/p", null)) {
            readSome(source, "t/p", reader, 2); // and a third one that is not delivered
            assertThat(reader.next()).isEqualTo(Step.RECORD);
        }
        PartitionState state = new PartitionState(SourcePosition.of(2), 1, 2, 0);
        source.begin(() -> Map.of("t/p", state), host);
        assertThat(ticket.receipt())
                .isEqualTo(new Receipt.Cut(2, "the feed ended before all of it was durable"));
        try (PartitionReader reader = open(source, "t/p", 2L)) {
            assertThat(readAll(reader)).containsExactly(3L);
            source.durable("t/p", SourcePosition.of(3));
        }
        assertThat(behind.receipt()).isEqualTo(new Receipt.Taken(1, 0, 0, 2, 3, List.of()));
        source.close();
    }

    /** Read again from its beginning, the broken quote of the second might be cut otherwise. */
    @Test
    void a_parcel_of_csv_goes_on_with_its_columns_behind_a_record_that_was_cut() {
        RecordType type = RecordType.builder()
                .field("id", "int64")
                .field("name", "string")
                .build();
        String text = "name,id\none,1\n\"two\nthree,3\nfo\"ur,4\nfive,5\n";
        for (int closedAt = 0; closedAt <= 5; closedAt++) {
            ParcelSource source = new ParcelSource();
            SourceHost before = host(csv(type));
            SourceHost behind = host(csv(type));
            source.begin(Map::of, before);
            Ticket ticket = source.offer(Parcel.of(text.getBytes(StandardCharsets.UTF_8)));
            Ticket other =
                    source.offer(Parcel.of("id,name\n6,six\n".getBytes(StandardCharsets.UTF_8))
                            .from("t", "p", 1));
            List<String> taken = new ArrayList<>();
            long position = 0;
            try (PartitionReader reader = source.open("plain", null, before)) {
                while (taken.size() < closedAt && reader.next() == Step.RECORD) {
                    taken.add(text(reader, before));
                }
                position = taken.isEmpty() ? 0 : reader.position().number();
            }
            try (PartitionReader reader = source.open("t/p", null, behind)) {
                assertThat(reader.next()).isEqualTo(Step.RECORD); // whose columns are others
                assertThat(text(reader, behind)).isEqualTo("6,six");
                assertThat(reader.next()).isEqualTo(Step.NOTHING);
            }
            PartitionState state = new PartitionState(SourcePosition.of(position), 1, position, 0);
            try (PartitionReader reader =
                    source.open("plain", position == 0 ? null : state, behind)) {
                while (reader.next() == Step.RECORD) {
                    taken.add(text(reader, behind));
                }
                assertThat(reader.position()).isEqualTo(SourcePosition.of(5));
            }
            assertThat(taken)
                    .as("closed behind %d", closedAt)
                    .containsExactly("one,1", "cut \"two", "three,3", "fo\"ur,4", "five,5");
            source.durable("plain", SourcePosition.of(5));
            assertThat(ticket.isSettled()).isTrue();
            assertThat(other.isSettled()).isFalse();
            source.close();
        }
    }

    private static CsvRecordParser csv(RecordType type) {
        return new CsvRecordParser(
                type, new CsvFormat(',', true, List.of()), true, List.of(), TransformAids.none());
    }

    private SourceHost host(RecordParser parser) {
        return new SourceHost("f", parser, ',', new SimTasks(1, clock), clock, () -> false);
    }

    /** The record's text, as a worker that cuts back what is malformed has it. */
    private static String text(PartitionReader reader, SourceHost host) {
        String cut = "";
        try {
            if (reader.frame().problem() == null) {
                var _ = host.parser().parse(reader.frame());
            } else {
                cut = "cut ";
            }
        } catch (MalformedFrameException e) {
            reader.cutToFirstLine();
            cut = "cut ";
        }
        RecordFrame frame = reader.frame();
        return cut
                + new String(frame.bytes(), frame.start(), frame.length(), StandardCharsets.UTF_8);
    }
}
