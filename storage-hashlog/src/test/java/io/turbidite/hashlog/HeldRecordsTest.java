package io.turbidite.hashlog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.task.Tasks;
import io.turbidite.hashlog.psf.PsfDefinition;

import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Records of a batch are evaluated some at a time before they are written: nobody can tell. */
class HeldRecordsTest {
    private static final long SEED = Seeds.of("HeldRecordsTest");

    private static String events(String session, int from, int to) {
        return IntStream.range(from, to)
                .mapToObj(n -> LogState.event(session, n))
                .collect(Collectors.joining("\n"));
    }

    private static void ingest(IngestSession session, String lines) {
        MemorySegment batch = LogBench.segment(lines);
        assertThat(session.ingest(batch, 0, batch.byteSize())).isNotNegative();
    }

    /** Records that were evaluated before the session waited for a page are evaluated again. */
    @Test
    void a_psf_that_is_registered_while_a_session_waits_has_all_records_from_its_boundary_on() {
        int registered = 0;
        for (int seed = 0; seed < 20; seed++) {
            SimDisk disk = new SimDisk(SEED + seed, Profile.STRICT);
            try (LogBench bench = LogBench.simulated(SEED + seed, disk, LogBench.options());
                    IngestSession session = bench.log.openSession("s")) {
                AtomicReference<String> wanted = new AtomicReference<>("");
                Tasks.Worker registrar = bench.tasks.start("registrar", 300, () -> {
                    String name = wanted.getAndSet("");
                    if (!name.isEmpty()) {
                        bench.log.register(name, PsfDefinition.parse("field(type)"));
                    }
                    return false;
                });
                for (int i = 0; i < 4; i++) {
                    wanted.set("type " + i);
                    ingest(session, events("s", i * 1_000, i * 1_000 + 1_000));
                    bench.run(10_000);
                }
                registrar.close();
                LogState state = LogState.of(bench.log);
                registered += state.psfs().size();
                state.checkChains(bench.log, "seed " + seed);
            }
        }
        assertThat(registered).isGreaterThan(40);
    }

