package io.turbidite.feeds.manage;

import static org.assertj.core.api.Assertions.assertThat;

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
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * Histories of producers that send, repeat, ask and are silent for days, while the clock is set,
 * the feed begins anew, the process too, and the machine loses its power. Nobody is asked to begin
 * anew who was seen within seven days; and what was acknowledged is there, whatever was forgotten.
 */
class ProducerHistoryTest {
    private static final long HOUR = 3_600_000_000L;
    private static final long DAY = 24 * HOUR;
    private static final long START = 1_800_000_000_000_000L;
    private static final int PRODUCERS = 3;
    private static final int EPOCH_RECORDS = 10_000;

    private static final String DEFINITION = """
            feed: h
            dataset: { name: H, type: { id: int64, name: string }, primaryKey: id }
            source: { kind: http }
            parser: { kind: json }
            mode: insert
            """;

    private static final List<String> POLICIES =
            List.of("", "workers: 2\n", "policy: { kind: spill, bytesMax: 32MiB }\n");

    private final Map<String, Integer> met = new TreeMap<>();

    /** What clients know, and the time that has truly gone by. */
    private static final class Model {
        /** Of each producer: how often it had to begin anew, since then, and when it was seen. */
        final long[] epoch = new long[PRODUCERS];

        final long[] acknowledged = new long[PRODUCERS];
        final long[] seen = new long[PRODUCERS];

        /** When it sent last, heard or unheard. */
        final long[] sent = new long[PRODUCERS];

        /** The last number that was taken in each epoch that is over. */
        final List<long[]> over = new ArrayList<>();

        long nowMicros;

        Model copy() {
            Model copy = new Model();
            System.arraycopy(epoch, 0, copy.epoch, 0, PRODUCERS);
            System.arraycopy(acknowledged, 0, copy.acknowledged, 0, PRODUCERS);
            System.arraycopy(seen, 0, copy.seen, 0, PRODUCERS);
            System.arraycopy(sent, 0, copy.sent, 0, PRODUCERS);
            copy.over.addAll(over);
            copy.nowMicros = nowMicros;
            return copy;
        }
    }

    private static long id(int producer, long epoch, long number) {
        return (producer * 1_000L + epoch) * EPOCH_RECORDS + number;
    }

    private static Parcel parcel(Model model, int producer, long from, long to) {
        StringBuilder text = new StringBuilder();
        for (long number = from; number <= to; number++) {
            text.append("{\"id\":%d,\"name\":\"n\"}\n"
                    .formatted(id(producer, model.epoch[producer], number)));
        }
        return Parcel.of(text.toString().getBytes(StandardCharsets.UTF_8))
                .from("t", "p" + producer, from);
    }

    @Test
    void nobody_who_was_seen_within_seven_days_is_forgotten_and_nothing_is_lost_of_who_is() {
        long first = Seeds.of("ProducerHistoryTest");
        int histories = Tier.count(8, 200, 4_000);
        for (int history = 0; history < histories; history++) {
            run(
                    first + history,
                    "%s history %d".formatted(Seeds.replay("ProducerHistoryTest", first), history));
        }
        assertThat(met.keySet())
                .contains("began anew", "power cut", "Taken", "repeated", "asked", "clock set");
    }

    private void run(long seed, String as) {
        SplittableRandom random = new SplittableRandom(seed);
        String definition = DEFINITION + POLICIES.get((int) Math.floorMod(seed, 3L));
        SimDisk disk = new SimDisk(seed, Profile.ADVERSARIAL);
        Model model = new Model();
        model.nowMicros = START;
        int rounds = random.nextInt(2, 7);
        for (int round = 0; round < rounds; round++) {
            int cutAt = random.nextInt(400);
            int[] operation = {0};
            SimDisk[] image = new SimDisk[1];
            Model[] then = new Model[1];
            SimDisk running = disk;
            Model now = model;
            disk.onOperation(done -> {
                if (operation[0]++ == cutAt) {
                    then[0] = now.copy();
                    image[0] = running.crashImage(random.nextLong());
                }
            });
            serve(disk, definition, seed + round, random, model, as);
            disk.onOperation(done -> {});
            if (image[0] != null) {
                met.merge("power cut", 1, Integer::sum);
                disk = image[0];
                model = then[0];
            }
            model.nowMicros += random.nextLong(5 * DAY);
        }
        finish(disk, definition, seed, model, as);
    }

    private static StoreOptions options() {
        LogOptions log = LogOptions.defaults().withSegmentBytes(1 << 20, 16, 1 << 10, 128 << 10);
        return StoreOptions.defaults()
                .withWriteMemoryBytes(2 << 20)
                .withCacheBytes(2 << 20)
                .withLog(4 << 20, log.withDurability(Durability.SYNC));
    }

