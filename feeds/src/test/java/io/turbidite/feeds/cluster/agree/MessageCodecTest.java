package io.turbidite.feeds.cluster.agree;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.catalog.DatasetDefinition;
import io.turbidite.core.format.Crc32c;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.Tier;
import io.turbidite.feeds.cluster.agree.Message.Abandon;
import io.turbidite.feeds.cluster.agree.Message.Entries;
import io.turbidite.feeds.cluster.agree.Message.Hello;
import io.turbidite.feeds.cluster.agree.Message.Holds;
import io.turbidite.feeds.cluster.agree.Message.Prepare;
import io.turbidite.feeds.cluster.agree.Message.Prepared;
import io.turbidite.feeds.cluster.agree.Message.Show;
import io.turbidite.feeds.cluster.agree.Message.Shown;
import io.turbidite.feeds.cluster.agree.Message.Unfit;
import io.turbidite.feeds.cluster.agree.Message.Unprepared;
import io.turbidite.feeds.cluster.agree.Message.Welcome;
import io.turbidite.feeds.cluster.change.Change;
import io.turbidite.feeds.cluster.change.Change.DatasetCreated;
import io.turbidite.feeds.cluster.change.Change.DatasetDropped;
import io.turbidite.feeds.cluster.change.Change.IndexCreated;
import io.turbidite.feeds.cluster.change.Change.IndexDropped;
import io.turbidite.feeds.cluster.change.Change.NodeAdded;
import io.turbidite.feeds.cluster.change.Change.PartitionMoved;
import io.turbidite.feeds.cluster.change.Changes;
import io.turbidite.feeds.cluster.change.Entry;
import io.turbidite.feeds.cluster.change.Epoch;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;

/** Messages of a cluster as bytes: archived, damaged, by chance, and large. */
class MessageCodecTest {
    private static final String GOLDEN = "/golden/cluster-messages-v1.hex";
    private static final long SEED = Seeds.of("MessageCodecTest");
    private static final Stamp STAMP =
            new Stamp(0x0123_4567_89AB_CDEFL, new Epoch(3, 0x77), 5, 1_000);

    private static List<Entry> entries() {
        List<Entry> entries = new ArrayList<>();
        long chain = Entry.CHAIN_START;
        for (Change change : List.of(
                new NodeAdded("n1"),
                new NodeAdded("n2"),
                new DatasetCreated(
                        Changes.dataset("Trips", 3),
                        new TreeMap<>(Map.of("n1", List.of(0, 2), "n2", List.of(1)))),
                new IndexCreated("Trips", Changes.index("by_two")),
                new PartitionMoved("Trips", 2, "n1", "n2"),
                new IndexDropped("Trips", "by_lang"),
                new DatasetDropped("Trips"))) {
            Entry entry = Entry.after(entries.size(), chain, change);
            entries.add(entry);
            chain = entry.chain();
        }
        return entries;
    }

    private static List<Message> all() {
        List<Message> all = new ArrayList<>(List.of(
                new Hello(STAMP.clusterId(), Epoch.NONE, 7, -1, Long.MIN_VALUE),
                new Welcome(STAMP.at(Stamp.NUMBER_UNKNOWN), 9),
                new Holds(STAMP, 12, 2),
                new Entries(STAMP, entries()),
                new Entries(STAMP, List.of()),
                new Prepare(STAMP, 8, entries().getFirst()),
                new Prepared(STAMP, 8),
                new Unprepared(STAMP, 8, "a key ist zu groß"),
                new Abandon(STAMP, 9),
                new Show(STAMP, 3),
                new Shown(STAMP, entries().subList(2, 4))));
        for (Misfit misfit : Misfit.values()) {
            all.add(new Unfit(STAMP, misfit));
        }
        return all;
    }

    private static List<byte[]> golden() throws IOException {
        try (InputStream in = Objects.requireNonNull(
                MessageCodecTest.class.getResourceAsStream(GOLDEN), GOLDEN)) {
            return new String(in.readAllBytes(), StandardCharsets.US_ASCII)
                    .lines()
                    .map(HexFormat.of()::parseHex)
                    .toList();
        }
    }

    @Test
    void what_is_written_are_the_archived_bytes() throws IOException {
        List<String> written = all().stream()
                .map(message -> HexFormat.of().formatHex(MessageCodec.encode(message)))
                .toList();
        if (Boolean.getBoolean("golden.print")) {
            written.forEach(line -> System.out.println("golden " + line));
        } else {
            assertThat(written)
                    .isEqualTo(golden().stream().map(HexFormat.of()::formatHex).toList());
        }
    }

    @Test
    void the_archived_bytes_are_read_as_they_were_written() throws IOException {
        assertThat(golden().stream().map(MessageCodec::decode).toList()).isEqualTo(all());
    }