    /**
     * It is told behind all records before it, which are in the log by then, and not later ones.
     */
    @Test
    void a_refused_record_is_told_in_its_place() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options())) {
            bench.register("type");
            List<Long> serials = new ArrayList<>();
            AtomicReference<IngestSession> open = new AtomicReference<>();
            try (IngestSession session = bench.log.openSession("s", 0, record -> {
                IngestSession own = open.get();
                serials.add(record.serial());
                assertThat(own.serial()).isEqualTo(record.serial());
                assertThat(own.acceptedCount()).isEqualTo(record.serial() - serials.size());
                assertThat(LogState.of(bench.log).records()).hasSize((int) own.acceptedCount());
            })) {
                open.set(session);
                String tooLong = "{\"w\":\"s\",\"x\":\"" + "x".repeat(20_000) + "\"}";
                ingest(
                        session,
                        String.join(
                                "\n",
                                events("s", 0, 3),
                                "{\"type\":x}",
                                events("s", 3, 14),
                                tooLong,
                                events("s", 14, 16),
                                "[]",
                                "[]"));
            }
            assertThat(serials).containsExactly(4L, 16L, 19L, 20L);
            LogState state = LogState.of(bench.log);
            assertThat(state.numbersOf("s"))
                    .isEqualTo(IntStream.range(0, 16).boxed().toList());
            state.checkChains(bench.log, "refused");
        }
    }

    /** While others that were evaluated wait to be written behind the refused one. */
    @Test
    void a_listener_may_hand_in_records_itself() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options())) {
            bench.register("type");
            AtomicReference<IngestSession> open = new AtomicReference<>();
            try (IngestSession session = bench.log.openSession(
                    "s", 0, record -> ingest(open.get(), events("other", 0, 20)))) {
                open.set(session);
                String tooLong = "{\"w\":\"s\",\"x\":\"" + "x".repeat(20_000) + "\"}";
                ingest(
                        session,
                        String.join(
                                "\n",
                                events("s", 0, 2),
                                tooLong,
                                events("s", 2, 7),
                                "{\"type\":x}",
                                events("s", 7, 9)));
                assertThat(session.serial()).isEqualTo(11 + 40);
            }
            LogState state = LogState.of(bench.log);
            assertThat(state.numbersOf("s"))
                    .isEqualTo(IntStream.range(0, 9).boxed().toList());
            assertThat(state.numbersOf("other")).hasSize(40);
            state.checkChains(bench.log, "nested");
        }
    }

    /** What was evaluated of a batch that ends with an error is not taken for taken. */
    @Test
    void a_batch_that_goes_away_leaves_nothing_for_the_next_one() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options());
                IngestSession session = bench.log.openSession("s")) {
            bench.register("type");
            byte[] lines = events("s", 0, 3).getBytes(StandardCharsets.UTF_8);
            Arena arena = Arena.ofConfined();
            MemorySegment batch = arena.allocate(lines.length);
            MemorySegment.copy(lines, 0, batch, ValueLayout.JAVA_BYTE, 0, lines.length);
            arena.close();
            assertThatThrownBy(() -> session.ingest(batch, 0, lines.length))
                    .isInstanceOf(IllegalStateException.class);
            assertThat(session.serial()).isEqualTo(session.acceptedCount()).isZero();
            ingest(session, events("s", 0, 3));
            assertThat(session.serial()).isEqualTo(3);
            assertThat(LogState.of(bench.log).numbersOf("s")).containsExactly(0, 1, 2);
        }
    }

    /**
     * A full disk stops a batch at the end of a page, while records that were evaluated wait behind
     * the one that has no place. The serial says which were taken: who goes on there has each
     * record once, in its order, in the log and in the chains.
     */
    @Test
    void a_batch_that_ends_at_a_full_page_goes_on_where_the_serial_says() {
        int count = 2_000;
        Set<Integer> placesInEight = new HashSet<>();
        for (int seed = 0; seed < 12; seed++) {
            SimDisk disk = new SimDisk(SEED + seed, Profile.STRICT);
            try (LogBench bench = LogBench.simulated(SEED + seed, disk, LogBench.options())) {
                bench.register("type");
                disk.capacity(90_000 + seed * 17_000L);
                try (IngestSession session = bench.log.openSession("s")) {
                    assertThatThrownBy(() -> ingest(session, events("s", 0, count)))
                            .isInstanceOf(StorageIoException.class)
                            .hasMessageContaining("the disk is full");
                    int taken = (int) session.serial();
                    assertThat(session.acceptedCount()).isEqualTo(taken);
                    assertThat(LogState.of(bench.log).numbersOf("s"))
                            .isEqualTo(IntStream.range(0, taken).boxed().toList());
                    placesInEight.add(taken % HeldRecords.COUNT_MAX);
                    disk.capacity(Long.MAX_VALUE);
                    ingest(session, events("s", taken, count));
                    session.awaitDurable();
                    assertThat(session.durableSerial()).isEqualTo(count);
                }
                checkWhole(bench, count, "seed " + seed);
            }
            try (LogBench bench = LogBench.reopened(SEED, disk, LogBench.options())) {
                checkWhole(bench, count, "reopened, seed " + seed);
            }
        }
        assertThat(placesInEight).hasSizeGreaterThan(3);
    }

    private static void checkWhole(LogBench bench, int count, String what) {
        LogState state = LogState.of(bench.log);
        assertThat(state.numbersOf("s"))
                .as(what)
                .isEqualTo(IntStream.range(0, count).boxed().toList());
        state.checkChains(bench.log, what);
    }

    /** Every record of eight has the key of the one before: a chain has them all, newest first. */
    @Test
    void records_of_one_key_that_are_held_together_are_chained_in_their_order() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options())) {
            bench.register("type");
            try (IngestSession session = bench.log.openSession("s")) {
                for (int from = 0, size = 1; size <= 40; from += size, size++) {
                    ingest(
                            session,
                            IntStream.range(from, from + size)
                                    .mapToObj(n -> LogState.event("s", n * LogState.TYPE_COUNT))
                                    .collect(Collectors.joining("\n")));
                }
            }
            LogState state = LogState.of(bench.log);
            assertThat(state.numbersOf("s"))
                    .isEqualTo(IntStream.range(0, 820)
                            .map(n -> n * LogState.TYPE_COUNT)
                            .boxed()
                            .toList());
            state.checkChains(bench.log, "one key");
        }
    }
}
