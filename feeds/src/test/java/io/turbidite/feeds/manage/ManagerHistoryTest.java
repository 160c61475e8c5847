package io.turbidite.feeds.manage;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.log.LogOptions;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.meter.StoreEvent.FeedChanged;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.sim.Tier;
import io.turbidite.feeds.FeedReport;
import io.turbidite.feeds.manage.FeedState.Cue;
import io.turbidite.feeds.manage.TroubledKind.Script;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * Histories of several feeds on a simulated disk, clock and scheduler: records come, sources fail,
 * feeds are paused, resumed, stopped and changed, and the machine loses its power anywhere. In the
 * end each record is there once: the mode is insert, so one that comes twice is a dead letter. So
 * is a record without a name, until the definition takes it and the letters are fed again.
 */
class ManagerHistoryTest {
    private static final List<String> FEEDS = List.of("a", "b", "c");
    private static final int RECORDS = 900;

    private static StoreOptions options() {
        LogOptions log = LogOptions.defaults().withSegmentBytes(1 << 20, 16, 1 << 10, 128 << 10);
        return StoreOptions.defaults()
                .withWriteMemoryBytes(2 << 20)
                .withCacheBytes(2 << 20)
                .withLog(4 << 20, log.withDurability(Durability.SYNC));
    }

    /** Two of them feed one dataset; from version 3 on a record needs no name. */
    private static String definition(String feed, int version) {
        return """
                feed: %s
                dataset:
                  name: %s
                  type: { id: int64, name: string, version: "int32?" }
                  primaryKey: id
                source: { kind: troubled, script: %s }
                parser: { kind: json }
                transform: { version: "int32('%d')"%s }
                mode: insert
                """.formatted(
                        feed,
                        feed.equals("c") ? "E" : "D",
                        feed,
                        version,
                        version < 3 ? "" : ", name: \"coalesce(name, 'none')\"");
    }

    /** What each feed was last asked to be, as far as was answered. */
    private static final class Model {
        final Map<String, FeedState> wanted = new TreeMap<>();

        @Nullable
        String inFlight;

        Model copy() {
            Model copy = new Model();
            copy.wanted.putAll(wanted);
            copy.inFlight = inFlight;
            return copy;
        }
    }

    private final Map<String, Integer> met = new TreeMap<>();

    @Test
    void nothingIsLostOrDoubled() {
        long first = Seeds.of("ManagerHistoryTest");
        int histories = Tier.count(6, 15, 3_000);
        for (int history = 0; history < histories; history++) {
            run(
                    first + history,
                    "%s history %d".formatted(Seeds.replay("ManagerHistoryTest", first), history));
        }
        assertThat(met.keySet())
                .contains(
                        "power cut",
                        "letters taken",
                        "running waiting",
                        "waiting running",
                        "running retrying",
                        "retrying starting",
                        "running failed",
                        "failed starting",
                        "waiting paused",
                        "paused starting",
                        "waiting ended",
                        "ended starting");
    }

