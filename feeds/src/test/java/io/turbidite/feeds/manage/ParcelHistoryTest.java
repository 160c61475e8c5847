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

import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Histories of clients that send parcels to a feed on a simulated disk, clock and scheduler: they
 * overlap, come twice, leave a gap, the feed is paused and stopped, and the machine loses its power
 * anywhere. What was acknowledged is there. A producer's records are there once: the mode is
 * insert, so one that was applied twice would be a dead letter more.
 */
class ParcelHistoryTest {
    private static final int PRODUCERS = 3;
    private static final int PLAIN_FROM = 100_000_000;
    private static final int BAD_EVERY = 17;

    private static final String DEFINITION = """
        feed: h
        dataset:
          name: H
          type: { id: int64, name: string }
          primaryKey: id
        source: { kind: http }
        parser: { kind: json }
        mode: insert
        """;

    /** Of each second history: what is acknowledged may lie in files. */
    private static final String SPILLING =
            DEFINITION + "policy: { kind: spill, bytesMax: 32MiB }\n";

    private static StoreOptions options() {
        LogOptions log = LogOptions.defaults().withSegmentBytes(1 << 20, 16, 1 << 10, 128 << 10);
        return StoreOptions.defaults()
                .withWriteMemoryBytes(2 << 20)
                .withCacheBytes(2 << 20)
                .withLog(4 << 20, log.withDurability(Durability.SYNC));
    }

    /** What clients know. */
    private static final class Model {
        /** Of each producer, the last record that was acknowledged. */
        final long[] acknowledged = new long[PRODUCERS];

        final TreeSet<Long> plain = new TreeSet<>();

        Model copy() {
            Model copy = new Model();
            System.arraycopy(acknowledged, 0, copy.acknowledged, 0, PRODUCERS);
            copy.plain.addAll(plain);
            return copy;
        }
    }

    private final Map<String, Integer> met = new TreeMap<>();
    private long plainNext = PLAIN_FROM;

    /** The highest record that was ever sent of each producer. */
    private final long[] sent = new long[PRODUCERS];

    @Test
    void what_is_acknowledged_is_there_and_a_producers_once() {
        long first = Seeds.of("ParcelHistoryTest");
        int histories = Tier.count(6, 20, 4_000);
        for (int history = 0; history < histories; history++) {
            run(
                    first + history,
                    "%s history %d".formatted(Seeds.replay("ParcelHistoryTest", first), history));
        }
        assertThat(met.keySet())
                .contains(
                        "power cut",
                        "Taken",
                        "repeated",
                        "Gap",
                        "Away",
                        "Cut",
                        "taken unheard",
                        "spilled",
                        "rests with a spill");
    }

    private String definition = DEFINITION;

    private void run(long seed, String as) {
        SplittableRandom random = new SplittableRandom(seed);
        definition = seed % 2 == 0 ? SPILLING : DEFINITION;
        SimDisk disk = new SimDisk(seed, Profile.ADVERSARIAL);
        Model model = new Model();
        Arrays.fill(sent, 0);
        int rounds = random.nextInt(1, 5);
        for (int round = 0; round < rounds; round++) {
            int cutAt = random.nextInt(250);
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
            serve(disk, seed + round, random, model, as);
            disk.onOperation(done -> {});
            if (image[0] != null) {
                met.merge("power cut", 1, Integer::sum);
                disk = image[0];
                model = then[0];
            }
        }
        finish(disk, seed, model, as);
    }

    private static String text(long id, long number) {
        return number % BAD_EVERY == 5
                ? "{\"id\":%d}\n".formatted(id)
                : "{\"id\":%1$d,\"name\":\"n%1$d\"}\n".formatted(id);
    }

    private static long id(int producer, long number) {
        return (producer + 1) * 1_000_000L + number;
    }

    private static Parcel parcel(int producer, long from, long to) {
        StringBuilder text = new StringBuilder();
        for (long number = from; number <= to; number++) {
            text.append(text(id(producer, number), number));
        }
        return Parcel.of(text.toString().getBytes(StandardCharsets.UTF_8))
                .from("tester", "p" + producer, from);
    }

