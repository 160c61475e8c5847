package io.turbidite.hashlog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StoreInUseException;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.hashlog.chain.ChainWalk;
import io.turbidite.hashlog.chain.Property;
import io.turbidite.hashlog.log.HybridLog;
import io.turbidite.hashlog.log.LogReader;
import io.turbidite.hashlog.log.LogScan;
import io.turbidite.hashlog.log.LogSite;
import io.turbidite.hashlog.log.RecordHeader;
import io.turbidite.hashlog.registry.RegisteredPsf;

import org.junit.jupiter.api.Test;

import java.util.List;

class HashLogTest {
    private static final long SEED = Seeds.of("HashLogTest");

    private static String event(int i) {
        return "{\"id\":%d,\"type\":\"t%d\",\"text\":\"%s\"}"
                .formatted(i, i % 3, "x".repeat(50 + i % 200));
    }

    private static String events(int from, int to) {
        StringBuilder text = new StringBuilder();
        for (int i = from; i < to; i++) {
            text.append(event(i)).append('\n');
        }
        return text.toString();
    }

    @Test
    void aReaderOfAnotherLogIsRefused() {
        try (LogBench bench = LogBench.simulated(SEED, null, LogBench.options());
                LogBench other = LogBench.simulated(SEED, null, LogBench.options());
                LogReader foreign = other.log.openReader("foreign")) {
            int id = bench.register("id");
            assertThatThrownBy(() -> bench.log.walk(foreign, Property.ofInteger(id, 7)))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("log test can't take it");
        }
    }

    @Test
    void records_are_found_by_property_newest_first() {
        try (LogBench bench = LogBench.simulated(SEED, null, LogBench.options())) {
            int type = bench.register("type");
            int id = bench.register("id");
            try (IngestSession session = bench.log.openSession("s")) {
                var batch = LogBench.segment(events(0, 30));
                assertThat(session.ingest(batch, 0, batch.byteSize())).isEqualTo(30);
            }
            assertThat(bench.find(Property.ofInteger(id, 7))).containsExactly(event(7));
            assertThat(bench.find(Property.ofInteger(id, 77))).isEmpty();
            assertThat(bench.find(Property.ofText(type, "t1")))
                    .containsExactly(
                            event(28), event(25), event(22), event(19), event(16), event(13),
                            event(10), event(7), event(4), event(1));
        }
    }

