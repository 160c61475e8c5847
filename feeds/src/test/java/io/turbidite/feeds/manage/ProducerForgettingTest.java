package io.turbidite.feeds.manage;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.log.Durability;
import io.turbidite.core.log.LogOptions;
import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.Instrument;
import io.turbidite.core.meter.Latency;
import io.turbidite.core.meter.Reading;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.sim.Tier;
import io.turbidite.feeds.source.SourcePosition;
import io.turbidite.feeds.source.parcel.Parcel;
import io.turbidite.feeds.source.parcel.Producers;
import io.turbidite.feeds.source.parcel.Receipt;
import io.turbidite.feeds.store.FeedDelivery;
import io.turbidite.feeds.store.FeedDelivery.Operation;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.WriteBatch;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;

/** A producer that was not seen for seven days is a new one; nobody else is. */
class ProducerForgettingTest {
    private static final long HOUR = 3_600_000_000L;
    private static final long DAY = 24 * HOUR;

    private static final String DEFINITION = """
            feed: f
            dataset: { name: D, type: { id: int64, name: string }, primaryKey: id }
            source: { kind: http }
            parser: { kind: json }
            """;

    /** A process: its clock is set right when it starts. */
    private static final class Server implements AutoCloseable {
        final SimClock clock = new SimClock();
        final SimTasks tasks;
        final Store store;
        final FeedManager feeds;

        Server(SimDisk disk, long wallMicros, long writeMemoryBytes) {
            this(disk, wallMicros, writeMemoryBytes, DEFINITION);
        }

        Server(SimDisk disk, long wallMicros, long writeMemoryBytes, String definition) {
            clock.jumpWallMicros(wallMicros - clock.wallMicros());
            tasks = new SimTasks(1, clock);
            LogOptions log =
                    LogOptions.defaults().withSegmentBytes(1 << 20, 16, 1 << 10, 128 << 10);
            store = Store.open(
                    disk,
                    tasks,
                    clock,
                    StoreOptions.defaults()
                            .withWriteMemoryBytes(writeMemoryBytes)
                            .withCacheBytes(2 << 20)
                            .withLog(4 << 20, log.withDurability(Durability.SYNC)));
            feeds = FeedManager.open(store, new SplittableRandom(1));
            feeds.startKept();
            feeds.startOrChange(definition, Path.of("."));
            if (feeds.status("f").state() == FeedState.PAUSED) {
                feeds.resume("f");
            }
            tasks.await(() -> feeds.status("f").state() == FeedState.WAITING);
        }

        Receipt send(String producer, long from, long to) {
            return feeds.send("f", parcel(producer, from, to), 30_000_000);
        }

        /** Time goes by, and the feed looks around. */
        void passes(long micros) {
            clock.advanceMicros(micros);
            tasks.runForMicros(300_000);
        }

        @Nullable
        Map<String, @Nullable Object> row(String producer) {
            return store.dataset("_feeds").get("f", "t/" + producer);
        }

        /** A run that begins anew, in the same process. */
        void runsAnew() {
            feeds.pause("f");
            feeds.resume("f");
            tasks.await(() -> feeds.status("f").state() == FeedState.WAITING);
        }

        long figure(String name) {
            for (Instrument one : store.meters().instruments()) {
                if (one.name().equals(name)) {
                    return switch (one) {
                        case Counter counter -> counter.sum();
                        case Reading reading -> reading.value();
                        case Latency latency -> latency.summary().count();
                    };
                }
            }
            throw new AssertionError(name);
        }

        @Override
        public void close() {
            feeds.close();
            store.close();
        }
    }

    private static Parcel parcel(String producer, long from, long to) {
        StringBuilder text = new StringBuilder();
        for (long number = from; number <= to; number++) {
            text.append("{\"id\":%d,\"name\":\"%s\"}\n"
                    .formatted(producer.hashCode() * 1_000L + number, producer));
        }
        return Parcel.of(text.toString().getBytes(StandardCharsets.UTF_8))
                .from("t", producer, from);
    }

    private static Server server(SimDisk disk, long wallMicros) {
        return new Server(disk, wallMicros, 2 << 20);
    }

    private static void isTaken(Receipt receipt, long last) {
        assertThat(receipt)
                .isInstanceOfSatisfying(
                        Receipt.Taken.class, taken -> assertThat(taken.last()).isEqualTo(last));
    }