    @Test
    void each_bit_of_a_message_counts() {
        byte[] message = MessageCodec.encode(new Entries(STAMP, entries()));
        for (int at = 0; at < message.length; at++) {
            for (int bit = 0; bit < 8; bit++) {
                byte[] damaged = message.clone();
                damaged[at] ^= (byte) (1 << bit);
                assertThatThrownBy(() -> MessageCodec.decode(damaged))
                        .as("bit %d of byte %d", bit, at)
                        .isInstanceOf(InvalidRequestException.class)
                        .hasMessageContaining("damaged");
            }
        }
    }

    /** Whoever can make a checksum can say anything: it is refused, and nothing else happens. */
    @Test
    void any_bytes_behind_a_right_checksum_are_a_message_or_refused() {
        SplittableRandom random = new SplittableRandom(SEED);
        List<Message> all = all();
        int refused = 0;
        int runs = Tier.count(2_000, 20_000, 300_000);
        for (int i = 0; i < runs; i++) {
            byte[] bytes = MessageCodec.encode(all.get(random.nextInt(all.size())));
            bytes = Arrays.copyOf(bytes, 6 + random.nextInt(bytes.length));
            for (int changes = random.nextInt(4); changes >= 0; changes--) {
                bytes[4 + random.nextInt(bytes.length - 4)] = random.nextInt(3) == 0
                        ? (byte) random.nextInt(-2, 3)
                        : (byte) random.nextInt();
            }
            try {
                Message read = MessageCodec.decode(checked(bytes));
                assertThat(MessageCodec.decode(MessageCodec.encode(read))).isEqualTo(read);
            } catch (InvalidRequestException e) {
                refused++;
            } catch (RuntimeException e) {
                throw new AssertionError(
                        "%s: %s".formatted(Seeds.replay("MessageCodecTest", SEED), e), e);
            }
        }
        assertThat(refused).isBetween(1, runs - 1);
    }

    private static byte[] checked(byte[] bytes) {
        int crc = new Crc32c().compute(MemorySegment.ofArray(bytes), 4, bytes.length - 4L);
        ByteBuffer.wrap(bytes).putInt(crc);
        return bytes;
    }

    private static byte[] with(Message message, int at, int value) {
        byte[] bytes = MessageCodec.encode(message);
        bytes[at] = (byte) value;
        return checked(bytes);
    }

    @Test
    void what_is_no_message_is_refused_in_words() {
        Message message = new Prepared(STAMP, 8);
        assertThatThrownBy(() -> MessageCodec.decode(with(message, 4, 2)))
                .hasMessage("a message is of version 2; this release reads 1");
        assertThatThrownBy(() -> MessageCodec.decode(with(message, 5, 0)))
                .hasMessage("no message is of kind 0");
        byte[] bytes = MessageCodec.encode(message);
        assertThatThrownBy(
                        () -> MessageCodec.decode(checked(Arrays.copyOf(bytes, bytes.length + 2))))
                .hasMessage("a message has 2 bytes behind its end");
        assertThatThrownBy(
                        () -> MessageCodec.decode(checked(Arrays.copyOf(bytes, bytes.length - 1))))
                .hasMessage("a message ends too early, or has no text");
        assertThatThrownBy(() -> MessageCodec.decode(new byte[5]))
                .hasMessageStartingWith("5 bytes");
        assertThatThrownBy(() -> MessageCodec.decode(new byte[MessageCodec.BYTES_MAX + 1]))
                .hasMessageContaining("are no message");
        assertThatThrownBy(() -> MessageCodec.decode(
                        MessageCodec.encode(new Holds(STAMP.at(Stamp.NUMBER_UNKNOWN), 1, 0))))
                .hasMessageContaining("a number below 0");
    }

    @Test
    void entries_that_have_no_room_come_in_the_next_message() {
        List<Entry> entries = new ArrayList<>();
        long chain = Entry.CHAIN_START;
        for (int i = 0; i < 3; i++) {
            Map<String, String> options = new TreeMap<>();
            for (int j = 0; j < 9; j++) {
                options.put("o" + j, "x".repeat(60_000));
            }
            Entry entry = Entry.after(
                    i,
                    chain,
                    new DatasetCreated(
                            new DatasetDefinition(
                                    "d" + i,
                                    Changes.dataset("d", 4).type(),
                                    List.of("id"),
                                    List.of(),
                                    4,
                                    options,
                                    List.of()),
                            new TreeMap<>()));
            entries.add(entry);
            chain = entry.chain();
        }
        byte[] bytes = MessageCodec.encode(new Entries(STAMP, entries));
        assertThat(bytes.length).isLessThanOrEqualTo(MessageCodec.BYTES_MAX);
        assertThat(MessageCodec.decode(bytes)).isEqualTo(new Entries(STAMP, entries.subList(0, 1)));
    }

    @Test
    void the_largest_change_has_room() {
        assertThat(Entry.PAYLOAD_BYTES_MAX).isLessThan(MessageCodec.BYTES_MAX - 2_000);
    }

    @Test
    void a_long_reason_is_cut() {
        Message read = MessageCodec.decode(
                MessageCodec.encode(new Unprepared(STAMP, 1, "why ".repeat(50_000))));
        assertThat(read).isEqualTo(new Unprepared(STAMP, 1, "why ".repeat(500)));
    }
}
