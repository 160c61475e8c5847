package io.turbidite.feeds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.log.LogOptions;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.type.RecordType;
import io.turbidite.feeds.parse.JsonRecordParser;
import io.turbidite.feeds.source.FeedSource;
import io.turbidite.feeds.source.PartitionState;
import io.turbidite.feeds.source.SourcePosition;
import io.turbidite.feeds.store.FeedDelivery;
import io.turbidite.feeds.store.FeedDelivery.Operation;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BooleanSupplier;

/**
 * A feed whose source repeats, leaves out, swaps and breaks off, and whose machine loses its power
 * at any operation of the disk (R15): in the end each record is in the dataset once, and each bad
 * one is one dead letter. The mode is insert, so that a record delivered twice would show up as a
 * dead letter.
 */
class DeliveryScheduleTest {
    private static final RecordType TYPE =
            RecordType.builder().field("id", "int64").field("name", "string").build();
    private static final int PARTITIONS = 3;
    private static final int RECORDS = 70;

    private static String text(int number) {
        return number % 31 == 7
                ? "{\"id\":\"bad%d\"}".formatted(number)
                : "{\"id\":%d,\"name\":\"name%d\"}".formatted(number, number);
    }

    private static StoreOptions options(Durability durability) {
        LogOptions log = LogOptions.defaults().withSegmentBytes(1 << 20, 16, 1 << 10, 128 << 10);
        return StoreOptions.defaults()
                .withWriteMemoryBytes(2 << 20)
                .withCacheBytes(2 << 20)
                .withLog(4 << 20, log.withDurability(durability));
    }

    private static Dataset dataset(Store store) {
        Dataset there = store.findDataset("D");
        return there != null
                ? there
                : store.createDataset(DatasetSpec.named("D")
                        .field("id", "int64")
                        .field("name", "string")
                        .primaryKey("id"));
    }

    private static FeedRun feed(
            Store store, FeedSource source, FeedDelivery delivery, BooleanSupplier stopped) {
        return new FeedRun(
                new FeedRun.Parts(
                        "f",
                        source,
                        new JsonRecordParser(TYPE, true, List.of()),
                        ',',
                        delivery,
                        store.environment().tasks(),
                        store.environment().clock(),
                        store.events()),
                FeedProgress.none(),
                stopped);
    }

    /** Opens store and feed, and runs once; null, or why it ended before its time. */
    private static @Nullable StorageException run(
            SimDisk disk, long seed, Durability durability, SimulatedSource source) {
        SimClock clock = new SimClock();
        try (Store store =
                Store.open(disk, new SimTasks(seed, clock), clock, options(durability))) {
            try (FeedDelivery delivery =
                    FeedDelivery.into(store, dataset(store), "f", Operation.INSERT)) {
                boolean finished = feed(store, source, delivery, () -> false).run();
                assertThat(finished).isTrue();
                return null;
            } catch (StorageException e) {
                return e;
            }
        }
    }

    private static void isComplete(SimDisk disk, String as) {
        SimClock clock = new SimClock();
        int badCount = 0;
        try (Store store =
                Store.open(disk, new SimTasks(9, clock), clock, options(Durability.SYNC))) {
            Dataset dataset = store.dataset("D");
            for (int i = 0; i < PARTITIONS * RECORDS; i++) {
                boolean isBad = text(i).contains("bad");
                badCount += isBad ? 1 : 0;
                assertThat(dataset.get((long) i) == null)
                        .as("%s record %d", as, i)
                        .isEqualTo(isBad);
            }
            long records = 0;
            for (int p = 0; p < PARTITIONS; p++) {
                Map<String, @Nullable Object> row =
                        Objects.requireNonNull(store.dataset("_feeds").get("f", "p" + p), as);
                assertThat(row.get("position"))
                        .as(as)
                        .isEqualTo(SourcePosition.of(RECORDS).toByteArray());
                records += (long) Objects.requireNonNull(row.get("records"));
            }
            assertThat(records).as(as).isEqualTo(PARTITIONS * RECORDS - badCount);
            assertThat(store.verify().errors()).as(as).isEmpty();
        }
        List<String> letters = new String(
                        disk.content("dead-letters/f.jsonl"), StandardCharsets.UTF_8)
                .lines()
                .toList();
        assertThat(letters).as(as).hasSize(badCount);
        assertThat(new TreeSet<>(letters)).as(as).hasSize(badCount);
    }