    private void run(long seed, String as) {
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < FEEDS.size(); i++) {
            TroubledKind.SCRIPTS.put(FEEDS.get(i), new Script(i * 10_000L));
        }
        SimDisk disk = new SimDisk(seed, Profile.ADVERSARIAL);
        Model model = new Model();
        int rounds = random.nextInt(1, 5);
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
            serve(disk, seed + round, random, model, as);
            disk.onOperation(done -> {});
            if (image[0] != null) {
                met.merge("power cut", 1, Integer::sum);
                disk = image[0];
                model = then[0];
            }
        }
        finish(disk, seed, as);
    }

    private void serve(SimDisk disk, long seed, SplittableRandom random, Model model, String as) {
        SimClock clock = new SimClock();
        SimTasks tasks = new SimTasks(seed, clock);
        try (Store store = Store.open(disk, tasks, clock, options());
                FeedManager feeds = FeedManager.open(store, random.split())) {
            Map<String, Long> retrying = new HashMap<>();
            store.events().listen(event -> check(event, retrying, as));
            for (FeedStatus status : feeds.startKept()) {
                FeedState wanted = model.wanted.get(status.name());
                if (!status.name().equals(model.inFlight)) {
                    assertThat(status.state()).as(as).isEqualTo(wanted);
                }
                model.wanted.put(status.name(), status.state());
            }
            int actions = random.nextInt(5, 60);
            for (int i = 0; i < actions; i++) {
                String feed = FEEDS.get(random.nextInt(FEEDS.size()));
                Script script = Objects.requireNonNull(TroubledKind.SCRIPTS.get(feed));
                script.come = Math.min(
                        RECORDS, script.come + random.nextInt(random.nextInt(6) == 0 ? 600 : 80));
                switch (random.nextInt(30)) {
                    case 0, 1, 2 -> script.troubleIn = 1 + random.nextInt(100);
                    case 3, 4 -> script.failureIn = 1 + random.nextInt(200);
                    case 5 -> tasks.runForMicros(random.nextInt(40_000_000));
                    case 6 -> tasks.runForMicros(random.nextInt(3_000_000));
                    default -> tasks.runForMicros(random.nextInt(100_000));
                }
                model.inFlight = feed;
                try {
                    act(feeds, feed, random, model, retrying);
                } catch (InvalidRequestException notNow) {
                    assertThat(notNow.getMessage())
                            .as(as)
                            .containsAnyOf("already", "there is a feed", "there is no feed");
                }
                model.inFlight = null;
            }
        }
    }

    private void act(
            FeedManager feeds,
            String feed,
            SplittableRandom random,
            Model model,
            Map<String, Long> retrying) {
        switch (random.nextInt(10)) {
            case 0, 1 -> {
                feeds.start(definition(feed, 0), Path.of("."));
                model.wanted.put(feed, FeedState.STARTING);
            }
            case 2 -> {
                feeds.pause(feed);
                model.wanted.put(feed, FeedState.PAUSED);
            }
            case 3, 4 -> {
                retrying.remove(feed);
                feeds.resume(feed);
                model.wanted.put(feed, FeedState.STARTING);
            }
            case 5 -> {
                feeds.stop(feed);
                model.wanted.put(feed, FeedState.ENDED);
            }
            case 6 -> {
                retrying.remove(feed);
                feeds.change(definition(feed, random.nextInt(5)), Path.of("."));
            }
            case 7, 8 -> {
                FeedReport report = feeds.retryLetters(feed);
                assertThat(report.finished()).isTrue();
                met.merge(
                        report.records() > 0 ? "letters taken" : "no letter taken",
                        1,
                        Integer::sum);
            }
            default -> feeds.list();
        }
    }

    private void check(StoreEvent event, Map<String, Long> retrying, String as) {
        if (!(event instanceof FeedChanged changed) || changed.before().isEmpty()) {
            return;
        }
        met.merge(changed.before() + " " + changed.after(), 1, Integer::sum);
        boolean isLegal = false;
        for (FeedState state : FeedState.values()) {
            for (Cue cue : Cue.values()) {
                FeedState after = state.after(cue);
                isLegal |= state.label().equals(changed.before())
                        && after != null
                        && after.label().equals(changed.after());
            }
        }
        assertThat(isLegal).as("%s: %s", as, changed).isTrue();
        if (changed.after().equals("retrying")) {
            retrying.put(changed.feed(), changed.wallMicros());
            assertThat(changed.cause()).as(as).contains("it is away");
        } else {
            Long since = retrying.remove(changed.feed());
            if (since != null && changed.after().equals("starting")) {
                assertThat(changed.wallMicros() - since)
                        .as(as)
                        .isBetween(BackOff.MICROS_MIN, BackOff.MICROS_MAX + 2_000_000);
            }
        }
    }

    /** All records come, nothing fails, and every feed is there and runs. */
    private static void finish(SimDisk disk, long seed, String as) {
        SimClock clock = new SimClock();
        SimTasks tasks = new SimTasks(seed, clock);
        try (Store store = Store.open(disk, tasks, clock, options());
                FeedManager feeds = FeedManager.open(store, new SplittableRandom(seed))) {
            TroubledKind.SCRIPTS.values().forEach(script -> {
                script.troubleIn = 0;
                script.failureIn = 0;
                script.come = RECORDS;
            });
            feeds.startKept();
            for (String feed : FEEDS) {
                feeds.startOrChange(definition(feed, 9), Path.of("."));
                FeedState state = feeds.status(feed).state();
                if (!state.isActive()) {
                    feeds.resume(feed);
                }
                tasks.await(() -> feeds.status(feed).state() == FeedState.WAITING
                        || !feeds.status(feed).state().isActive());
                assertThat(feeds.status(feed))
                        .as(as)
                        .hasFieldOrPropertyWithValue("state", FeedState.WAITING);
                var _ = feeds.retryLetters(feed);
                long fedTo = feeds.letters(feed, 0, 1).retriedTo();
                assertThat(feeds.letters(feed, fedTo, 1).letters()).as(as).isEmpty();
            }
            for (int i = 0; i < FEEDS.size(); i++) {
                String feed = FEEDS.get(i);
                long records = 0;
                for (String partition :
                        List.of("0", "1", "dead-letters/%s.jsonl".formatted(feed))) {
                    Map<String, @Nullable Object> row = Objects.requireNonNull(
                            store.dataset("_feeds").get(feed, partition), as);
                    records += (long) Objects.requireNonNull(row.get("records"));
                }
                assertThat(records).as(as).isEqualTo(RECORDS * Script.PARTITIONS);
                for (long id = 0; id < records; id++) {
                    assertThat(store.dataset(feed.equals("c") ? "E" : "D").get(i * 10_000L + id))
                            .as("%s record %d of %s", as, id, feed)
                            .isNotNull();
                }
            }
            assertThat(store.verify().errors()).as(as).isEmpty();
        }
    }
}
