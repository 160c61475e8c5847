package io.turbidite.hashlog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.hashlog.chain.KeyPointer;
import io.turbidite.hashlog.chain.Property;
import io.turbidite.hashlog.log.LogOptions;
import io.turbidite.hashlog.log.LogReader;
import io.turbidite.hashlog.log.RecordHeader;
import io.turbidite.hashlog.psf.PsfDefinition;
import io.turbidite.hashlog.psf.PsfFunction;
import io.turbidite.hashlog.psf.PsfFunctions;
import io.turbidite.hashlog.registry.RegisteredPsf;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** PSFs come and go beside readers and sessions. */
class RegistrationTest {
    private static final long SEED = Seeds.of("RegistrationTest");

    private static void ingest(IngestSession session, int from, int to) {
        StringBuilder text = new StringBuilder();
        for (int i = from; i < to; i++) {
            text.append("{\"id\":%d,\"type\":\"t%d\"}\n".formatted(i, i % 3));
        }
        var batch = LogBench.segment(text.toString());
        session.ingest(batch, 0, batch.byteSize());
    }

    @Test
    @Timeout(value = 30, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void an_open_cursor_of_the_same_thread_does_not_hold_back_a_registration() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (LogBench bench = LogBench.onThreads(disk, LogBench.options());
                IngestSession session = bench.log.openSession("s")) {
            ingest(session, 0, 10);
            try (LogCursor cursor = bench.log.find(LogQuery.all())) {
                assertThat(cursor.next()).isTrue();
                int id = bench.register("type");
                ingest(session, 10, 20);
                assertThat(bench.log.deregister(id).active()).isFalse();
                ingest(session, 20, 30);
                int count = 1;
                while (cursor.next()) {
                    count++;
                }
                assertThat(count).as("the cursor goes on").isEqualTo(10);
                assertThat(bench.find(Property.ofText(id, "t1"))).hasSize(4);
            }
        }
    }

    @Test
    @Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void every_record_from_the_boundary_on_is_indexed_beside_busy_sessions_and_open_cursors() {
        try (LogBench bench = LogBench.onThreads(null, LogBench.options())) {
            AtomicBoolean stop = new AtomicBoolean();
            AtomicInteger next = new AtomicInteger();
            for (int w = 0; w < 2; w++) {
                IngestSession session = bench.log.openSession("s" + w);
                bench.tasks.start("writer-" + w, 1_000_000, () -> {
                    if (stop.get()) {
                        session.close();
                        next.addAndGet(1_000_000);
                        return false;
                    }
                    int from = next.getAndAdd(20);
                    ingest(session, from, from + 20);
                    return true;
                });
            }
            for (int round = 0; round < 40; round++) {
                int id;
                try (LogCursor cursor = bench.log.find(LogQuery.all().limit(1))) {
                    cursor.next();
                    id = bench.register("id");
                }
                long boundary = bench.log.psfs().get(id).intervals().getFirst().from();
                int seen = next.get();
                bench.tasks.await(() -> next.get() > seen + 100);
                long end;
                try (LogCursor cursor = bench.log.find(LogQuery.all().limit(1))) {
                    cursor.next();
                    end = bench.log.deregister(id).intervals().getFirst().to();
                }
                int indexed = 0;
                List<Long> scanned =
                        addresses(bench.log.find(LogQuery.all().between(boundary, end)));
                for (long address : scanned) {
                    indexed += isIndexed(bench.log, address, id) ? 1 : 0;
                }
                assertThat(indexed).as("round %d", round).isEqualTo(scanned.size());
            }
            stop.set(true);
            bench.tasks.await(() -> next.get() > 2_000_000);
        }
    }

    private static List<Long> addresses(LogCursor open) {
        List<Long> found = new ArrayList<>();
        try (LogCursor cursor = open) {
            while (cursor.next()) {
                found.add(cursor.address());
            }
        }
        return found;
    }

