package io.turbidite.hashlog;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.file.Disk;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Direct I/O changes how segments are reached, not what is in them. */
class DirectLogTest {
    private static final long SEED = Seeds.of("DirectLogTest");
    private static final HashLogOptions BUFFERED = LogBench.options();
    private static final HashLogOptions DIRECT =
            BUFFERED.withLog(BUFFERED.log().withDirectIo(true));
    private static final int COUNT = 1_200;

    @TempDir
    private Path directory;

    private static void ingest(LogBench bench, int from, int to) {
        try (IngestSession session = bench.log.openSession("s", from, record -> {})) {
            for (int i = from; i < to; i++) {
                var line = LogBench.segment("{\"id\":%d,\"type\":\"t%d\",\"x\":\"%s\"}"
                        .formatted(i, i % 3, "x".repeat(i % 400)));
                session.append(line, 0, (int) line.byteSize());
                if (i % 200 == 199) {
                    session.awaitDurable(); // pages are written in part, too
                }
            }
        }
    }

    private static void fill(LogBench bench) {
        bench.register("type");
        ingest(bench, 0, COUNT);
    }

    private static void check(LogBench bench, int count) {
        for (int type = 0; type < 3; type++) {
            LogQuery query = LogQuery.property("type", "t" + type);
            for (LogQuery way : List.of(query, query.byScan())) {
                int found = 0;
                try (LogCursor cursor = bench.log.find(way)) {
                    while (cursor.next()) {
                        found++;
                    }
                }
                assertThat(found).isEqualTo(count / 3);
            }
        }
    }

    private static List<StoreEvent> refusals(LogBench bench) {
        return bench.events.recent().stream()
                .filter(StoreEvent.DirectIoRefused.class::isInstance)
                .toList();
    }

    private static List<String> segments(SimDisk disk) {
        return disk.files().stream().filter(name -> name.endsWith(".pages")).toList();
    }

    @Test
    void segments_are_the_same_bytes_with_direct_io_and_without() {
        SimDisk buffered = new SimDisk(1, Profile.STRICT);
        SimDisk direct = new SimDisk(1, Profile.STRICT);
        try (LogBench first = LogBench.simulated(SEED, buffered, BUFFERED);
                LogBench second = LogBench.simulated(SEED, direct, DIRECT)) {
            fill(first);
            fill(second);
            check(second, COUNT);
            assertThat(refusals(second)).isEmpty();
        }
        assertThat(segments(buffered)).hasSizeGreaterThan(3).isEqualTo(segments(direct));
        for (String name : segments(buffered)) {
            assertThat(direct.content(name)).as(name).isEqualTo(buffered.content(name));
        }
        assertThat(direct.openHandles()).isEmpty();
    }

    @Test
    void a_log_is_opened_with_direct_io_and_without_as_one_likes() {
        SimDisk disk = LogBench.disk(SEED);
        try (LogBench bench = LogBench.simulated(SEED, disk, DIRECT)) {
            fill(bench);
        }
        try (LogBench bench = LogBench.reopened(SEED, disk, BUFFERED)) {
            check(bench, COUNT);
            ingest(bench, COUNT, COUNT + 300);
        }
        try (LogBench bench = LogBench.reopened(SEED, disk, DIRECT)) {
            ingest(bench, COUNT + 300, COUNT + 900);
            check(bench, COUNT + 900);
            bench.log.truncate(bench.log.log().durable() - 40_000);
            ingest(bench, COUNT + 900, COUNT + 1_200);
            assertThat(refusals(bench)).isEmpty();
        }
        assertThat(disk.openHandles()).isEmpty();
    }

    @Test
    void a_power_cut_costs_nothing_durable() {
        SimDisk disk = LogBench.disk(SEED);
        SplittableRandom random = new SplittableRandom(SEED);
        List<SimDisk> images = new ArrayList<>();
        List<Long> durable = new ArrayList<>();
        try (LogBench bench = LogBench.simulated(SEED, disk, DIRECT)) {
            bench.register("type");
            disk.onOperation(operation -> {
                if (random.nextInt(6) == 0) {
                    images.add(disk.crashImage(random.nextLong()));
                    durable.add(bench.log.log().durable());
                }
            });
            ingest(bench, 0, COUNT);
            disk.onOperation(operation -> {});
        }
        assertThat(images).hasSizeGreaterThan(5);
        for (int i = 0; i < images.size(); i++) {
            try (LogBench bench = LogBench.reopened(SEED, images.get(i), DIRECT)) {
                String as = Seeds.replay("DirectLogTest", SEED) + " image " + i;
                assertThat(bench.log.log().tail()).as(as).isGreaterThanOrEqualTo(durable.get(i));
                LogState.of(bench.log).checkChains(bench.log, as);
            }
        }
    }

    @Test
    void a_file_system_without_direct_io_is_told_of_once() {
        SimDisk disk = LogBench.disk(SEED);
        disk.refuseDirect();
        try (LogBench bench = LogBench.simulated(SEED, disk, DIRECT)) {
            fill(bench);
            check(bench, COUNT);
            assertThat(refusals(bench)).hasSize(1);
        }
        assertThat(disk.openHandles()).isEmpty();
    }

    @Test
    void a_log_on_a_real_disk_reads_and_writes_directly() {
        Disk disk = RealDisk.open(directory);
        try (LogBench bench = LogBench.onThreads(disk, DIRECT)) {
            fill(bench);
            check(bench, COUNT);
            if (!refusals(bench).isEmpty()) {
                System.out.println("SKIPPED: " + disk.description()
                        + " refuses direct I/O; only the falling back was shown");
            }
        }
        try (LogBench bench = LogBench.reopenedOnThreads(disk, DIRECT)) {
            ingest(bench, COUNT, COUNT + 300);
            check(bench, COUNT + 300);
        }
    }
}
