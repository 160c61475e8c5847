package io.turbidite.feeds;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.StorageException;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.sim.Tier;
import io.turbidite.feeds.parse.RawRecordParser;
import io.turbidite.feeds.source.file.FileSource;
import io.turbidite.feeds.store.FeedDelivery;
import io.turbidite.hashlog.HashLog;
import io.turbidite.hashlog.HashLogOptions;
import io.turbidite.hashlog.LogCursor;
import io.turbidite.hashlog.LogQuery;
import io.turbidite.hashlog.log.LogOptions;
import io.turbidite.hashlog.log.LogReader;
import io.turbidite.hashlog.log.LogScan;
import io.turbidite.hashlog.log.LogShape;
import io.turbidite.hashlog.log.LogSite;
import io.turbidite.hashlog.log.RecordHeader;
import io.turbidite.hashlog.psf.PsfDefinition;

import org.junit.jupiter.api.Test;

import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;

/**
 * Power cuts in the middle of a feed into a hash log: after each the feed is run again, and log and
 * dead letters are what a run without a cut gives, in the order of the source.
 */
class LogFeedCrashTest {
    private static final int RECORD_COUNT = 6_000;
    private static final int REFUSED_COUNT = 9;

    private final SimDisk sourceDisk = new SimDisk(1, Profile.STRICT);

    private static byte[] lines() {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < RECORD_COUNT; i++) {
            text.append("{\"id\":%d,\"kind\":\"k%d\",\"text\":\"%s\"}\n"
                    .formatted(i, i % 7, "x".repeat(i % 200)));
            if (i % 701 == 3) {
                text.append("{\"kind\":nul%d}\n".formatted(i));
            }
        }
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static HashLogOptions options() {
        return HashLogOptions.defaults()
                .withLog(LogOptions.of(new LogShape(64 << 10, 8, 4)).withFlushMicros(1_000))
                .withTable(6, 1 << 22);
    }

    private static HashLog open(SimDisk disk, SimTasks tasks, SimClock clock) {
        LogSite site = new LogSite(
                "f",
                disk,
                "log",
                tasks,
                clock,
                MemoryBudget.of(64 << 20),
                new Meters(),
                new StoreEvents());
        return HashLog.openOrCreate(site, options(), 77);
    }

    private boolean run(SimDisk disk, long seed) {
        SimClock clock = new SimClock();
        SimTasks tasks = new SimTasks(seed, clock);
        try (HashLog log = open(disk, tasks, clock)) {
            if (log.psfs().isEmpty()) {
                log.register("kind", PsfDefinition.parse("field(kind)"));
            }
            try (FeedDelivery delivery = FeedDelivery.into(log, disk, clock, "f")) {
                FeedRun.Parts parts = new FeedRun.Parts(
                        "f",
                        FileSource.open(sourceDisk, "a.json"),
                        new RawRecordParser(true),
                        ',',
                        delivery,
                        tasks,
                        clock,
                        new StoreEvents());
                try {
                    return new FeedRun(parts, FeedProgress.none(), () -> false).run();
                } finally {
                    delivery.commit();
                }
            }
        } catch (StorageException e) {
            return false;
        } finally {
            tasks.close();
        }
    }

    private static void isComplete(SimDisk disk, String as) {
        SimClock clock = new SimClock();
        SimTasks tasks = new SimTasks(9, clock);
        try (HashLog log = open(disk, tasks, clock);
                LogCursor cursor = log.find(LogQuery.all())) {
            for (int i = RECORD_COUNT - 1; i >= 0; i--) {
                assertThat(cursor.next()).as("%s record %d", as, i).isTrue();
                byte[] head = new byte[20];
                for (int b = 0; b < head.length; b++) {
                    head[b] = cursor.segment().get(ValueLayout.JAVA_BYTE, cursor.offset() + b);
                }
                assertThat(new String(head, StandardCharsets.UTF_8))
                        .as(as)
                        .startsWith("{\"id\":%d,".formatted(i));
            }
            assertThat(cursor.next()).as(as).isFalse();
        }
        tasks.close();
        List<String> letters = new String(
                        disk.content("dead-letters/f.jsonl"), StandardCharsets.UTF_8)
                .lines()
                .toList();
        assertThat(letters).as(as).hasSize(REFUSED_COUNT);
        assertThat(new TreeSet<>(letters)).as(as).hasSize(REFUSED_COUNT);
    }

