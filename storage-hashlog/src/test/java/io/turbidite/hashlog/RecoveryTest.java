package io.turbidite.hashlog;

import static io.turbidite.hashlog.RecoveredLog.SEED;
import static io.turbidite.hashlog.RecoveredLog.filled;
import static io.turbidite.hashlog.RecoveredLog.ingest;
import static io.turbidite.hashlog.RecoveredLog.options;
import static io.turbidite.hashlog.RecoveredLog.stateOf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.hashlog.psf.PsfDefinition;
import io.turbidite.hashlog.psf.PsfFunctions;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** Opening a log again: from checkpoints, from damaged ones, from none. */
class RecoveryTest {
    @Test
    void a_damaged_checkpoint_falls_back_to_the_one_before_or_to_none() {
        SimDisk disk = filled();
        LogState whole = stateOf(disk.copy());
        assertThat(whole.numbersOf("s")).hasSize(550);
        for (List<String> damaged : List.of(
                List.of("log/00000002.index"),
                List.of("log/00000001.index"),
                List.of("log/00000001.index", "log/00000002.index"))) {
            SimDisk copy = disk.copy();
            damaged.forEach(name -> copy.flipBit(name, 100, 3));
            assertThat(stateOf(copy)).isEqualTo(whole);
        }
        SimDisk without = disk.copy();
        without.delete("log/00000001.index");
        without.delete("log/00000002.index");
        assertThat(stateOf(without)).isEqualTo(whole);
    }

    @Test
    void a_log_that_ends_before_what_a_checkpoint_says_is_refused_and_not_changed() {
        SimDisk disk = filled();
        LogState whole = stateOf(disk.copy());
        SimDisk later = disk.copy();
        try (LogBench bench = LogBench.reopened(SEED, later, options());
                IngestSession session = bench.log.openSession("s", 550, record -> {})) {
            ingest(session, 500);
            bench.log.checkpoint();
        }
        disk.put("log/00000003.index", later.content("log/00000003.index"));
        assertThatThrownBy(() -> stateOf(disk))
                .isInstanceOf(CorruptionException.class)
                .hasMessageContaining("00000003.index");
        disk.delete("log/00000003.index");
        assertThat(stateOf(disk)).isEqualTo(whole);
    }

    @Test
    void pages_that_an_earlier_life_left_behind_a_torn_one_do_not_come_back() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        List<SimDisk> cuts = new ArrayList<>();
        try (LogBench bench = LogBench.simulated(SEED, disk, options());
                IngestSession session = bench.log.openSession("s")) {
            ingest(session, 10);
            session.awaitDurable();
            ingest(session, 400); // some pages, which go to disk with one sync
            disk.onOperation(step -> {
                if (step.kind() == OperationKind.SYNC && cuts.isEmpty()) {
                    // of what was not synced all came through but a byte of the first page
                    SimDisk torn = disk.copy();
                    torn.flipBit("log/00000000.pages", 4_096 + LogBench.SHAPE.pageBytes() - 900, 1);
                    cuts.add(torn);
                }
            });
            session.awaitDurable();
        }
        assertThat(cuts).hasSize(1);
        for (SimDisk cut : cuts) {
            List<SimDisk> later = new ArrayList<>();
            LogState before;
            try (LogBench bench = LogBench.reopened(SEED, cut, options());
                    IngestSession session = bench.log.openSession("again")) {
                cut.onOperation(step -> {
                    if (step.kind() == OperationKind.WRITE) {
                        later.add(cut.crashImage(step.index()));
                    }
                });
                ingest(session, 120);
                session.awaitDurable();
                before = LogState.of(bench.log);
                cut.onOperation(step -> {});
            }
            for (SimDisk image : later) {
                try (LogBench bench = LogBench.reopened(SEED, image, options())) {
                    LogState state = LogState.of(bench.log);
                    assertThat(state.records()).isEqualTo(before.records().headMap(state.tail()));
                }
            }
        }
    }

    @Test
    void only_the_two_newest_checkpoints_stay() {
        SimDisk disk = filled();
        try (LogBench bench = LogBench.reopened(SEED, disk, options())) {
            bench.log.checkpoint();
            bench.log.checkpoint();
        }
        assertThat(disk.files())
                .filteredOn(name -> name.contains("index"))
                .containsExactly("log/00000003.index", "log/00000004.index");
    }

    @Test
    void checkpoints_come_by_bytes_and_by_closing() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        HashLogOptions options = options().withCheckpoints(64 << 10);
        try (LogBench bench = LogBench.simulated(SEED, disk, options);
                IngestSession session = bench.log.openSession("s")) {
            bench.register("type");
            for (int i = 0; i < 40; i++) {
                ingest(session, 50);
                session.awaitDurable();
                AtomicInteger polls = new AtomicInteger();
                bench.tasks.await(() -> polls.incrementAndGet() > 60);
            }
            assertThat(bench.meters
                            .scope("log", "test")
                            .counter("hashlog.checkpoint.count")
                            .sum())
                    .isGreaterThan(2);
        }
        try (LogBench bench = LogBench.reopened(SEED, disk, options)) {
            assertThat(bench.log.log().tail()).isGreaterThan(400_000);
            LogState.of(bench.log).checkChains(bench.log, "by bytes");
        }
    }

    @Test
    void begin_survives_to_the_record() {
        SimDisk disk = filled();
        long begin;
        List<Long> addresses;
        try (LogBench bench = LogBench.reopened(SEED, disk, options())) {
            addresses = List.copyOf(LogState.of(bench.log).records().keySet());
            begin = addresses.get(101);
            bench.log.truncate(begin + 5); // within a record, which stays
            assertThat(bench.log.log().begin()).isEqualTo(begin);
        }
        try (LogBench bench = LogBench.reopened(SEED, disk, options())) {
            assertThat(bench.log.log().begin()).isEqualTo(begin);
            assertThat(LogState.of(bench.log).records().keySet())
                    .containsExactlyElementsOf(addresses.subList(101, addresses.size()));
        }
    }

    @Test
    void functions_are_handed_in_again_or_missed_by_name() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        PsfFunctions functions = new PsfFunctions(
                Map.of("first", (values, fields, result) -> result.field(fields[0])));
        try (LogBench bench = LogBench.simulated(SEED, disk, options().withFunctions(functions));
                IngestSession session = bench.log.openSession("s")) {
            bench.log.register("f", PsfDefinition.parse("function(first, type, n)"));
            ingest(session, 30);
        }
        assertThatThrownBy(() -> LogBench.reopened(SEED, disk, options()))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("'first'")
                .hasMessageContaining("hand it in when opening the log");
        try (LogBench bench = LogBench.reopened(SEED, disk, options().withFunctions(functions));
                LogCursor cursor = bench.log.find(LogQuery.property("f", "t1"))) {
            int count = 0;
            while (cursor.next()) {
                count++;
            }
            assertThat(count).isEqualTo(10);
        }
    }
}
