package io.turbidite.feeds;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.StorageException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.log.LogOptions;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.type.RecordType;
import io.turbidite.feeds.parse.CsvFormat;
import io.turbidite.feeds.parse.CsvRecordParser;
import io.turbidite.feeds.source.file.FileSource;
import io.turbidite.feeds.store.FeedDelivery;
import io.turbidite.feeds.store.FeedDelivery.Operation;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import org.junit.jupiter.api.Test;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.zip.GZIPOutputStream;

/**
 * Power cuts in the middle of a feed (R15): after each the feed is run again, and dataset and dead
 * letters are what a run without a cut gives. The mode is insert, so that a record delivered twice
 * would show up as a dead letter.
 */
class FeedCrashTest {
    private static final RecordType TYPE =
            RecordType.builder().field("id", "int64").field("name", "string").build();
    private static final int RECORD_COUNT = 2_000;

    private final SimDisk sourceDisk = new SimDisk(1, Profile.STRICT);

    private static byte[] lines() {
        StringBuilder text = new StringBuilder("id,name\n");
        for (int i = 0; i < RECORD_COUNT; i++) {
            text.append(i).append(",name").append(i).append('\n');
            if (i % 701 == 3) {
                text.append("bad").append(i).append(",x\n"); // no number
            }
            if (i % 997 == 5) {
                text.append(i / 2).append(",again\n"); // a duplicate
            }
        }
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static StoreOptions options(Durability durability) {
        LogOptions log = LogOptions.defaults().withSegmentBytes(1 << 20, 16, 1 << 10, 128 << 10);
        return StoreOptions.defaults()
                .withWriteMemoryBytes(2 << 20)
                .withCacheBytes(2 << 20)
                .withLog(4 << 20, log.withDurability(durability));
    }

    /** Opens store and feed on {@code disk}, and runs to the end; false if the disk failed. */
    private boolean run(SimDisk disk, long seed, Durability durability) {
        SimClock clock = new SimClock();
        try (Store store =
                Store.open(disk, new SimTasks(seed, clock), clock, options(durability))) {
            Dataset there = store.findDataset("D");
            Dataset dataset = there != null
                    ? there
                    : store.createDataset(DatasetSpec.named("D")
                            .field("id", "int64")
                            .field("name", "string")
                            .primaryKey("id"));
            try (FeedDelivery delivery = FeedDelivery.into(store, dataset, "f", Operation.INSERT)) {
                CsvRecordParser parser = new CsvRecordParser(
                        TYPE, new CsvFormat(',', true, List.of()), true, List.of());
                FeedRun.Parts parts = new FeedRun.Parts(
                        "f",
                        FileSource.open(sourceDisk, "a.csv"),
                        parser,
                        ',',
                        delivery,
                        store.environment().tasks(),
                        clock,
                        store.events());
                return new FeedRun(parts, FeedProgress.none(), () -> false).run();
            }
        } catch (StorageException e) {
            return false;
        }
    }

    private static void isComplete(SimDisk disk, String as) {
        SimClock clock = new SimClock();
        try (Store store =
                Store.open(disk, new SimTasks(9, clock), clock, options(Durability.SYNC))) {
            Dataset dataset = store.dataset("D");
            for (long i = 0; i < RECORD_COUNT; i++) {
                assertThat(dataset.get(i))
                        .as("%s record %d", as, i)
                        .containsEntry("name", "name" + i);
            }
            assertThat(store.verify().errors()).as(as).isEmpty();
        }
        List<String> letters = new String(
                        disk.content("dead-letters/f.jsonl"), StandardCharsets.UTF_8)
                .lines()
                .toList();
        Set<String> distinct = new TreeSet<>(letters);
        assertThat(letters).as(as).hasSize(3 + 3).hasSize(distinct.size());
    }

    @Test
    void aPowerCutAtAnyStepLosesAndRepeatsNothing() {
        long seed = Seeds.of("FeedCrashTest");
        sourceDisk.put("a.csv", lines());
        Durability[] modes = Durability.values();
        for (int m = 0; m < modes.length; m++) {
            SplittableRandom random = new SplittableRandom(seed + m);
            Durability durability = modes[m];
            int wanted = Tier.count(3, 4, 200);
            SimDisk disk = new SimDisk(seed + m, Profile.ADVERSARIAL);
            List<SimDisk> images = new ArrayList<>();
            disk.onOperation(operation -> {
                if (images.size() < wanted && random.nextInt(6) == 0) {
                    images.add(disk.crashImage(random.nextLong()));
                }
            });
            assertThat(run(disk, seed, durability)).isTrue();
            disk.onOperation(operation -> {});
            isComplete(disk, "whole run");
            for (int i = 0; i < images.size(); i++) {
                String as = "%s %s image %d"
                        .formatted(Seeds.replay("FeedCrashTest", seed), durability, i);
                assertThat(run(images.get(i), seed + i, durability)).as(as).isTrue();
                isComplete(images.get(i), as);
            }
        }
    }

    /** Members of gzip; the cuts between them lie within lines. */
    private static List<byte[]> members(int count) {
        byte[] content = lines();
        List<byte[]> members = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            ByteArrayOutputStream compressed = new ByteArrayOutputStream();
            try (GZIPOutputStream gzip = new GZIPOutputStream(compressed)) {
                int from = content.length * i / count;
                gzip.write(content, from, content.length * (i + 1) / count - from);
            } catch (IOException e) {
                throw new AssertionError(e);
            }
            members.add(compressed.toByteArray());
        }
        return members;
    }