    /**
     * Runs the feed on {@code disk} and takes images of power cuts all along, of some 110
     * operations.
     */
    private List<SimDisk> imagesOfRun(SimDisk disk, long seed, int wanted) {
        sourceDisk.put("a.json", lines());
        SplittableRandom random = new SplittableRandom(seed);
        List<SimDisk> images = new ArrayList<>();
        disk.onOperation(operation -> {
            if (images.size() < wanted && random.nextInt(5) == 0) {
                images.add(disk.crashImage(random.nextLong()));
            }
        });
        assertThat(run(disk, seed)).isTrue();
        disk.onOperation(operation -> {});
        return images;
    }

    @Test
    void a_power_cut_at_any_step_loses_and_repeats_nothing() {
        long seed = Seeds.of("LogFeedCrashTest");
        SimDisk disk = new SimDisk(seed, Profile.ADVERSARIAL);
        List<SimDisk> images = imagesOfRun(disk, seed, Tier.count(3, 24, 200));
        isComplete(disk, "whole run");
        assertThat(run(disk, seed)).isTrue();
        isComplete(disk, "run again");
        for (int i = 0; i < images.size(); i++) {
            String as = "%s image %d".formatted(Seeds.replay("LogFeedCrashTest", seed), i);
            assertThat(run(images.get(i), seed + i)).as(as).isTrue();
            isComplete(images.get(i), as);
        }
    }

    /** The bug: what of its batch had come before the record was in the log twice. */
    @Test
    void a_dead_letter_that_can_not_be_written_loses_and_repeats_nothing() {
        sourceDisk.put("a.json", lines());
        for (OperationKind kind :
                List.of(OperationKind.CREATE, OperationKind.WRITE, OperationKind.SYNC)) {
            for (int call = 1; call <= (kind == OperationKind.CREATE ? 1 : 3); call++) {
                SimDisk disk = new SimDisk(1, Profile.STRICT);
                FaultScript fault = FaultScript.with(Fault.EIO)
                        .on(kind)
                        .named(name -> name.startsWith("dead-letters/"))
                        .call(call);
                disk.fault(fault);
                String as = "%s %d".formatted(kind, call);
                assertThat(run(disk, 1)).as(as).isFalse();
                assertThat(fault.hitCount()).as(as).isEqualTo(1);
                assertThat(run(disk, 2)).as(as).isTrue();
                isComplete(disk, as);
            }
        }
    }

    @Test
    void a_record_that_was_deleted_after_a_power_cut_is_not_taken_again() {
        long seed = Seeds.of("LogFeedCrashTest");
        int changedCount = 0;
        for (SimDisk image : imagesOfRun(new SimDisk(seed, Profile.ADVERSARIAL), seed, 12)) {
            String as = Seeds.replay("LogFeedCrashTest", seed);
            if (deleteNewest(image)) {
                changedCount++;
            }
            assertThat(run(image, seed)).as(as).isTrue();
            assertThat(recordCount(image)).as(as).isEqualTo(RECORD_COUNT);
        }
        assertThat(changedCount).isPositive();
    }

    private static boolean deleteNewest(SimDisk disk) {
        SimClock clock = new SimClock();
        SimTasks tasks = new SimTasks(9, clock);
        try (HashLog log = open(disk, tasks, clock);
                LogCursor cursor = log.find(LogQuery.all())) {
            boolean deleted = cursor.next() && cursor.delete();
            log.awaitDurable();
            return deleted;
        } finally {
            tasks.close();
        }
    }

    private static int recordCount(SimDisk disk) {
        SimClock clock = new SimClock();
        SimTasks tasks = new SimTasks(9, clock);
        int count = 0;
        try (HashLog log = open(disk, tasks, clock);
                LogReader reader = log.openReader("count")) {
            reader.protect();
            LogScan scan = new LogScan(reader);
            scan.start(log.log().begin(), Long.MAX_VALUE);
            while (scan.next()) {
                count += RecordHeader.kind(scan.header()) == RecordHeader.RECORD ? 1 : 0;
            }
        } finally {
            tasks.close();
        }
        return count;
    }
}
