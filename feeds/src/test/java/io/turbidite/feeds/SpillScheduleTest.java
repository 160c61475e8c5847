package io.turbidite.feeds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.ForwardingDisk;
import io.turbidite.core.file.ForwardingFile;
import io.turbidite.core.log.Durability;
import io.turbidite.core.log.LogOptions;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.type.RecordType;
import io.turbidite.feeds.flow.SpillPlace;
import io.turbidite.feeds.flow.WorkerPolicy;
import io.turbidite.feeds.parse.JsonRecordParser;
import io.turbidite.feeds.source.SourcePosition;
import io.turbidite.feeds.store.FeedDelivery;
import io.turbidite.feeds.store.FeedDelivery.Operation;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/**
 * A feed that spills (R15): its machine loses its power at any operation of the disk, between
 * reading, spilling, syncing, delivering and telling; it is stopped, or its disk is full. In the
 * end each record is in the dataset once, and each bad one is one dead letter; a sender that
 * forgets what it was told to be durable never misses any of it.
 */
class SpillScheduleTest {
    private static final RecordType TYPE =
            RecordType.builder().field("id", "int64").field("name", "string").build();
    private static final int PARTITIONS = 2;
    private static final int RECORDS = 400;

    private final Map<String, Integer> met = new TreeMap<>();

    /** A disk that has now and then no space for a spill; what it had is written. */
    private record NarrowDisk(Disk disk, SplittableRandom random) implements ForwardingDisk {
        @Override
        public DiskFile wrap(DiskFile file) {
            return file.name().endsWith(".spill") ? new NarrowFile(file, random) : file;
        }

        @Override
        public String description() {
            return "narrow " + disk.description();
        }
    }

    private record NarrowFile(DiskFile file, SplittableRandom random) implements ForwardingFile {
        @Override
        public void write(long at, MemorySegment source, long from, int byteCount) {
            if (random.nextInt(3) == 0) {
                file.write(at, source, from, random.nextInt(byteCount));
                throw new StorageIoException(
                        StorageIoException.Kind.NO_SPACE, "write", name(), "no space", null);
            }
            file.write(at, source, from, byteCount);
        }
    }

    /** A disk on which nobody may make a file of a spill. */
    private record ClosedDisk(Disk disk) implements ForwardingDisk {
        @Override
        public DiskFile wrap(DiskFile file) {
            return file;
        }

        @Override
        public DiskFile create(String name) {
            if (name.endsWith(".spill")) {
                throw new StorageIoException(
                        StorageIoException.Kind.IO, "create", name, "permission denied", null);
            }
            return disk.create(name);
        }

        @Override
        public String description() {
            return "closed " + disk.description();
        }
    }

    /** A disk that says it has synced what it has not: bugs to be planted. */
    private record CarelessDisk(Disk disk, Predicate<String> skips) implements ForwardingDisk {
        @Override
        public DiskFile wrap(DiskFile file) {
            return skips.test(file.name()) ? new UnsyncedFile(file) : file;
        }

        @Override
        public void syncDirectory(String directory) {
            if (!skips.test(directory)) {
                disk.syncDirectory(directory);
            }
        }

        @Override
        public String description() {
            return "careless " + disk.description();
        }
    }

    private record UnsyncedFile(DiskFile file) implements ForwardingFile {
        @Override
        public void sync() {
            // the bug
        }
    }

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

    /** One schedule's choices; {@code disk} is in front of the spill. */
    private record Choice(
            Durability durability,
            boolean forgets,
            long bytesMax,
            int segmentBytes,
            UnaryOperator<Disk> disk) {
        SpillPlace place(SimDisk simulated) {
            return new SpillPlace(
                    disk.apply(simulated),
                    forgets ? "feed-spill/f" : "spill",
                    forgets ? "" : "feed-f-",
                    forgets,
                    77,
                    bytesMax,
                    segmentBytes,
                    0);
        }
    }

    /** Opens store and feed, and runs once; null, or why it ended before its time. */
    private @Nullable StorageException run(
            SimDisk disk, long seed, Choice choice, SimulatedSource source, int stopsAfter) {
        SimClock clock = new SimClock();
        int[] asked = {0};
        try (Store store =
                Store.open(disk, new SimTasks(seed, clock), clock, options(choice.durability))) {
            try (FeedDelivery delivery =
                    FeedDelivery.into(store, dataset(store), "f", Operation.INSERT)) {
                FeedRun run = new FeedRun(
                        new FeedRun.Parts(
                                "f",
                                source,
                                () -> ParseTools.of(new JsonRecordParser(TYPE, true, List.of())),
                                WorkerPolicy.fixed(1),
                                ',',
                                delivery,
                                store.environment().tasks(),
                                store.environment().clock(),
                                store.events(),
                                choice.place(disk)),
                        FeedProgress.none(),
                        () -> asked[0]++ > stopsAfter);
                boolean finished = run.run();
                met.merge(finished ? "finished" : "stopped", 1, Integer::sum);
                if (run.spilled() > 0) {
                    met.merge("spilled", 1, Integer::sum);
                }
                if (finished) {
                    assertThat(disk.files()).noneMatch(name -> name.endsWith(".spill"));
                }
                return null;
            } catch (StorageException e) {
                return e;
            }
        }
    }