    private void putMembers(List<byte[]> members) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        members.forEach(all::writeBytes);
        sourceDisk.put("a.csv", all.toByteArray());
    }

    @Test
    void aPowerCutAndADamagedSourceLoseAndRepeatNothingOfTheMendedOne() {
        long seed = Seeds.of("FeedCrashTest#damage");
        SplittableRandom random = new SplittableRandom(seed);
        int rounds = Tier.count(4, 10, 300);
        for (int round = 0; round < rounds; round++) {
            String as = "%s round %d".formatted(Seeds.replay("FeedCrashTest", seed), round);
            SimDisk disk = new SimDisk(seed + round, Profile.ADVERSARIAL);
            List<byte[]> good = members(random.nextInt(1, 6));
            List<byte[]> bad = new ArrayList<>(good);
            int damaged = random.nextInt(bad.size());
            byte[] one = bad.get(damaged).clone();
            one[random.nextInt(10, one.length)] ^= (byte) (1 << random.nextInt(8));
            bad.set(damaged, one);
            for (boolean isBad : List.of(true, false)) {
                putMembers(isBad ? bad : good);
                int cutAt = random.nextInt(60);
                int[] step = {0};
                SimDisk[] image = new SimDisk[1];
                SimDisk running = disk;
                disk.onOperation(operation -> {
                    if (step[0]++ == cutAt) {
                        image[0] = running.crashImage(random.nextLong());
                    }
                });
                if (!isBad && random.nextBoolean()) {
                    sourceDisk.fault(FaultScript.with(Fault.EIO).call(random.nextInt(1, 6)));
                }
                boolean finished = run(disk, seed, Durability.SYNC);
                if (isBad) {
                    assertThat(finished).as(as).isFalse();
                }
                sourceDisk.clearFaults();
                disk.onOperation(operation -> {});
                disk = image[0] == null ? disk : image[0];
            }
            assertThat(run(disk, seed, Durability.SYNC)).as(as).isTrue();
            isComplete(disk, as);
        }
    }

    @Test
    void aPowerCutWhileAQuotedFieldGrowsTakesItOnceAndWhole() {
        long seed = Seeds.of("FeedCrashTest#quoted");
        SplittableRandom random = new SplittableRandom(seed);
        int rounds = Tier.count(3, 6, 300);
        for (int round = 0; round < rounds; round++) {
            String as = "%s round %d".formatted(Seeds.replay("FeedCrashTest", seed), round);
            SimDisk disk = new SimDisk(seed + round, Profile.ADVERSARIAL);
            StringBuilder text = new StringBuilder(new String(lines(), StandardCharsets.UTF_8));
            for (String more : List.of("-1,\"first\n", "second\n", "third\n", "\"\n-2,x\n")) {
                sourceDisk.put(
                        "a.csv", text.append(more).toString().getBytes(StandardCharsets.UTF_8));
                int cutAt = random.nextInt(60);
                int[] step = {0};
                SimDisk[] image = new SimDisk[1];
                SimDisk running = disk;
                disk.onOperation(operation -> {
                    if (step[0]++ == cutAt) {
                        image[0] = running.crashImage(random.nextLong());
                    }
                });
                assertThat(run(disk, seed, Durability.SYNC)).as(as).isTrue();
                disk.onOperation(operation -> {});
                disk = image[0] == null ? disk : image[0];
            }
            assertThat(run(disk, seed, Durability.SYNC)).as(as).isTrue();
            isComplete(disk, as);
            SimClock clock = new SimClock();
            try (Store store =
                    Store.open(disk, new SimTasks(9, clock), clock, options(Durability.SYNC))) {
                assertThat(store.dataset("D").get(-1L))
                        .as(as)
                        .containsEntry("name", "first\nsecond\nthird\n");
                assertThat(store.dataset("D").get(-2L)).as(as).containsEntry("name", "x");
            }
        }
    }

    @Test
    void anErrorOfTheDiskEndsTheRunAndTheNextRunCompletesIt() {
        long seed = Seeds.of("FeedCrashTest#errors");
        sourceDisk.put("a.csv", lines());
        SplittableRandom random = new SplittableRandom(seed);
        int rounds = Tier.count(3, 6, 300);
        int failedCount = 0;
        for (int round = 0; round < rounds; round++) {
            String as = "%s round %d".formatted(Seeds.replay("FeedCrashTest", seed), round);
            SimDisk disk = new SimDisk(seed + round, Profile.STRICT);
            Fault fault = random.nextBoolean() ? Fault.EIO : Fault.ENOSPC;
            disk.fault(FaultScript.with(fault).call(random.nextInt(1, 80)));
            failedCount += run(disk, seed + round, Durability.INTERVAL) ? 0 : 1;
            assertThat(disk.openHandles()).as(as).isEmpty();
            disk.clearFaults();
            assertThat(run(disk, seed + round, Durability.INTERVAL)).as(as).isTrue();
            isComplete(disk, as);
        }
        assertThat(failedCount).isPositive();
    }
}