    @Test
    void whatTheSourceDoesAndWhereThePowerFailsMakesNoDifference() {
        long first = Seeds.of("DeliveryScheduleTest");
        int schedules = Tier.count(20, 285, 10_000);
        int[] met = new int[3];
        for (int schedule = 0; schedule < schedules; schedule++) {
            long seed = first + schedule;
            String as = "%s schedule %d"
                    .formatted(Seeds.replay("DeliveryScheduleTest", first), schedule);
            SplittableRandom random = new SplittableRandom(seed);
            List<Durability> promises = List.of(Durability.values());
            Durability durability = promises.get(random.nextInt(promises.size()));
            SimulatedSource source = new SimulatedSource(
                    PARTITIONS, RECORDS, DeliveryScheduleTest::text, random.split());
            // what is promised by less than a sync may be taken back by a power cut
            source.forgets = durability == Durability.SYNC && random.nextBoolean();
            SimDisk disk = new SimDisk(seed, Profile.ADVERSARIAL);
            int rounds = random.nextInt(1, 5);
            for (int round = 0; round < rounds; round++) {
                source.mischief = new SimulatedSource.Mischief(
                        random.nextInt(40),
                        random.nextInt(3) == 0 ? random.nextInt(20) : 0,
                        random.nextInt(3) == 0 ? random.nextInt(20) : 0,
                        random.nextInt(60));
                int cutAt = random.nextInt(120);
                int[] step = {0};
                SimDisk[] image = new SimDisk[1];
                Map<String, Long> durableThen = new HashMap<>();
                SimDisk running = disk;
                disk.onOperation(operation -> {
                    if (step[0]++ == cutAt) {
                        durableThen.putAll(source.durable);
                        image[0] = running.crashImage(random.nextLong());
                    }
                });
                StorageException problem = run(disk, seed + round, durability, source);
                disk.onOperation(operation -> {});
                if (problem != null) {
                    assertThat(problem).as(as).hasMessageContaining("the source has left out");
                    met[0]++;
                }
                if (image[0] != null) {
                    disk = image[0];
                    met[1]++;
                    source.durable.clear();
                    source.durable.putAll(durableThen);
                }
            }
            source.mischief = SimulatedSource.Mischief.NONE;
            assertThat(run(disk, seed, durability, source)).as(as).isNull();
            isComplete(disk, as);
            met[2] += source.forgets ? 1 : 0;
        }
        assertThat(met).as("gaps, power cuts, forgetful senders").doesNotContain(0);
    }

    /** On threads: which of them is ahead changes all the time. */
    @Test
    @Timeout(60)
    void ofTwoRunsAtOnceOneTakesEachRecord(@TempDir Path directory) throws InterruptedException {
        long first = Seeds.of("DeliveryScheduleTest#two");
        int rounds = Tier.count(3, 10, 300);
        for (int round = 0; round < rounds; round++) {
            String as = "%s round %d".formatted(Seeds.replay("DeliveryScheduleTest", first), round);
            SplittableRandom random = new SplittableRandom(first + round);
            Path home = directory.resolve("store" + round);
            try (Store store = Store.open(home, options(Durability.PROCESS))) {
                Dataset dataset = dataset(store);
                List<Thread> threads = new ArrayList<>();
                Queue<Throwable> wrong = new ConcurrentLinkedQueue<>();
                // their deliveries are there before either has taken anything
                for (int i = 0; i < 2; i++) {
                    SimulatedSource source =
                            new SimulatedSource(PARTITIONS, RECORDS, n -> good(n), random.split());
                    FeedDelivery delivery =
                            FeedDelivery.into(store, dataset, "f", Operation.INSERT);
                    threads.add(Thread.ofPlatform().unstarted(() -> {
                        try (delivery) {
                            var _ = feed(store, source, delivery, () -> false).run();
                        } catch (InvalidRequestException overtaken) {
                            if (!String.valueOf(overtaken.getMessage())
                                    .contains("another run of the feed")) {
                                wrong.add(overtaken);
                            }
                        } catch (RuntimeException | Error e) {
                            wrong.add(e);
                        }
                    }));
                }
                threads.forEach(Thread::start);
                for (Thread thread : threads) {
                    thread.join();
                }
                assertThat(wrong).as(as).isEmpty();
                try (FeedDelivery delivery =
                        FeedDelivery.into(store, dataset, "f", Operation.INSERT)) {
                    SimulatedSource source =
                            new SimulatedSource(PARTITIONS, RECORDS, n -> good(n), random.split());
                    assertThat(feed(store, source, delivery, () -> false).run()).isTrue();
                    assertThat(delivery.deadLetters()).as(as).isNull();
                }
                for (int i = 0; i < PARTITIONS * RECORDS; i++) {
                    assertThat(dataset.get((long) i)).as(as).isNotNull();
                }
                long records = 0;
                for (int p = 0; p < PARTITIONS; p++) {
                    records += (long) Objects.requireNonNull(
                            Objects.requireNonNull(store.dataset("_feeds").get("f", "p" + p))
                                    .get("records"));
                }
                assertThat(records).as(as).isEqualTo(PARTITIONS * RECORDS);
            }
        }
    }