    @Test
    void whatWaitsInFilesIsNeitherLostNorRepeated() {
        long first = Seeds.of("SpillScheduleTest");
        int schedules = Tier.count(15, 150, 5_000);
        for (int schedule = 0; schedule < schedules; schedule++) {
            String as =
                    "%s schedule %d".formatted(Seeds.replay("SpillScheduleTest", first), schedule);
            run(first + schedule, as, null);
        }
        assertThat(met.keySet())
                .contains("spilled", "stopped", "finished", "power cut", "left", "forgetful");
    }

    @Test
    void aSpillThatCanNotBeMadeEndsTheRunByItsPathAndCostsNothing() {
        int[] ended = {0};
        for (long seed = 1; seed <= 8; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            SimulatedSource source = new SimulatedSource(
                    PARTITIONS, RECORDS, SpillScheduleTest::text, random.split());
            source.forgets = true;
            SimDisk disk = new SimDisk(seed, Profile.ADVERSARIAL);
            Choice closed = new Choice(Durability.SYNC, true, 1 << 18, 1 << 12, ClosedDisk::new);
            StorageException problem = run(disk, seed, closed, source, Integer.MAX_VALUE);
            if (problem != null) {
                ended[0]++;
                assertThat(problem)
                        .isInstanceOf(StorageIoException.class)
                        .hasMessageContainingAll("feed-spill/f/", ".spill", "permission denied");
            }
            Choice open = new Choice(Durability.SYNC, true, 1 << 18, 1 << 12, now -> now);
            assertThat(run(disk, seed, open, source, Integer.MAX_VALUE)).isNull();
            isComplete(disk, "seed " + seed);
        }
        assertThat(ended[0]).isPositive();
    }

    @Test
    void aSpillThatIsNotSyncedIsFound() {
        Map<String, Predicate<String>> bugs = Map.of(
                "segments",
                name -> name.endsWith(".spill"),
                "their names",
                name -> name.equals("feed-spill/f"),
                "the name of their directory",
                name -> name.equals("feed-spill"));
        long first = Seeds.of("SpillScheduleTest#planted");
        bugs.forEach((bug, skips) -> assertThatThrownBy(() -> {
                    for (int i = 0; i < 300; i++) {
                        run(first + i, "seed %d".formatted(first + i), skips);
                    }
                })
                .as(bug)
                .isInstanceOf(AssertionError.class));
    }

    /** @param skips what a careless disk does not sync; null for one that is not */
    private void run(long seed, String as, @Nullable Predicate<String> skips) {
        SplittableRandom random = new SplittableRandom(seed);
        List<Durability> promises = List.of(Durability.values());
        Durability durability = promises.get(random.nextInt(promises.size()));
        // what is promised by less than a sync may be taken back by a power cut
        boolean forgets = durability == Durability.SYNC && random.nextInt(4) > 0;
        SplittableRandom ofSpace = random.split();
        UnaryOperator<Disk> front = skips != null
                ? disk -> new CarelessDisk(disk, skips)
                : random.nextInt(3) == 0 ? disk -> new NarrowDisk(disk, ofSpace) : disk -> disk;
        Choice choice = new Choice(
                durability,
                forgets,
                1L << random.nextInt(10, 18),
                1 << random.nextInt(8, 14),
                front);
        SimulatedSource source =
                new SimulatedSource(PARTITIONS, RECORDS, SpillScheduleTest::text, random.split());
        source.forgets = forgets;
        SimDisk disk = new SimDisk(seed, Profile.ADVERSARIAL);
        int rounds = random.nextInt(1, 6);
        for (int round = 0; round < rounds; round++) {
            int cutAt = random.nextInt(random.nextBoolean() ? 60 : 400);
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
            int stopsAfter = random.nextBoolean() ? random.nextInt(1_000) : Integer.MAX_VALUE;
            StorageException problem = run(disk, seed + round, choice, source, stopsAfter);
            assertThat(problem).as(as).isNull();
            disk.onOperation(operation -> {});
            if (image[0] != null && random.nextInt(4) > 0) {
                disk = image[0];
                met.merge("power cut", 1, Integer::sum);
                source.durable.clear();
                source.durable.putAll(durableThen);
            }
            if (disk.files().stream().anyMatch(name -> name.startsWith("feed-spill/"))) {
                met.merge("left", 1, Integer::sum);
            }
            met.merge(forgets ? "forgetful" : "goes back", 1, Integer::sum);
        }
        assertThat(run(disk, seed, choice, source, Integer.MAX_VALUE)).as(as).isNull();
        isComplete(disk, as);
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
}