    private void serve(
            SimDisk disk,
            String definition,
            long seed,
            SplittableRandom random,
            Model model,
            String as) {
        SimClock clock = new SimClock();
        clock.jumpWallMicros(model.nowMicros - clock.wallMicros());
        SimTasks tasks = new SimTasks(seed, clock);
        long began = model.nowMicros;
        long beganNanos = clock.monotonicNanos();
        try (Store store = Store.open(disk, tasks, clock, options());
                FeedManager feeds = FeedManager.open(store, random.split())) {
            feeds.startKept();
            feeds.startOrChange(definition, Path.of("."));
            if (feeds.status("h").state() == FeedState.PAUSED) {
                feeds.resume("h"); // the power went between the two
            }
            tasks.await(() -> feeds.status("h").state() == FeedState.WAITING);
            int actions = random.nextInt(3, 25);
            long offset = 0;
            for (int i = 0; i < actions; i++) {
                int producer = random.nextInt(PRODUCERS);
                switch (random.nextInt(10)) {
                    case 0 -> clock.advanceMicros(random.nextLong(9 * DAY));
                    case 1 -> clock.advanceMicros(random.nextLong(3 * HOUR));
                    case 2 -> {
                        long[] offsets = {0, HOUR, -HOUR, 8 * DAY};
                        long before = offset;
                        offset = offsets[random.nextInt(4)];
                        clock.jumpWallMicros(offset - before);
                        met.merge("clock set", 1, Integer::sum);
                    }
                    case 3 -> {
                        feeds.pause("h");
                        feeds.resume("h");
                        tasks.await(() -> feeds.status("h").state() == FeedState.WAITING);
                    }
                    case 4 -> tasks.runForMicros(random.nextLong(400_000));
                    case 5 -> {
                        long asked = feeds.durableTo("h", "t", "p" + producer);
                        tasks.runForMicros(100_000); // it is noted a little later
                        model.nowMicros = began + (clock.monotonicNanos() - beganNanos) / 1_000;
                        hearsNumber(model, producer, asked, as);
                    }
                    default -> {
                        send(feeds, clock, beganNanos, began, random, model, producer, as);
                    }
                }
                model.nowMicros = began + (clock.monotonicNanos() - beganNanos) / 1_000;
            }
        }
    }

    /** Who asks goes on behind what he is told. */
    private void hearsNumber(Model model, int producer, long asked, String as) {
        met.merge("asked", 1, Integer::sum);
        if (asked < model.acknowledged[producer]) {
            assertThat(asked).as(as).isZero();
            beginsAnew(model, producer, as);
            return; // it is nobody yet
        }
        if (asked > 0) {
            model.seen[producer] = model.nowMicros;
        }
    }

    private void beginsAnew(Model model, int producer, String as) {
        assertThat(model.nowMicros - model.seen[producer])
                .as("%s: producer %d was seen lately", as, producer)
                .isGreaterThanOrEqualTo(7 * DAY);
        model.over.add(new long[] {producer, model.epoch[producer], model.acknowledged[producer]});
        model.epoch[producer]++;
        model.acknowledged[producer] = 0;
        met.merge("began anew", 1, Integer::sum);
    }

    private void send(
            FeedManager feeds,
            SimClock clock,
            long beganNanos,
            long began,
            SplittableRandom random,
            Model model,
            int producer,
            String as) {
        long last = model.acknowledged[producer];
        boolean repeats = random.nextInt(3) == 0 && last > 1;
        long from = repeats ? random.nextLong(2, last + 1) : last + 1;
        long to = repeats ? last : last + random.nextInt(1, 6);
        long before = model.nowMicros;
        long sentBefore = model.sent[producer];
        model.sent[producer] = before;
        Receipt receipt = feeds.send("h", parcel(model, producer, from, to), 30_000_000);
        model.nowMicros = began + (clock.monotonicNanos() - beganNanos) / 1_000;
        met.merge(receipt.getClass().getSimpleName(), 1, Integer::sum);
        switch (receipt) {
            case Receipt.Taken taken -> {
                boolean mayBeNew = from == 1 && before - sentBefore >= 7 * DAY;
                assertThat(taken.rejected() == 0 || mayBeNew)
                        .as("%s: applied twice: %s", as, taken)
                        .isTrue();
                met.merge(taken.repeated() > 0 ? "repeated" : "new", 1, Integer::sum);
                model.acknowledged[producer] = Math.max(last, to);
                model.seen[producer] = model.nowMicros;
            }
            case Receipt.Gap(long expected) -> {
                assertThat(expected).as(as).isEqualTo(1);
                model.nowMicros = before;
                beginsAnew(model, producer, as);
            }
            default -> throw new AssertionError(as + ": " + receipt);
        }
    }

    private void finish(SimDisk disk, String definition, long seed, Model model, String as) {
        SimClock clock = new SimClock();
        clock.jumpWallMicros(model.nowMicros - clock.wallMicros());
        SimTasks tasks = new SimTasks(seed, clock);
        try (Store store = Store.open(disk, tasks, clock, options());
                FeedManager feeds = FeedManager.open(store, new SplittableRandom(seed))) {
            feeds.startKept();
            feeds.startOrChange(definition, Path.of("."));
            if (feeds.status("h").state() == FeedState.PAUSED) {
                feeds.resume("h"); // the power went between the two
            }
            tasks.await(() -> feeds.status("h").state() == FeedState.WAITING);
            for (int p = 0; p < PRODUCERS; p++) {
                model.over.add(new long[] {p, model.epoch[p], model.acknowledged[p]});
            }
            for (long[] epoch : model.over) {
                for (long number = 1; number <= epoch[2]; number++) {
                    assertThat(store.dataset("H").get(id((int) epoch[0], epoch[1], number)))
                            .as("%s record %d of %d, epoch %d", as, number, epoch[0], epoch[1])
                            .isNotNull();
                }
            }
            assertThat(store.verify().errors()).as(as).isEmpty();
        }
    }
}