    private static String good(int number) {
        return "{\"id\":%d,\"name\":\"name%d\"}".formatted(number, number);
    }

    /** The row moves on behind the check that comes first: while dead letters are written. */
    @Test
    void aBatchWhoseRowHasMovedMeanwhileDoesNothing() {
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        SimulatedSource source = new SimulatedSource(
                1, RECORDS, DeliveryScheduleTest::text, new SplittableRandom(1));
        SimClock clock = new SimClock();
        try (Store store =
                Store.open(disk, new SimTasks(1, clock), clock, options(Durability.SYNC))) {
            Dataset dataset = dataset(store);
            try (FeedDelivery delivery = FeedDelivery.into(store, dataset, "f", Operation.INSERT)) {
                boolean[] done = {false};
                disk.onOperation(operation -> {
                    if (!done[0] && operation.name().startsWith("dead-letters/f")) {
                        done[0] = true;
                        store.dataset("_feeds")
                                .upsert(Map.of(
                                        "feed",
                                        "f",
                                        "file",
                                        "p0",
                                        "position",
                                        SourcePosition.of(1).toByteArray(),
                                        "records",
                                        1L,
                                        "rejected",
                                        0L));
                    }
                });
                FeedRun run = feed(store, source, delivery, () -> false);
                assertThatThrownBy(run::run)
                        .isInstanceOf(InvalidRequestException.class)
                        .hasMessageContaining("another run of the feed has read p0 on");
                assertThat(done[0]).isTrue();
                disk.onOperation(operation -> {});
            }
            for (int i = 0; i < 7; i++) {
                assertThat(dataset.get((long) i)).isNull();
            }
            // the next one goes on where that other run was
            try (FeedDelivery delivery = FeedDelivery.into(store, dataset, "f", Operation.INSERT)) {
                assertThat(feed(store, source, delivery, () -> false).run()).isTrue();
                assertThat(delivery.accepted()).isEqualTo(RECORDS - 1 - 3);
            }
        }
    }

    /** The bug: each further run of an open feed ended at its first dead letter. */
    @Test
    void a_feed_whose_dead_letters_could_not_be_written_runs_again_without_being_opened_anew() {
        for (OperationKind kind :
                List.of(OperationKind.CREATE, OperationKind.WRITE, OperationKind.SYNC)) {
            for (int call = 1; call <= 2; call++) {
                String as = "%s %d".formatted(kind, call);
                SimDisk disk = new SimDisk(1, Profile.STRICT);
                SimulatedSource source = new SimulatedSource(
                        PARTITIONS, RECORDS, DeliveryScheduleTest::text, new SplittableRandom(1));
                SimClock clock = new SimClock();
                FaultScript fault = FaultScript.with(Fault.EIO)
                        .on(kind)
                        .named(name -> name.startsWith("dead-letters/"))
                        .call(call);
                try (Store store = Store.open(
                                disk, new SimTasks(1, clock), clock, options(Durability.SYNC));
                        FeedDelivery delivery =
                                FeedDelivery.into(store, dataset(store), "f", Operation.INSERT)) {
                    disk.fault(fault);
                    boolean finished = false;
                    for (int i = 0; i < 200 && !finished; i++) {
                        try {
                            finished =
                                    feed(store, source, delivery, () -> false).run();
                        } catch (StorageException e) {
                            assertThat(e.getMessage()).as(as).doesNotContain("opened again");
                        }
                    }
                    assertThat(finished).as(as).isTrue();
                }
                assertThat(fault.hitCount())
                        .as(as)
                        .isEqualTo(kind == OperationKind.CREATE ? 2 - call : 1);
                isComplete(disk, as);
            }
        }
    }

    @Test
    void positionsAreOrderedAndBounded() {
        assertThat(SourcePosition.of(9)).isLessThan(SourcePosition.of(300));
        assertThat(SourcePosition.of(new byte[] {1}))
                .isLessThan(SourcePosition.of(new byte[] {(byte) 0x80}))
                .isEqualTo(SourcePosition.of(new byte[] {1}))
                .hasToString("01");
        assertThat(SourcePosition.of(new byte[SourcePosition.BYTES_MAX]).toByteArray())
                .hasSize(1_024);
        assertThatThrownBy(() -> SourcePosition.of(new byte[SourcePosition.BYTES_MAX + 1]))
                .isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> SourcePosition.of(-1)).isInstanceOf(InvalidRequestException.class);
        PartitionState state = new PartitionState(SourcePosition.of(7), 1, 7, 0);
        assertThat(state.position().number()).isEqualTo(7);
    }
}
