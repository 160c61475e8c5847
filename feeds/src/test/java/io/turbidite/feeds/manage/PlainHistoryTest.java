package io.turbidite.feeds.manage;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.log.LogOptions;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.sim.Tier;
import io.turbidite.feeds.source.parcel.Parcel;
import io.turbidite.feeds.source.parcel.Receipt;
import io.turbidite.feeds.source.parcel.Ticket;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * Histories of a client without a name that writes the same keys over and over, by upsert, and
 * sends again, in sequence, what it got no answer for: after its feed was paused or stopped, and
 * after the machine lost its power. Records come more than once; in the end each key has what was
 * written last.
 */
class PlainHistoryTest {
    private static final int KEYS = 1_009;
    private static final int WRITES = 1_500;
    private static final int ON_WAY_MAX = 8;

    private final Map<String, Integer> met = new TreeMap<>();

    private record OnWay(Ticket ticket, int to) {}

    private static StoreOptions options() {
        LogOptions log = LogOptions.defaults().withSegmentBytes(1 << 20, 16, 1 << 10, 128 << 10);
        return StoreOptions.defaults()
                .withWriteMemoryBytes(2 << 20)
                .withCacheBytes(2 << 20)
                .withLog(4 << 20, log.withDurability(Durability.SYNC));
    }

    @Test
    void what_is_sent_again_gives_the_same_records_by_upsert() {
        long first = Seeds.of("PlainHistoryTest");
        int histories = Tier.count(8, 40, 4_000);
        for (int history = 0; history < histories; history++) {
            play(
                    first + history,
                    "%s history %d".formatted(Seeds.replay("PlainHistoryTest", first), history));
        }
        assertThat(met.keySet()).contains("power cut", "Cut", "Away", "sent twice", "http", "tcp");
    }

    private static String definition(String kind) {
        return """
            feed: h
            dataset:
              name: H
              type: { id: int64, name: string }
              primaryKey: id
            source: { kind: %s }
            parser: { kind: json }
            mode: upsert
            """.formatted(kind);
    }

    private void play(long seed, String as) {
        SplittableRandom random = new SplittableRandom(seed);
        String kind = random.nextBoolean() ? "http" : "tcp";
        met.merge(kind, 1, Integer::sum);
        String definition = definition(kind);
        SimDisk disk = new SimDisk(seed, Profile.ADVERSARIAL);
        int[] acknowledged = {0};
        int rounds = random.nextInt(1, 6);
        for (int round = 0; round < rounds; round++) {
            int cutAt = random.nextInt(250);
            int[] operation = {0};
            SimDisk[] image = new SimDisk[1];
            int[] then = {0};
            SimDisk running = disk;
            disk.onOperation(done -> {
                if (operation[0]++ == cutAt) {
                    then[0] = acknowledged[0];
                    image[0] = running.crashImage(random.nextLong());
                }
            });
            serve(disk, seed + round, random, definition, acknowledged, as);
            disk.onOperation(done -> {});
            if (image[0] != null) {
                met.merge("power cut", 1, Integer::sum);
                disk = image[0];
                acknowledged[0] = then[0];
            }
        }
        finish(disk, seed, definition, acknowledged, as);
    }

    private static Parcel parcel(int from, int to) {
        StringBuilder text = new StringBuilder();
        for (int write = from; write <= to; write++) {
            text.append("{\"id\":%d,\"name\":\"write %d\"}\n".formatted(write % KEYS, write));
        }
        return Parcel.of(text.toString().getBytes(StandardCharsets.UTF_8));
    }

    private void serve(
            SimDisk disk,
            long seed,
            SplittableRandom random,
            String definition,
            int[] acknowledged,
            String as) {
        SimClock clock = new SimClock();
        SimTasks tasks = new SimTasks(seed, clock);
        try (Store store = Store.open(disk, tasks, clock, options());
                FeedManager feeds = FeedManager.open(store, random.split())) {
            feeds.startKept();
            feeds.startOrChange(definition, Path.of("."));
            ArrayDeque<OnWay> onWay = new ArrayDeque<>();
            int sentTo = acknowledged[0];
            int actions = random.nextInt(5, 60);
            for (int i = 0; i < actions; i++) {
                if (random.nextInt(8) == 0) {
                    change(feeds, random, as);
                }
                if (random.nextBoolean()) {
                    tasks.runForMicros(random.nextInt(20_000));
                }
                if (!hear(onWay, acknowledged, as)) {
                    // nothing of it is read any more, and all behind what was taken is sent again
                    tasks.await(() -> onWay.stream().allMatch(one -> one.ticket.isSettled()));
                    onWay.clear();
                    sentTo = acknowledged[0];
                }
                if (onWay.size() < ON_WAY_MAX && sentTo < WRITES) {
                    int to = Math.min(WRITES, sentTo + random.nextInt(1, 60));
                    onWay.add(new OnWay(feeds.offer("h", parcel(sentTo + 1, to)), to));
                    sentTo = to;
                }
            }
            hear(onWay, acknowledged, as);
            met.merge(feeds.status("h").spilled() > 0 ? "spilled" : "not spilled", 1, Integer::sum);
        }
    }