    @Test
    void a_log_larger_than_memory_is_read_back_from_its_segments() {
        SimDisk disk = LogBench.disk(SEED);
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options())) {
            int type = bench.register("type");
            try (IngestSession session = bench.log.openSession("s")) {
                for (int i = 0; i < 5_000; i += 50) {
                    var batch = LogBench.segment(events(i, i + 50));
                    session.ingest(batch, 0, batch.byteSize());
                }
                session.awaitDurable();
                assertThat(session.durableSerial()).isEqualTo(5_000);
                assertThat(session.rejectedCount()).isZero();
            }
            assertThat(bench.log.log().head()).isGreaterThan(LogBench.SHAPE.ringBytes());
            List<String> found = bench.find(Property.ofText(type, "t2"));
            assertThat(found).hasSize(1_666).startsWith(event(4_997)).endsWith(event(2));
        }
        assertThat(disk.files()).anyMatch(name -> name.endsWith("00000001.pages"));
        assertThat(disk.openHandleCount()).isZero();
    }

    @Test
    void a_page_that_is_full_to_its_last_byte_is_sealed_before_the_next_one_opens() {
        try (LogBench bench = LogBench.simulated(SEED, LogBench.disk(SEED), LogBench.options())) {
            HybridLog log = bench.log.log();
            long pageBytes = LogBench.SHAPE.pageBytes();
            try (IngestSession session = bench.log.openSession("s")) {
                long left = pageBytes - LogBench.SHAPE.offsetOf(log.tail());
                for (int page = 0; page < 2 * LogBench.SHAPE.ringPageCount(); page++) {
                    while (left > 4_000) {
                        var batch = LogBench.segment("x".repeat(992) + "\n");
                        session.ingest(batch, 0, batch.byteSize());
                        left = pageBytes - LogBench.SHAPE.offsetOf(log.tail());
                    }
                    var last = LogBench.segment("y".repeat((int) left - 8) + "\n");
                    session.ingest(last, 0, last.byteSize());
                    assertThat(LogBench.SHAPE.offsetOf(log.tail())).as("full").isZero();
                    long full = log.tail();
                    bench.tasks.await(() -> log.durable() >= full);
                    left = LogBench.SHAPE.recordBytesMax();
                }
            }
            try (LogCursor cursor = bench.log.find(LogQuery.all())) {
                int count = 0;
                while (cursor.next()) {
                    count++;
                }
                assertThat(count).isGreaterThan(12 * 2 * LogBench.SHAPE.ringPageCount());
            }
        }
    }

    @Test
    void the_null_device_keeps_what_memory_holds() {
        try (LogBench bench = LogBench.simulated(SEED, null, LogBench.options())) {
            int type = bench.register("type");
            try (IngestSession session = bench.log.openSession("s")) {
                for (int i = 0; i < 5_000; i += 50) {
                    var batch = LogBench.segment(events(i, i + 50));
                    session.ingest(batch, 0, batch.byteSize());
                }
            }
            assertThat(bench.log.log().begin()).isEqualTo(bench.log.log().head());
            assertThat(bench.find(Property.ofText(type, "t2")))
                    .hasSizeBetween(50, 400)
                    .startsWith(event(4_997));
        }
    }

    @Test
    void a_psf_is_indexed_from_its_boundary_to_its_end() {
        try (LogBench bench = LogBench.simulated(SEED, null, LogBench.options())) {
            try (IngestSession session = bench.log.openSession("s")) {
                var batch = LogBench.segment(events(0, 10));
                session.ingest(batch, 0, batch.byteSize());
                int type = bench.register("type");
                session.ingest(batch, 0, batch.byteSize());
                RegisteredPsf ended = bench.log.deregister(type);
                session.ingest(batch, 0, batch.byteSize());
                assertThat(ended.active()).isFalse();
                assertThat(ended.intervals()).hasSize(1);
                assertThat(bench.find(Property.ofText(type, "t0"))).hasSize(4);
                assertThat(bench.register("type")).as("ids are not reused").isEqualTo(1);
            }
        }
    }

    @Test
    void a_log_has_one_owner_and_is_created_once() {
        SimDisk disk = LogBench.disk(SEED);
        LogBench bench = LogBench.simulated(SEED, disk, LogBench.options());
        assertThatThrownBy(() -> LogBench.simulated(SEED, disk, LogBench.options()))
                .isInstanceOf(StoreInUseException.class);
        bench.close();
        assertThatThrownBy(() -> LogBench.simulated(SEED, disk, LogBench.options()))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("there is a hash log");
        assertThat(disk.openHandleCount()).isZero();
    }

    @Test
    void a_log_goes_on_behind_its_end_with_its_psfs() {
        SimDisk disk = LogBench.disk(SEED);
        long end;
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options())) {
            bench.register("type");
            try (IngestSession session = bench.log.openSession("s")) {
                var batch = LogBench.segment(events(0, 500));
                session.ingest(batch, 0, batch.byteSize());
            }
            end = bench.log.log().tail();
            LogSite site = bench.site;
            bench.log.close();
            try (HashLog log = HashLog.open(site, LogBench.options());
                    IngestSession session =
                            log.openSession("s", log.recoveredSerial("s"), record -> {});
                    LogReader reader = log.openReader("r")) {
                assertThat(session.serial()).isEqualTo(500);
                assertThat(log.log().tail()).isEqualTo(end);
                var batch = LogBench.segment(events(500, 520));
                assertThat(session.ingest(batch, 0, batch.byteSize())).isEqualTo(20);
                reader.protect();
                LogScan scan = new LogScan(reader);
                scan.start(log.log().begin(), Long.MAX_VALUE);
                int count = 0;
                while (scan.next()) {
                    count += RecordHeader.kind(scan.header()) == RecordHeader.RECORD ? 1 : 0;
                }
                assertThat(count).isEqualTo(520);
                ChainWalk walk = log.walk(reader, Property.ofText(0, "t1"));
                walk.start(end);
                assertThat(walk.next()).isTrue();
            }
        }
    }
}