    private static final long START = 1_800_000_000_000_000L;

    @ParameterizedTest
    @ValueSource(strings = {"", "workers: 2\n", "policy: { kind: spill, bytesMax: 32MiB }\n"})
    void who_was_not_seen_for_seven_days_is_a_new_one(String policy) {
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        try (Server server = new Server(disk, START, 2 << 20, DEFINITION + policy)) {
            isTaken(server.send("p", 1, 5), 5);
            isTaken(server.send("q", 1, 5), 5);
            isTaken(server.send("r", 1, 5), 5);
            server.passes(7 * DAY - HOUR);
            isTaken(server.send("q", 3, 5), 5); // who repeats is seen
            assertThat(server.feeds.durableTo("f", "t", "r")).isEqualTo(5); // and who asks
            assertThat(server.row("p")).isNotNull();
            server.passes(2 * HOUR);
            assertThat(server.row("p")).isNull();
            assertThat(server.figure("feed.producers")).isEqualTo(2);
            assertThat(server.figure("feed.producers.forgotten")).isEqualTo(1);
            assertThat(server.feeds.durableTo("f", "t", "p")).isZero();
            assertThat(server.send("p", 6, 7)).isEqualTo(new Receipt.Gap(1));
            isTaken(server.send("p", 1, 2), 2);
            isTaken(server.send("p", 3, 4), 4);
            isTaken(server.send("q", 6, 7), 7);
            isTaken(server.send("r", 6, 7), 7);
            assertThat(server.feeds.status("f").state().isActive()).isTrue();
            assertThat(server.feeds.status("f").cause()).isNull();
        }
    }

    /** Each day another process. */
    @Test
    void who_only_repeats_or_only_asks_is_never_forgotten() {
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        try (Server server = server(disk, START)) {
            isTaken(server.send("repeats", 1, 5), 5);
            isTaken(server.send("asks", 1, 5), 5);
            isTaken(server.send("silent", 1, 5), 5);
        }
        Map<String, Integer> written = new TreeMap<>();
        Map<String, Object> last = new HashMap<>();
        for (int day = 1; day <= 20; day++) {
            try (Server server = server(disk, START + day * DAY)) {
                for (int times = 0; times < 3; times++) {
                    server.passes(5 * HOUR);
                    isTaken(server.send("repeats", 1, 5), 5);
                    assertThat(server.feeds.durableTo("f", "t", "asks")).isEqualTo(5);
                    for (String name : new String[] {"repeats", "asks"}) {
                        Object at = Objects.requireNonNull(
                                Objects.requireNonNull(server.row(name)).get("written_at"));
                        if (!at.equals(last.put(name, at))) {
                            written.merge(name, 1, Integer::sum);
                        }
                    }
                }
                assertThat(server.row("silent") == null).as("day %d", day).isEqualTo(day >= 8);
            }
        }
        assertThat(written.values()).allMatch(times -> times <= 21);
    }

    @ParameterizedTest
    @ValueSource(longs = {HOUR, -HOUR, 8 * DAY, -8 * DAY})
    void a_clock_that_is_set_forgets_nobody_who_is_at_work(long jump) {
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        try (Server server = server(disk, START)) {
            isTaken(server.send("p", 1, 5), 5);
            isTaken(server.send("q", 1, 5), 5);
        }
        try (Server server = server(disk, START + HOUR)) {
            isTaken(server.send("p", 6, 6), 6);
            for (int round = 0; round < 2; round++) {
                server.clock.jumpWallMicros(round == 0 ? jump : -jump);
                server.passes(2 * HOUR);
                server.runsAnew();
                isTaken(server.send("p", 7 + round, 7 + round), 7 + round);
                server.runsAnew();
                server.passes(2 * HOUR);
            }
            assertThat(server.row("q")).as("who was not seen in this process").isNotNull();
            isTaken(server.send("q", 6, 6), 6);
            isTaken(server.send("p", 9, 9), 9);
        }
    }

    /** The bug: behind a week without a run everybody was forgotten in its first turns. */
    @Test
    void a_feed_that_was_paused_for_long_forgets_nobody() {
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        try (Server server = server(disk, START)) {
            isTaken(server.send("p", 1, 5), 5);
            isTaken(server.send("q", 1, 5), 5);
            server.passes(2 * HOUR);
            server.feeds.pause("f");
            server.passes(30 * DAY);
            assertThat(server.send("q", 6, 6)).isInstanceOf(Receipt.Away.class);
            server.feeds.resume("f");
            server.tasks.await(() -> server.feeds.status("f").state() == FeedState.WAITING);
            server.passes(6 * DAY);
            isTaken(server.send("p", 6, 6), 6);
            server.passes(DAY - HOUR);
            isTaken(server.send("q", 6, 6), 6); // it was seen in the pause
        }
    }

