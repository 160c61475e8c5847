package io.turbidite.hashlog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.hashlog.chain.Property;
import io.turbidite.hashlog.log.LogReader;
import io.turbidite.hashlog.log.LogScan;
import io.turbidite.hashlog.log.RecordHeader;
import io.turbidite.hashlog.parse.ParserSpec;
import io.turbidite.hashlog.psf.PsfDefinition;
import io.turbidite.hashlog.psf.PsfFunction;
import io.turbidite.hashlog.psf.PsfFunctions;
import io.turbidite.hashlog.registry.RegistryFile;
import io.turbidite.hashlog.registry.RegistryState;

import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** What the published FishStore gets wrong, one test a bug, by the numbers of our list of them. */
class OriginalBugsTest {
    private static final long SEED = Seeds.of("OriginalBugsTest");

    private static LogBench memory() {
        return LogBench.simulated(SEED, null, LogBench.options());
    }

    private static long ingest(LogBench bench, String lines) {
        try (IngestSession session = bench.log.openSession("s")) {
            MemorySegment batch = LogBench.segment(lines);
            return session.ingest(batch, 0, batch.byteSize());
        }
    }

    private static int scanCount(LogBench bench) {
        int count = 0;
        try (LogReader reader = bench.log.openReader("scan")) {
            reader.protect();
            LogScan scan = new LogScan(reader);
            scan.start(bench.log.log().begin(), Long.MAX_VALUE);
            while (scan.next()) {
                count += RecordHeader.kind(scan.header()) == RecordHeader.RECORD ? 1 : 0;
            }
        }
        return count;
    }

    private static List<String> texts(LogBench bench, LogQuery query) {
        List<String> found = new ArrayList<>();
        try (LogCursor cursor = bench.log.find(query)) {
            while (cursor.next()) {
                byte[] bytes = cursor.segment()
                        .asSlice(cursor.offset(), cursor.length())
                        .toArray(Bytes.U8);
                found.add(new String(bytes, StandardCharsets.UTF_8));
            }
        }
        return found;
    }

    @Test
    void bug_1_evaluated_values_of_more_than_255_bytes_lose_no_record() {
        try (LogBench bench = memory()) {
            int text = bench.register("text");
            StringBuilder lines = new StringBuilder();
            for (int i = 0; i < 50; i++) {
                // an escape keeps the value out of the payload: it is copied to the region
                lines.append("{\"text\":\"\\n").repeat('v', 300 + i).append("\"}\n");
            }
            assertThat(ingest(bench, lines.toString())).isEqualTo(50);
            assertThat(scanCount(bench)).isEqualTo(50);
            for (int i = 0; i < 50; i++) {
                assertThat(bench.find(Property.ofText(text, "\n" + "v".repeat(300 + i))))
                        .hasSize(1);
            }
        }
    }

    @Test
    void bug_2_numbers_and_booleans_are_values_of_a_field_as_strings_are() {
        try (LogBench bench = memory()) {
            bench.register("v");
            ingest(bench, """
                    {"v":5}
                    {"v":true}
                    {"v":2.5}
                    {"v":"5"}
                    {"v":false}
                    {"v":null}
                    """);
            Map<String, String> found = Map.of(
                    "5", "{\"v\":5}",
                    "true", "{\"v\":true}",
                    "2.50", "{\"v\":2.5}",
                    "\"5\"", "{\"v\":\"5\"}",
                    "false", "{\"v\":false}");
            found.forEach((value, line) -> assertThat(texts(bench, LogQuery.property("v", value)))
                    .as(value)
                    .containsExactly(line));
        }
    }

