package io.turbidite.feeds;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.StorageException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.log.LogOptions;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.type.RecordType;
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

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * Several parse workers over several partitions that come, go and end, on a machine that loses its
 * power at any operation of the disk: in the end each record is in the dataset once, each bad one
 * is one dead letter, and the last record of a partition is the last that was taken of it.
 */
class WorkerScheduleTest {
    private static final RecordType TYPE = RecordType.builder()
            .field("id", "int64")
            .field("partition", "int64")
            .field("number", "int64")
            .build();
    private static final int RECORDS = 60;

    /** By upsert all records of a partition have one key, by insert each has its own. */
    private record Shape(int partitions, boolean upserts) {
        String text(int number) {
            int partition = number % partitions;
            if (number % 31 == 7) {
                return "{\"id\":\"bad%d\"}".formatted(number);
            }
            return "{\"id\":%d,\"partition\":%d,\"number\":%d}"
                    .formatted(upserts ? partition : number, partition, number);
        }

        boolean isBad(int number) {
            return number % 31 == 7;
        }
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
                        .field("partition", "int64")
                        .field("number", "int64")
                        .primaryKey("id"));
    }

    /** Runs once with several workers; null, or why it ended before its time. */
    private static @Nullable StorageException run(
            SimDisk disk, long seed, WorkerPolicy workers, Shape shape, WorkedSource source) {
        SimClock clock = new SimClock();
        try (Store store =
                Store.open(disk, new SimTasks(seed, clock), clock, options(Durability.SYNC))) {
            try (FeedDelivery delivery = FeedDelivery.into(
                    store,
                    dataset(store),
                    "f",
                    shape.upserts ? Operation.UPSERT : Operation.INSERT)) {
                FeedRun run = new FeedRun(
                        new FeedRun.Parts(
                                "f",
                                source,
                                () -> ParseTools.of(new JsonRecordParser(TYPE, true, List.of())),
                                workers,
                                ',',
                                new OneWrite(delivery),
                                store.environment().tasks(),
                                store.environment().clock(),
                                store.events(),
                                null),
                        FeedProgress.none(),
                        source::isRead);
                assertThat(run.run()).isEqualTo(!source.isEndless());
                return null;
            } catch (StorageException e) {
                return e;
            }
        }
    }

    private static void isComplete(SimDisk disk, Shape shape, String as) {
        SimClock clock = new SimClock();
        int count = shape.partitions * RECORDS;
        int badCount = 0;
        try (Store store =
                Store.open(disk, new SimTasks(9, clock), clock, options(Durability.SYNC))) {
            Dataset dataset = store.dataset("D");
            for (int i = 0; i < count; i++) {
                badCount += shape.isBad(i) ? 1 : 0;
                if (!shape.upserts) {
                    assertThat(dataset.get((long) i) == null)
                            .as("%s record %d", as, i)
                            .isEqualTo(shape.isBad(i));
                }
            }
            for (int p = 0; p < shape.partitions && shape.upserts; p++) {
                int last = count - shape.partitions + p;
                while (shape.isBad(last)) {
                    last -= shape.partitions;
                }
                assertThat(Objects.requireNonNull(dataset.get((long) p)).get("number"))
                        .as("%s the last of partition %d", as, p)
                        .isEqualTo((long) last);
            }
            long records = 0;
            for (int p = 0; p < shape.partitions; p++) {
                Map<String, @Nullable Object> row =
                        Objects.requireNonNull(store.dataset("_feeds").get("f", "p" + p), as);
                assertThat(row.get("position"))
                        .as(as)
                        .isEqualTo(SourcePosition.of(RECORDS).toByteArray());
                records += (long) Objects.requireNonNull(row.get("records"));
            }
            assertThat(records).as(as).isEqualTo(count - badCount);
            assertThat(store.verify().errors()).as(as).isEmpty();
        }
        List<String> letters = new String(
                        disk.content("dead-letters/f.jsonl"), StandardCharsets.UTF_8)
                .lines()
                .toList();
        assertThat(letters).as(as).hasSize(badCount);
        assertThat(new TreeSet<>(letters)).as(as).hasSize(badCount);
        Map<String, Long> offsets = new HashMap<>();
        for (String letter : letters) {
            assertThat(letter).as(as).startsWith("{").endsWith("}");
            String partition = letter.replaceAll(".*\"source\":\"(\\w+)\".*", "$1");
            long offset = Long.parseLong(letter.replaceAll(".*\"offset\":(\\d+).*", "$1"));
            assertThat(offset).as(as).isGreaterThan(offsets.getOrDefault(partition, -1L));
            offsets.put(partition, offset);
        }
    }

    @Test
    void eachRecordIsThereOnceAndInOrderWhateverTheWorkersDoAndWhereverThePowerFails() {
        int[] met = play("WorkerScheduleTest", random -> WorkerPolicy.fixed(random.nextInt(2, 5)));
        assertThat(Arrays.copyOf(met, 5))
                .as("power cuts, endless sources, partitions that went, several at once, upserts")
                .doesNotContain(0);
    }

    @Test
    void soItIsWhileWorkersComeAndGo() {
        List<ErraticPolicy> policies = new ArrayList<>();
        int[] met = play("WorkerScheduleTest-elastic", random -> {
            ErraticPolicy policy = new ErraticPolicy(random);
            policies.add(policy);
            return policy;
        });
        met[5] = policies.stream().mapToInt(policy -> policy.addedCount).sum();
        met[6] = policies.stream().mapToInt(policy -> policy.takenCount).sum();
        assertThat(met)
                .as("power cuts, endless sources, partitions that went, several at once, upserts,"
                        + " workers that came, workers that went, sources that can't go back,"
                        + " partitions that were opened anew")
                .doesNotContain(0);
    }

    /** Returns how often things were met. */
    private static int[] play(String name, Function<SplittableRandom, WorkerPolicy> policies) {
        long first = Seeds.of(name);
        int schedules = Tier.count(24, 240, 10_000);
        int[] met = new int[9];
        for (int schedule = 0; schedule < schedules; schedule++) {
            long seed = first + schedule;
            String as = "%s schedule %d".formatted(Seeds.replay(name, first), schedule);
            SplittableRandom random = new SplittableRandom(seed);
            Shape shape = new Shape(random.nextInt(1, 7), random.nextBoolean());
            WorkedSource source =
                    new WorkedSource(shape.partitions, RECORDS, shape::text, random.split());
            source.isEndless = random.nextBoolean();
            source.readsApart = random.nextBoolean();
            source.canGoBack = !source.isEndless || random.nextInt(3) > 0;
            SimDisk disk = new SimDisk(seed, Profile.ADVERSARIAL);
            int rounds = random.nextInt(1, 4);
            for (int round = 0; round < rounds; round++) {
                if (source.canGoBack) {
                    source.gonePercent = random.nextInt(3) * 10;
                    source.endPercent = random.nextInt(3) * 10;
                }
                int cutAt = random.nextInt(120);
                int[] step = {0};
                SimDisk[] image = new SimDisk[1];
                SimDisk running = disk;
                disk.onOperation(operation -> {
                    if (step[0]++ == cutAt) {
                        image[0] = running.crashImage(random.nextLong());
                    }
                });
                source.begin();
                assertThat(run(disk, seed + round, policies.apply(random), shape, source))
                        .as(as)
                        .isNull();
                disk.onOperation(operation -> {});
                if (image[0] != null) {
                    disk = image[0];
                    met[0]++;
                }
            }
            source.begin();
            assertThat(run(disk, seed, policies.apply(random), shape, source))
                    .as(as)
                    .isNull();
            isComplete(disk, shape, as);
            met[1] += source.isEndless ? 1 : 0;
            met[2] += source.goneCount > 0 ? 1 : 0;
            met[3] += source.openMost > 1 ? 1 : 0;
            met[4] += shape.upserts ? 1 : 0;
            met[7] += source.canGoBack ? 0 : 1;
            met[8] += source.canGoBack ? 0 : source.movedCount;
        }
        return met;
    }
}