    /** The bug: what was sent while the clock was behind was old to the next process. */
    @Test
    void a_clock_that_was_behind_for_a_while_forgets_nobody_in_the_next_process() {
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        try (Server server = server(disk, START)) {
            isTaken(server.send("p", 1, 5), 5);
            server.clock.jumpWallMicros(-20 * DAY);
            isTaken(server.send("p", 6, 6), 6);
            isTaken(server.send("new", 1, 1), 1);
            server.passes(HOUR);
        }
        try (Server server = server(disk, START + DAY)) {
            server.passes(2 * HOUR);
            isTaken(server.send("p", 7, 7), 7);
            isTaken(server.send("new", 2, 2), 2);
        }
    }

    @Test
    void the_next_one_finds_a_place_among_a_hundred_thousand() {
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        int count = Producers.COUNT_MAX;
        try (Server server = new Server(disk, START, 32 << 20)) {
            server.feeds.pause("f");
            Dataset rows = server.store.dataset("_feeds");
            RecordWriter writer = rows.newRecordWriter();
            WriteBatch batch = server.store.newBatch();
            Map<String, Object> row = new HashMap<>(Map.of(
                    "feed",
                    "f",
                    "position",
                    SourcePosition.of(3).toByteArray(),
                    "records",
                    3L,
                    "rejected",
                    0L,
                    "sequence",
                    1L));
            for (int i = 0; i < count; i++) {
                row.put("file", "t/p" + i);
                // the second half is of a day later
                row.put(
                        "written_at",
                        Instant.ofEpochSecond(START / 1_000_000 + i / 50_000 * 86_400L));
                batch.upsert(rows, writer.write(row));
                if (batch.size() == 500) {
                    server.store.write(batch);
                    batch.clear();
                }
            }
        }
        try (Server server = new Server(disk, START + 4 * DAY, 32 << 20)) {
            assertThat(server.send("new", 1, 1)).isEqualTo(new Receipt.TooManyProducers(count));
            isTaken(server.send("p7", 4, 4), 4); // a place is no condition for who has one
            assertThat(server.figure("feed.producers")).isEqualTo(count);
        }
        try (Server server = new Server(disk, START + 8 * DAY + HOUR, 32 << 20)) {
            assertThat(server.send("new", 1, 1))
                    .as("in the first hour")
                    .isEqualTo(new Receipt.TooManyProducers(count));
            isTaken(server.send("p7", 5, 5), 5);
            isTaken(server.send("p99999", 4, 4), 4);
            server.passes(HOUR);
            server.tasks.runForMicros(5_000_000);
            isTaken(server.send("new", 1, 1), 1);
            assertThat(server.figure("feed.producers")).isEqualTo(50_002);
            assertThat(server.figure("feed.producers.forgotten")).isEqualTo(49_999);
            assertThat(server.send("p49999", 4, 4)).isEqualTo(new Receipt.Gap(1));
            assertThat(server.row("p1")).isNull();
            assertThat(server.row("p50000")).isNotNull();
        }
    }