    @Test
    void bug_3_table_1s_psfs_of_github_all_index_what_they_name() {
        try (LogBench bench = memory()) {
            String event =
                    "{\"id\":7,\"type\":\"PullRequestEvent\",\"actor\":{\"id\":11},\"repo\":{\"id\":13},"
                            + "\"payload\":{\"action\":\"opened\",\"pull_request\":{\"head\":{\"repo\":{\"language\":\"C++\"}}}}}";
            String issue =
                    "{\"id\":8,\"type\":\"IssuesEvent\",\"payload\":{\"action\":\"opened\"}}";
            String opened = "where(type == \"IssuesEvent\" && payload.action == \"opened\")";
            String cpp =
                    "where(type == \"PullRequestEvent\" && payload.pull_request.head.repo.language == \"C++\")";
            for (String psf : List.of(
                    "field(id)", "field(actor.id)", "field(repo.id)", "field(type)", opened, cpp)) {
                bench.log.register(psf, PsfDefinition.parse(psf));
            }
            ingest(bench, event + "\n" + issue);
            for (LogQuery query : List.of(
                    LogQuery.property("field(id)", "7"),
                    LogQuery.property("field(actor.id)", "11"),
                    LogQuery.property("field(repo.id)", "13"),
                    LogQuery.property("field(type)", "PullRequestEvent"),
                    LogQuery.property(cpp, "true"))) {
                assertThat(texts(bench, query)).as("%s", query).containsExactly(event);
            }
            assertThat(texts(bench, LogQuery.property(opened, "true"))).containsExactly(issue);
        }
        // where fields are declared, one that is misspelt is told at once; open records can't know
        HashLogOptions csv =
                LogBench.options().withParser(ParserSpec.parse("csv(\",\", type, id:number)"));
        try (LogBench bench = LogBench.simulated(SEED, null, csv)) {
            assertThatThrownBy(() -> bench.log.register("t", PsfDefinition.parse("field(tpye)")))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("tpye");
        }
    }

    @Test
    void bug_4_integers_keep_their_64_bits() {
        long[] values = {
            0,
            -1,
            1L << 31,
            -(1L << 31),
            1L << 32,
            (1L << 49) - 1,
            1L << 49,
            -(1L << 49),
            -(1L << 49) - 1,
            Long.MAX_VALUE,
            Long.MIN_VALUE,
            7 + (1L << 32),
            7
        };
        try (LogBench bench = memory()) {
            int id = bench.register("id");
            StringBuilder lines = new StringBuilder();
            for (long value : values) {
                lines.append("{\"id\":").append(value).append("}\n");
            }
            ingest(bench, lines.toString());
            for (long value : values) {
                assertThat(bench.find(Property.ofInteger(id, value)))
                        .containsExactly("{\"id\":" + value + "}");
            }
            assertThat(bench.find(Property.ofInteger(id, (7L << 50) | 7))).isEmpty();
        }
    }

    @Test
    void bug_5_a_record_that_cannot_be_parsed_is_told_with_its_place_and_ingestion_goes_on() {
        try (LogBench bench = memory()) {
            bench.register("id");
            List<RejectedRecord> rejected = new ArrayList<>();
            try (IngestSession session = bench.log.openSession("s", 100, rejected::add)) {
                MemorySegment batch = LogBench.segment("{\"id\":1}\n\n{\"id\":}\n[]\r\n{\"id\":2}");
                assertThat(session.ingest(batch, 0, batch.byteSize())).isEqualTo(2);
                assertThat(session.serial()).isEqualTo(104);
                assertThat(session.rejectedCount()).isEqualTo(2);
            }
            assertThat(rejected)
                    .hasSize(2)
                    .allSatisfy(r -> assertThat(r).isInstanceOf(RejectedRecord.Malformed.class));
            assertThat(rejected.get(0).serial()).isEqualTo(102);
            assertThat(rejected.get(0).offset()).isEqualTo(10);
            assertThat(rejected.get(1).offset()).isEqualTo(18);
            assertThat(rejected.get(1).byteCount()).isEqualTo(2);
            assertThat(scanCount(bench)).isEqualTo(2);
        }
    }

    @Test
    void a_record_larger_than_a_page_is_told_and_ingestion_goes_on() {
        try (LogBench bench = memory()) {
            List<RejectedRecord> rejected = new ArrayList<>();
            try (IngestSession session = bench.log.openSession("s", 0, rejected::add)) {
                int most = LogBench.SHAPE.recordBytesMax() - RecordHeader.BYTES;
                MemorySegment batch =
                        LogBench.segment("a\n" + "b".repeat(most + 1) + "\n" + "c".repeat(most));
                assertThat(session.ingest(batch, 0, batch.byteSize())).isEqualTo(2);
            }
            assertThat(rejected).singleElement().isInstanceOf(RejectedRecord.TooLarge.class);
            assertThat(scanCount(bench)).isEqualTo(2);
        }
    }