    private static void change(FeedManager feeds, SplittableRandom random, String as) {
        try {
            switch (random.nextInt(4)) {
                case 0 -> feeds.pause("h");
                case 1 -> feeds.stop("h");
                default -> feeds.resume("h");
            }
        } catch (InvalidRequestException notNow) {
            assertThat(notNow.getMessage()).as(as).contains("already");
        }
    }

    /** The answers, in sequence; false behind the first one that is not to have been taken. */
    private boolean hear(ArrayDeque<OnWay> onWay, int[] acknowledged, String as) {
        while (!onWay.isEmpty() && onWay.element().ticket.isSettled()) {
            Receipt receipt = onWay.element().ticket.receipt();
            met.merge(receipt.getClass().getSimpleName(), 1, Integer::sum);
            if (!(receipt instanceof Receipt.Taken taken)) {
                assertThat(receipt)
                        .as(as)
                        .isInstanceOfAny(Receipt.Cut.class, Receipt.Away.class, Receipt.Full.class);
                return false;
            }
            assertThat(taken.rejected() + taken.dropped() + taken.repeated())
                    .as(as)
                    .isZero();
            acknowledged[0] = onWay.remove().to;
        }
        return true;
    }

    private void finish(SimDisk disk, long seed, String definition, int[] acknowledged, String as) {
        SimClock clock = new SimClock();
        SimTasks tasks = new SimTasks(seed, clock);
        try (Store store = Store.open(disk, tasks, clock, options());
                FeedManager feeds = FeedManager.open(store, new SplittableRandom(seed))) {
            feeds.startKept();
            feeds.startOrChange(definition, Path.of("."));
            if (!feeds.status("h").state().isActive()) {
                feeds.resume("h");
            }
            rest(tasks, feeds);
            // what was acknowledged is there, before anything is sent again
            for (int write = Math.max(1, acknowledged[0] - KEYS + 1);
                    write <= acknowledged[0];
                    write++) {
                assertThat(written(store, write % KEYS))
                        .as("%s acknowledged %d", as, write)
                        .isGreaterThanOrEqualTo(write);
            }
            if (acknowledged[0] < WRITES) {
                assertThat(feeds.send("h", parcel(acknowledged[0] + 1, WRITES), 30_000_000))
                        .as(as)
                        .isInstanceOf(Receipt.Taken.class);
            }
            rest(tasks, feeds);
            for (int write = WRITES - KEYS + 1; write <= WRITES; write++) {
                assertThat(written(store, write % KEYS))
                        .as("%s of %d", as, write)
                        .isEqualTo(write);
            }
            Map<String, @Nullable Object> row =
                    Objects.requireNonNull(store.dataset("_feeds").get("h", "plain"), as);
            long records = (long) Objects.requireNonNull(row.get("records"));
            assertThat(records).as(as).isGreaterThanOrEqualTo(WRITES);
            met.merge(records > WRITES ? "sent twice" : "sent once", 1, Integer::sum);
            assertThat(store.verify().errors()).as(as).isEmpty();
        }
    }

    /** Until all that was sent is in the store. */
    private static void rest(SimTasks tasks, FeedManager feeds) {
        tasks.await(() -> feeds.status("h").state() == FeedState.WAITING);
    }

    /** Which write a key has; 0 for none. */
    private static int written(Store store, long key) {
        Map<String, @Nullable Object> there = store.dataset("H").get(key);
        return there == null
                ? 0
                : Integer.parseInt(List.of(String.valueOf(there.get("name")).split(" ", -1))
                        .getLast());
    }
}