    private static long bad(long from, long to) {
        long bad = 0;
        for (long number = from; number <= to; number++) {
            bad += number % BAD_EVERY == 5 ? 1 : 0;
        }
        return bad;
    }

    /** A parcel on its way. */
    private record OnWay(Ticket ticket, int producer, long from, long to) {}

    private void serve(SimDisk disk, long seed, SplittableRandom random, Model model, String as) {
        SimClock clock = new SimClock();
        SimTasks tasks = new SimTasks(seed, clock);
        try (Store store = Store.open(disk, tasks, clock, options());
                FeedManager feeds = FeedManager.open(store, random.split())) {
            feeds.startKept();
            feeds.startOrChange(definition, Path.of("."));
            List<OnWay> onWay = new ArrayList<>();
            int actions = random.nextInt(5, 60);
            for (int i = 0; i < actions; i++) {
                if (i == actions / 2 && definition.equals(SPILLING)) {
                    onWay.add(plain(feeds, 9_000)); // more than the ring takes
                    tasks.runForMicros(random.nextInt(4_000));
                    pause(feeds);
                }
                switch (random.nextInt(12)) {
                    case 0 -> change(feeds, random, as);
                    case 1, 2, 3 -> onWay.add(plain(feeds, random));
                    case 4, 5 -> hear(tasks, onWay, random.nextInt(3) > 0, random, model, as);
                    default -> onWay.add(produced(feeds, random, model));
                }
            }
            hear(tasks, onWay, false, random, model, as);
            if (feeds.status("h").spilled() > 0) {
                met.merge("spilled", 1, Integer::sum);
            }
        }
    }

    /** What it says then of the files that it leaves. */
    private void pause(FeedManager feeds) {
        if (feeds.status("h").state().isActive()) {
            feeds.pause("h");
            long waiting = feeds.status("h").spillBytes();
            if (waiting > 0) {
                met.merge("rests with a spill", 1, Integer::sum);
                feeds.retryLetters("h");
                assertThat(feeds.status("h").spillBytes())
                        .as("of a run of letters, which has none")
                        .isEqualTo(waiting);
            }
            feeds.resume("h");
        }
    }

    private static void change(FeedManager feeds, SplittableRandom random, String as) {
        try {
            switch (random.nextInt(5)) {
                case 0 -> feeds.pause("h");
                case 1 -> feeds.stop("h");
                default -> feeds.resume("h");
            }
        } catch (InvalidRequestException notNow) {
            assertThat(notNow.getMessage()).as(as).contains("already");
        }
    }

    private OnWay plain(FeedManager feeds, SplittableRandom random) {
        return plain(feeds, random.nextInt(random.nextInt(8) == 0 ? 1_500 : 20));
    }