    @Test
    void a_crash_while_somebody_is_forgotten_loses_and_repeats_nothing() {
        SimDisk before = new SimDisk(1, Profile.ADVERSARIAL);
        try (Server server = server(before, START)) {
            isTaken(server.send("old", 1, 5), 5);
            isTaken(server.send("q", 1, 5), 5);
        }
        int cuts = Tier.count(20, 200, 400);
        Map<String, Integer> met = new TreeMap<>();
        for (int cut = 0; cut < 2 * cuts; cut += 2) {
            String as = "cut at %d".formatted(cut);
            SimDisk disk = before.crashImage(cut);
            SimDisk[] image = new SimDisk[1];
            long[] acknowledged = new long[2]; // of q and new, when the power went
            long[] now = {5, 0};
            int[] step = {0};
            int at = cut;
            try (Server server = server(disk, START + 2 * DAY)) {
                disk.onOperation(done -> {
                    if (step[0]++ == at) {
                        image[0] = disk.crashImage(at);
                        System.arraycopy(now, 0, acknowledged, 0, 2);
                    }
                });
                for (long number = 6; number < 10; number++) {
                    isTaken(server.send("q", number, number), number);
                    now[0] = number;
                    if (number == 7) {
                        server.passes(6 * DAY + HOUR); // what passed before the run does not count
                    }
                    isTaken(server.send("new", number - 5, number - 5), number - 5);
                    now[1] = number - 5;
                }
                assertThat(server.row("old")).isNull();
                disk.onOperation(done -> {});
            }
            met.merge(image[0] == null ? "none" : "cut", 1, Integer::sum);
            try (Server server =
                    server(image[0] == null ? disk : image[0], START + 8 * DAY + HOUR)) {
                long q = image[0] == null ? 9 : acknowledged[0];
                long fresh = image[0] == null ? 4 : acknowledged[1];
                isTaken(server.send("q", q + 1, q + 3), q + 3);
                isTaken(server.send("new", fresh + 1, fresh + 3), fresh + 3);
                Receipt old = server.send("old", 6, 6);
                met.merge(old.getClass().getSimpleName(), 1, Integer::sum);
                if (old.equals(new Receipt.Gap(1))) {
                    assertThat(server.row("old")).as(as).isNull();
                    isTaken(server.send("old", 1, 1), 1);
                } else {
                    isTaken(old, 6);
                }
                for (long number = 1; number <= 5; number++) {
                    assertThat(server.store.dataset("D").get("old".hashCode() * 1_000L + number))
                            .as(as)
                            .isNotNull();
                }
                assertThat(server.store.verify().errors()).as(as).isEmpty();
            }
        }
        assertThat(met.keySet()).contains("cut", "Gap", "Taken");
    }

    @Test
    void a_row_goes_only_if_it_still_says_what_the_source_knows() {
        try (Server server = server(new SimDisk(1, Profile.STRICT), START)) {
            isTaken(server.send("p", 1, 5), 5);
            isTaken(server.send("q", 1, 5), 5);
            try (FeedDelivery other = FeedDelivery.into(
                    server.store, server.store.dataset("D"), "f", Operation.UPSERT)) {
                Map<String, SourcePosition> said = Map.of(
                        "t/p",
                        SourcePosition.of(4),
                        "t/q",
                        SourcePosition.of(5),
                        "t/nobody",
                        SourcePosition.of(1));
                assertThat(other.forget(said)).isEqualTo(Map.of("t/p", SourcePosition.of(5)));
                assertThat(server.row("p")).isNotNull();
                assertThat(server.row("q")).isNull();
                // the run of whom that was taken finds its row gone: nothing of the batch is there
                server.feeds.offer("f", parcel("q", 6, 6));
                server.tasks.await(() -> server.feeds.status("f").cause() != null);
                assertThat(server.feeds.status("f").cause()).contains("t/q");
                assertThat(server.store.dataset("D").get("q".hashCode() * 1_000L + 6))
                        .isNull();
                server.feeds.resume("f");
                server.tasks.await(() -> server.feeds.status("f").state() == FeedState.WAITING);
                assertThat(server.send("q", 6, 6)).isEqualTo(new Receipt.Gap(1));
                isTaken(server.send("q", 1, 1), 1);
            }
        }
    }

    @Test
    void a_row_that_was_only_written_anew_ends_no_run() {
        try (Server server = server(new SimDisk(1, Profile.STRICT), START)) {
            isTaken(server.send("p", 1, 5), 5);
            try (FeedDelivery other = FeedDelivery.into(
                    server.store, server.store.dataset("D"), "f", Operation.UPSERT)) {
                other.touch(Map.of("t/p", SourcePosition.of(4)), START + 2 * HOUR);
                isTaken(server.send("p", 6, 6), 6);
                server.passes(HOUR);
                other.touch(Map.of("t/p", SourcePosition.of(6)), START + 2 * HOUR);
                assertThat(Objects.requireNonNull(server.row("p")).get("written_at"))
                        .isNotEqualTo(Instant.ofEpochSecond(START / 1_000_000));
                isTaken(server.send("p", 7, 7), 7);
                assertThat(Objects.requireNonNull(server.row("p")).get("records"))
                        .isEqualTo(7L);
                assertThat(server.feeds.status("f").cause()).isNull();
            }
        }
    }
}