    /** Whether the record has a key pointer of the PSF. */
    private static boolean isIndexed(HashLog log, long address, int id) {
        try (LogReader reader = log.openReader("test")) {
            reader.protect();
            if (address < log.log().begin()) {
                return true; // gone from memory meanwhile
            }
            long word = reader.seekRecord(address);
            for (int i = 0; i < RecordHeader.keyPointerCount(word); i++) {
                long at = RecordHeader.BYTES + (long) i * KeyPointer.LINK_BYTES;
                long link = KeyPointer.loadLink(reader.segment(), reader.offset() + at);
                long value = KeyPointer.loadValue(reader.segment(), reader.offset(), word, link);
                if (KeyPointer.psfId(value) == id) {
                    return true;
                }
            }
            return false;
        }
    }

    @Test
    void many_registered_together_cost_as_many_syncs_as_one() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        // no flush of its own in between
        LogOptions calm = LogOptions.of(LogBench.SHAPE).withFlushMicros(Long.MAX_VALUE / 2_000);
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options().withLog(calm))) {
            Map<String, PsfDefinition> many = new LinkedHashMap<>();
            for (int i = 0; i < 400; i++) {
                many.put("p" + i, PsfDefinition.parse("field(f%d)".formatted(i)));
            }
            AtomicInteger syncs = new AtomicInteger();
            disk.onOperation(operation -> {
                if (operation.kind() == OperationKind.SYNC
                        || operation.kind() == OperationKind.SYNC_DIRECTORY) {
                    syncs.incrementAndGet();
                }
            });
            List<RegisteredPsf> registered = bench.log.registerAll(many, 1);
            assertThat(syncs.get()).isBetween(2, 8);
            assertThat(registered).hasSize(400).isEqualTo(bench.log.psfs());
            assertThat(registered.get(7).name()).isEqualTo("p7");
            assertThat(registered).allMatch(psf -> psf.intervals().size() == 1);
            try (IngestSession session = bench.log.openSession("s")) {
                var record = LogBench.segment("{\"f17\":5}\n");
                session.ingest(record, 0, record.byteSize());
            }
            assertThat(bench.find(Property.ofInteger(17, 5))).hasSize(1);
        }
    }

    @Test
    void a_reader_that_stays_leaves_one_action_for_each_segment_that_goes() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options());
                IngestSession session = bench.log.openSession("s")) {
            var record = LogBench.segment("r".repeat(1_000));
            for (int i = 0; i < 400; i++) {
                session.append(record, 0, 1_000);
            }
            session.awaitDurable();
            try (LogReader reader = bench.log.openReader("slow")) {
                reader.protect();
                bench.log.truncate(bench.log.log().durable());
                long until = bench.site.clock().monotonicNanos() + 10_000_000_000L;
                bench.tasks.await(() -> bench.site.clock().monotonicNanos() >= until);
                assertThat(bench.log.log().epochs().waitingCount()).isBetween(1, 20);
            }
            bench.tasks.await(() ->
                    disk.list("log").stream().filter(f -> f.endsWith(".pages")).count() == 1);
        }
    }

    @Test
    void a_function_that_registers_within_ingestion_is_refused_and_not_waited_for() {
        HashLog[] log = new HashLog[1];
        PsfFunction meddler = (values, fields, result) ->
                log[0].register("more", PsfDefinition.parse("field(more)"));
        HashLogOptions options =
                LogBench.options().withFunctions(new PsfFunctions(Map.of("meddler", meddler)));
        try (LogBench bench = LogBench.simulated(SEED, null, options)) {
            log[0] = bench.log;
            bench.log.register("m", PsfDefinition.parse("function(meddler, id)"));
            List<RejectedRecord> refused = new ArrayList<>();
            try (IngestSession session = bench.log.openSession("s", 0, refused::add)) {
                ingest(session, 0, 1);
            }
            assertThat(refused)
                    .singleElement()
                    .satisfies(r -> assertThat(r.reason()).contains("session 's'"));
            assertThat(bench.log.psfs()).hasSize(1);
        }
    }

    @Test
    void of_several_registered_together_all_are_or_none() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options())) {
            bench.register("type");
            Map<String, PsfDefinition> wrong = new LinkedHashMap<>();
            wrong.put("id", PsfDefinition.parse("field(id)"));
            wrong.put("type", PsfDefinition.parse("field(type)"));
            assertThatThrownBy(() -> bench.log.registerAll(wrong, 1))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("'type'");
            assertThat(bench.log.psfs()).hasSize(1);
            assertThat(bench.log.registerAll(Map.of(), 1)).isEmpty();
        }
    }
}