    private OnWay plain(FeedManager feeds, int count) {
        long from = plainNext;
        plainNext += count;
        StringBuilder text = new StringBuilder();
        for (long id = from; id < plainNext; id++) {
            text.append(text(id, id));
        }
        byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);
        return new OnWay(feeds.offer("h", Parcel.of(bytes)), -1, from, plainNext - 1);
    }

    private OnWay produced(FeedManager feeds, SplittableRandom random, Model model) {
        int producer = random.nextInt(PRODUCERS);
        long from = random.nextInt(8) == 0
                ? sent[producer] + 2
                : random.nextBoolean()
                        ? model.acknowledged[producer] + 1
                        : Math.max(1, model.acknowledged[producer] + 1 - random.nextInt(40));
        long to = from - 1 + random.nextInt(random.nextInt(8) == 0 ? 1_500 : 60);
        if (from <= sent[producer] + 1) {
            sent[producer] = Math.max(sent[producer], to);
        }
        Ticket ticket = feeds.offer("h", parcel(producer, from, to));
        return new OnWay(ticket, producer, from, to);
    }

    /** Waits for what is on its way, or for some of it; the rest is given up. */
    private void hear(
            SimTasks tasks,
            List<OnWay> onWay,
            boolean patient,
            SplittableRandom random,
            Model model,
            String as) {
        if (patient) {
            tasks.await(() -> onWay.stream().allMatch(one -> one.ticket().isSettled()));
        } else {
            tasks.runForMicros(random.nextInt(20_000));
        }
        for (OnWay one : onWay) {
            Receipt receipt = one.ticket().giveUp("the test is in a hurry");
            met.merge(receipt.getClass().getSimpleName(), 1, Integer::sum);
            long count = one.to() - one.from() + 1;
            switch (receipt) {
                case Receipt.Taken taken -> {
                    assertThat(taken.accepted() + taken.rejected() + taken.repeated())
                            .as(as)
                            .isEqualTo(count);
                    assertThat(taken.rejected())
                            .as("%s: only the bad ones", as)
                            .isEqualTo(bad(one.from() + taken.repeated(), one.to()));
                    assertThat(taken.reasons()).as(as).hasSize((int)
                            Math.min(10, taken.rejected()));
                    met.merge(taken.repeated() > 0 ? "repeated" : "new", 1, Integer::sum);
                    if (one.producer() < 0) {
                        for (long id = one.from(); id <= one.to(); id++) {
                            model.plain.add(id);
                        }
                    } else {
                        assertThat(taken.last()).as(as).isGreaterThanOrEqualTo(one.to());
                        model.acknowledged[one.producer()] =
                                Math.max(model.acknowledged[one.producer()], one.to());
                    }
                }
                case Receipt.Gap(long expected) ->
                    assertThat(expected).as(as).isLessThan(one.from());
                case Receipt.Cut(long taken, String why) -> {
                    assertThat(taken).as("%s: %s", as, why).isBetween(0L, count);
                    if (one.producer() >= 0 && taken > 0) {
                        model.acknowledged[one.producer()] = Math.max(
                                model.acknowledged[one.producer()], one.from() - 1 + taken);
                    }
                }
                case Receipt.Away away -> assertThat(away.why()).as(as).contains("h");
                case Receipt.Full full -> assertThat(full.why()).as(as).contains("requests");
                case Receipt.Malformed _, Receipt.TooManyProducers _ ->
                    throw new AssertionError(as + ": " + receipt);
            }
        }
        onWay.clear();
    }

    /** Each producer sends what it knows nothing of, and more. */
    private void finish(SimDisk disk, long seed, Model model, String as) {
        SimClock clock = new SimClock();
        SimTasks tasks = new SimTasks(seed, clock);
        try (Store store = Store.open(disk, tasks, clock, options());
                FeedManager feeds = FeedManager.open(store, new SplittableRandom(seed))) {
            feeds.startKept();
            feeds.startOrChange(definition, Path.of("."));
            if (!feeds.status("h").state().isActive()) {
                feeds.resume("h");
            }
            for (int p = 0; p < PRODUCERS; p++) {
                long to = sent[p] + 100;
                Receipt receipt =
                        feeds.send("h", parcel(p, model.acknowledged[p] + 1, to), 30_000_000);
                assertThat(receipt).as(as).isInstanceOf(Receipt.Taken.class);
                Receipt.Taken taken = (Receipt.Taken) receipt;
                met.merge(taken.repeated() > 0 ? "taken unheard" : "all heard", 1, Integer::sum);
                assertThat(taken.last()).as(as).isEqualTo(to);
                Map<String, ?> row = Objects.requireNonNull(
                        store.dataset("_feeds").get("h", "tester/p" + p), as);
                assertThat(row.get("rejected"))
                        .as("%s: applied twice, or not", as)
                        .isEqualTo(bad(1, to));
                assertThat(row.get("records")).as(as).isEqualTo(to - bad(1, to));
                for (long number = 1; number <= to; number++) {
                    assertThat(store.dataset("H").get(id(p, number)) != null)
                            .as("%s record %d of %d", as, number, p)
                            .isEqualTo(bad(number, number) == 0);
                }
            }
            for (long id : model.plain) {
                assertThat(store.dataset("H").get(id) != null)
                        .as("%s record %d", as, id)
                        .isEqualTo(bad(id, id) == 0);
            }
            assertThat(store.verify().errors()).as(as).isEmpty();
        }
    }
}