    @Test
    void bug_6_a_read_error_reaches_the_reader_and_the_next_read_works() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options())) {
            try (IngestSession session = bench.log.openSession("s")) {
                for (int i = 0; i < 300; i++) {
                    session.append(LogBench.segment("x".repeat(1_000)), 0, 1_000);
                }
                session.awaitDurable();
            }
            disk.fault(FaultScript.with(Fault.EIO).on(OperationKind.READ));
            assertThatThrownBy(() -> scanCount(bench)).isInstanceOf(StorageIoException.class);
            disk.clearFaults();
            assertThat(scanCount(bench)).isEqualTo(300);
        }
    }

    @Test
    void bug_7_names_with_blanks_and_all_definitions_are_durable() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options())) {
            bench.log.register("by the type", PsfDefinition.parse("field(type)"));
            bench.log.register("Typ\n\u00fc", PsfDefinition.parse("field(id)"));
            ingest(bench, "{\"id\":1}");
            bench.log.deregister(0);
            RegistryState state = RegistryFile.read(disk.crashImage(1), "log").state();
            assertThat(state.psfs()).isEqualTo(bench.log.psfs());
            assertThat(state.psfs().getFirst().intervals()).hasSize(1);
            assertThat(state.psfs().getLast().intervals().getFirst().isOpen()).isTrue();
        }
    }

    @Test
    void bug_8_a_truncation_while_the_table_grows_leaves_every_chain_whole() {
        HashLogOptions options = LogBench.options().withTable(6, 16 << 20);
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (LogBench bench = LogBench.simulated(SEED, disk, options)) {
            int id = bench.register("id");
            int buckets = bench.log.bucketCount();
            int count = 0;
            while (bench.log.bucketCount() == buckets) {
                for (int i = 0; i < 100; i++) {
                    ingest(bench, "{\"id\":" + count++ + ",\"x\":\"" + "y".repeat(100) + "\"}");
                }
                bench.log.awaitDurable();
                bench.log.truncate(bench.log.log().tail() - 40_000);
                assertThat(count).as("records without growth").isLessThan(20_000);
            }
            int kept = scanCount(bench);
            assertThat(kept).isBetween(100, count);
            for (int i = 0; i < count; i++) {
                assertThat(bench.find(Property.ofInteger(id, i)))
                        .as("id %d of %d, %d kept", i, count, kept)
                        .hasSize(i < count - kept ? 0 : 1);
            }
        }
    }

    @Test
    void bug_9_the_callers_bytes_are_free_again_when_ingest_returns() {
        try (LogBench bench = memory()) {
            int id = bench.register("id");
            String line = "{\"id\":5,\"a\":\"b\"}";
            try (IngestSession session = bench.log.openSession("s")) {
                try (Arena arena = Arena.ofConfined()) {
                    MemorySegment copy = arena.allocate(line.length());
                    copy.copyFrom(LogBench.segment(line));
                    session.ingest(copy, 0, copy.byteSize());
                    copy.fill((byte) 'z');
                }
            }
            assertThat(bench.find(Property.ofInteger(id, 5))).containsExactly(line);
        }
    }

    @Test
    void bug_10_values_of_functions_are_copied_and_all_memory_comes_back() {
        byte[] reused = new byte[8];
        PsfFunction initial = (values, fields, result) -> {
            reused[0] = values.bytes(fields[0])[values.offset(fields[0])];
            result.text(reused, 0, 1);
        };
        HashLogOptions options =
                LogBench.options().withFunctions(new PsfFunctions(Map.of("initial", initial)));
        LogBench bench = LogBench.simulated(SEED, null, options);
        try (bench) {
            int psf = bench.log
                    .register("i", PsfDefinition.parse("function(initial, v)"))
                    .id();
            ingest(bench, "{\"v\":\"apple\"}\n{\"v\":\"banana\"}\n{\"v\":\"avocado\"}");
            reused[0] = 'z';
            assertThat(bench.find(Property.ofText(psf, "a")))
                    .containsExactly("{\"v\":\"avocado\"}", "{\"v\":\"apple\"}");
            assertThat(bench.find(Property.ofText(psf, "z"))).isEmpty();
            assertThat(bench.budget.bytesUsed()).isPositive();
        }
        assertThat(bench.budget.bytesUsed()).isZero();
    }

    @Test
    void a_source_that_fails_in_the_middle_leaves_no_hole() {
        try (LogBench bench = memory()) {
            try (IngestSession session = bench.log.openSession("s")) {
                session.append(LogBench.segment("one"), 0, 3);
                Arena arena = Arena.ofConfined();
                MemorySegment closed = arena.allocate(100);
                arena.close();
                assertThatThrownBy(() -> session.append(closed, 0, 100))
                        .isInstanceOf(IllegalStateException.class);
                session.append(LogBench.segment("two"), 0, 3);
            }
            assertThat(bench.log.log().safeTail()).isEqualTo(bench.log.log().tail());
            assertThat(scanCount(bench)).isEqualTo(2);
        }
    }

    @Test
    void bug_11_start_is_inclusive_in_memory_and_on_disk() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options())) {
            int id = bench.register("id");
            String line = "{\"id\":1,\"x\":\"" + "y".repeat(500) + "\"}";
            for (int i = 0; i < 400; i++) {
                ingest(bench, line);
            }
            try (LogReader reader = bench.log.openReader("r")) {
                reader.protect();
                List<Long> addresses = new ArrayList<>();
                LogScan scan = new LogScan(reader);
                scan.start(bench.log.log().begin(), Long.MAX_VALUE);
                while (scan.next()) {
                    if (RecordHeader.kind(scan.header()) == RecordHeader.RECORD) {
                        addresses.add(scan.address());
                    }
                }
                var walk = bench.log.walk(reader, Property.ofInteger(id, 1));
                for (int i : new int[] {10, 200, 390}) {
                    int count = 0;
                    walk.start(addresses.get(i));
                    while (walk.next()) {
                        count++;
                    }
                    assertThat(count).as("from record %d on", i).isEqualTo(400 - i);
                }
                assertThat(reader.isInMemory(addresses.get(10))).isFalse();
                assertThat(reader.isInMemory(addresses.get(390))).isTrue();
            }
        }
    }

    @Test
    void bug_12_scans_and_walks_go_on_at_every_step_of_a_checkpoint() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options())) {
            int id = bench.register("id");
            for (int i = 0; i < 200; i++) {
                ingest(bench, "{\"id\":" + i % 2 + "}");
            }
            bench.log.awaitDurable();
            List<String> steps = new ArrayList<>();
            disk.onOperation(operation -> {
                steps.add(operation.name());
                assertThat(scanCount(bench)).as("%s", operation).isEqualTo(200);
                assertThat(bench.find(Property.ofInteger(id, 1))).hasSize(100);
            });
            bench.log.checkpoint();
            disk.onOperation(operation -> {});
            assertThat(steps).anyMatch(name -> name.contains(".index")).hasSizeGreaterThan(3);
        }
    }

    @Test
    void bug_13_records_are_deleted_and_the_head_is_cut_to_the_record() {
        try (LogBench bench = LogBench.simulated(SEED, LogBench.disk(SEED), LogBench.options())) {
            bench.register("id");
            ingest(bench, "{\"id\":1}\n{\"id\":1,\"n\":2}\n{\"id\":1,\"n\":3}");
            LogQuery ones = LogQuery.property("id", "1");
            try (LogCursor cursor = bench.log.find(ones)) {
                assertThat(cursor.next()).isTrue();
                assertThat(cursor.next()).isTrue();
                assertThat(cursor.delete()).isTrue();
            }
            assertThat(texts(bench, ones)).containsExactly("{\"id\":1,\"n\":3}", "{\"id\":1}");
            bench.log.awaitDurable();
            try (LogCursor cursor = bench.log.find(ones)) {
                assertThat(cursor.next()).isTrue();
                bench.log.truncate(cursor.address());
            }
            assertThat(texts(bench, ones)).containsExactly("{\"id\":1,\"n\":3}");
        }
    }

    @Test
    void bug_14_a_log_takes_as_many_psfs_as_it_says_and_then_refuses() {
        RegistryState state =
                RegistryState.fresh(1, LogBench.SHAPE, 8, LogBench.options().parser());
        PsfDefinition definition = PsfDefinition.parse("field(a)");
        var psfs = new ArrayList<>(state.registered("p", definition, 1).psfs());
        while (psfs.size() < 1 << 14) {
            psfs.add(psfs.getFirst().ended(0));
        }
        RegistryState full = new RegistryState(1, 0, LogBench.SHAPE, 8, state.parser(), psfs);
        assertThatThrownBy(() -> full.registered("one more", definition, 1))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("16384 PSFs");
        // the header of a record can say more key pointers than there are PSFs but one
        assertThat(RecordHeader.KEY_POINTER_COUNT_MAX).isEqualTo((1 << 14) - 1);
        assertThat(Bytes.I64.byteSize()).isEqualTo(RecordHeader.BYTES);
    }

    @Test
    void a_session_follows_a_change_that_it_slept_through() {
        try (LogBench bench = memory()) {
            try (IngestSession asleep = bench.log.openSession("asleep")) {
                int first = bench.register("id");
                int second = bench.register("type");
                bench.log.deregister(first);
                MemorySegment line = LogBench.segment("{\"id\":1,\"type\":2}");
                asleep.ingest(line, 0, line.byteSize());
                assertThat(bench.find(Property.ofInteger(first, 1))).isEmpty();
                assertThat(bench.find(Property.ofInteger(second, 2))).hasSize(1);
            }
        }
    }
}
